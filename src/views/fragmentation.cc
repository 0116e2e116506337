#include "views/fragmentation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "core/books.h"

namespace fairlead {
namespace {

constexpr size_t kShapesMax = 200;  // chosen: a site has far fewer; the commonest are taken

struct Mix {
  std::map<Shape, int64_t> waiting;
  std::map<Shape, int64_t> all;  // one worker's shape, waiting and running
};

Shape of_one_worker(Shape shape) {
  shape.nodes = 1;
  shape.total = shape.per_node > 0 ? shape.per_node : 1;
  shape.per_node = shape.total;
  shape.switches = 0;
  return shape;
}

Mix mix_of(const State& state) {
  Mix mix{.waiting = state.queues.waiting_shapes(), .all = {}};
  for (const auto& [shape, count] : mix.waiting)
    mix.all[of_one_worker(shape)] += count * shape.nodes;
  for (const WorkloadId id : state.queues.holding()) {
    const Shape shape = shape_of(state.workloads.at(id).job);
    if (shape.total > 0) mix.all[of_one_worker(shape)] += shape.nodes;
  }
  return mix;
}

std::vector<std::pair<Shape, int64_t>> commonest(const std::map<Shape, int64_t>& counts) {
  std::vector<std::pair<Shape, int64_t>> list(counts.begin(), counts.end());
  std::ranges::sort(list, {}, [](const auto& item) { return std::pair(-item.second, item.first); });
  if (list.size() > kShapesMax) list.resize(kShapesMax);
  return list;
}

void add_part(std::string& text, const std::string& part) {
  text += (text.empty() ? "" : ", ") + part;
}

// What a shape asks beyond devices and sizes.
std::string constraint_of(const Shape& s) {
  std::string text;
  if (!s.features.empty()) add_part(text, "features " + s.features);
  if (!s.nodes_required.empty()) add_part(text, "nodes " + s.nodes_required);
  if (!s.nodes_excluded.empty()) add_part(text, "not on " + s.nodes_excluded);
  if (s.switches > 0) add_part(text, plural(s.switches, "switch"));
  if (s.exclusive) add_part(text, "whole nodes");
  return text;
}

std::string sizes_of(const Shape& s) {
  return fmt::format("{} and {} MiB a node", plural(s.cpus_per_node, "CPU"), s.memory_per_node_mb);
}

// Rows that would read alike tell their sizes, too.
void tell_apart(std::vector<ShapeRow>& rows, const std::vector<std::string>& sizes) {
  const auto reads = [](const ShapeRow& r) { return std::tie(r.gang, r.partition, r.constraint); };
  std::vector<size_t> alike;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto same =
        std::ranges::count_if(rows, [&](const ShapeRow& r) { return reads(r) == reads(rows[i]); });
    if (same > 1) alike.push_back(i);
  }
  for (const size_t i : alike) add_part(rows[i].constraint, sizes[i]);
}

class Fitter {
 public:
  explicit Fitter(const State& state) : state_(state), rooms_(rooms_of(state)) {}
  Fit fit(const Shape& shape) {
    const auto [it, added] = members_.try_emplace(shape.partition);
    if (added) it->second = members_of(state_, shape.partition);
    return fairlead::fit(shape, state_.fleet, rooms_, it->second);
  }
  const std::vector<NodeRoom>& rooms() const { return rooms_; }

 private:
  const State& state_;
  std::vector<NodeRoom> rooms_;
  std::map<std::string, std::vector<bool>> members_;
};

int64_t fgd_ppm_of(const State& state, Fitter& fitter,
                   const std::vector<std::pair<Shape, int64_t>>& mix, int64_t free) {
  int64_t count = 0;
  for (const auto& [shape, n] : mix) count += n;
  if (free == 0 || count == 0) return -1;
  long double fragment = 0;
  for (const auto& [shape, n] : mix) {
    const Fit found = fitter.fit(shape);
    int64_t usable = 0;
    for (const NodeIndex node : found.takes) usable += state.node_free[node];
    fragment += static_cast<long double>(n) * static_cast<long double>(free - usable);
  }
  return static_cast<int64_t>(fragment * 1'000'000 / static_cast<long double>(count) /
                              static_cast<long double>(free));
}

}  // namespace

Fragmentation fragmentation_of(const State& state) {
  Fragmentation f;
  int64_t open = 0;  // free devices of nodes in service
  for (DeviceIndex i = 0; i < state.devices.size(); ++i) {
    if (!state.fleet.device(i).present) continue;
    if (state.devices[i].account.column == Column::free) ++f.free_gpus;
    if (state.devices[i].account.column == Column::stranded) ++f.stranded_gpus;
  }
  open = f.free_gpus + f.stranded_gpus;
  const Mix mix = mix_of(state);
  Fitter fitter(state);
  f.fgd_ppm = fgd_ppm_of(state, fitter, commonest(mix.all), open);
  std::vector<std::string> sizes;
  for (const auto& [shape, count] : commonest(mix.waiting)) {
    sizes.push_back(sizes_of(shape));
    const Fit found = fitter.fit(shape);
    const int32_t need = shape.per_node > 0 ? shape.nodes : shape.total;
    const int64_t fits =
        found.fits_switches && need > 0 ? std::min<int64_t>(count, found.slots / need) : 0;
    f.waiting_shapes.push_back({.gang = to_text(shape),
                                .partition = shape.partition,
                                .constraint = constraint_of(shape),
                                .count = count,
                                .fits = fits,
                                .enough = found.devices_free >= shape.total});
  }
  tell_apart(f.waiting_shapes, sizes);
  return f;
}

}  // namespace fairlead
