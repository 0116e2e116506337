#include "fabric/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/hostlist.h"

namespace fairlead {

namespace {

// An amount that makes no sense (below zero) is not stated.
int32_t amount(int64_t stated) {
  return static_cast<int32_t>(std::clamp<int64_t>(stated, 0, std::numeric_limits<int32_t>::max()));
}

int64_t memory(int64_t stated) {
  constexpr int64_t kMemoryMax = int64_t{1} << 40;  // MiB: more than any node has
  return std::clamp<int64_t>(stated, 0, kMemoryMax);
}

}  // namespace

Shape shape_of(const Job& job) {
  const JobRequest& r = job.request;
  Shape shape{.partition = job.partition,
              .model = r.devices.model,
              .per_node = amount(r.devices.per_node),
              .total = amount(r.devices.total),
              .nodes = std::max(1, r.nodes_min),
              .cpus_per_node = amount(r.cpus_per_node),
              .memory_per_node_mb = memory(r.memory_per_node_mb),
              .features = r.features,
              .nodes_required = r.nodes_required,
              .nodes_excluded = r.nodes_excluded,
              .switches = amount(r.switches),
              .exclusive = r.exclusive};
  if (r.memory_per_cpu_mb > 0) {
    constexpr int64_t kCpusMax = int64_t{1} << 20;
    shape.memory_per_node_mb =
        memory(memory(r.memory_per_cpu_mb) * std::clamp<int64_t>(r.cpus_per_node, 1, kCpusMax));
  }
  if (shape.per_node > 0 && shape.total == 0)
    shape.total = amount(int64_t{shape.per_node} * shape.nodes);
  return shape;
}

std::string to_text(const Shape& shape) {
  const std::string model = shape.model.empty() ? "" : " " + shape.model;
  if (shape.total == 0)
    return fmt::format("{} node{}, no devices", shape.nodes, shape.nodes == 1 ? "" : "s");
  if (shape.per_node > 0) return fmt::format("{}x{}{}", shape.nodes, shape.per_node, model);
  return fmt::format("{}{}", shape.total, model);
}

namespace {

class FeatureParser {
 public:
  FeatureParser(std::string_view text, const std::vector<std::string>& features)
      : text_(text), features_(features) {}

  bool expression(int depth = 0) {
    bool value = term(depth);
    while (!text_.empty() && (text_.front() == '&' || text_.front() == '|')) {
      const char op = text_.front();
      text_.remove_prefix(1);
      const bool right = term(depth);
      value = op == '&' ? value && right : value || right;
    }
    return value;
  }

 private:
  bool term(int depth) {
    constexpr int kDepthMax = 32;
    if (!text_.empty() && (text_.front() == '(' || text_.front() == '[') && depth < kDepthMax) {
      text_.remove_prefix(1);
      const bool value = expression(depth + 1);
      if (!text_.empty()) text_.remove_prefix(1);  // the closing bracket
      skip_count();
      return value;
    }
    const size_t end = std::min(text_.find_first_of("&|()[]*"), text_.size());
    const std::string_view name = text_.substr(0, end);
    text_.remove_prefix(end);
    skip_count();
    return std::ranges::find(features_, name) != features_.end();
  }
  void skip_count() {
    if (text_.empty() || text_.front() != '*') return;
    text_.remove_prefix(std::min(text_.find_first_of("&|)]"), text_.size()));
  }

  std::string_view text_;
  const std::vector<std::string>& features_;
};

int32_t matching_devices(const Shape& shape, const FleetNode& node) {
  int32_t count = 0;
  for (const DeviceGroup& group : node.facts.devices) {
    if (shape.model.empty() || group.model == shape.model) count += group.count;
  }
  return count;
}

// The least that one worker's node must have.
int32_t least_per_node(const Shape& shape) {
  return shape.per_node > 0 ? shape.per_node : std::min(shape.total, 1);
}

// Nodes named in a hostlist, by index; empty where the text names none.
std::vector<bool> named(const std::string& hostlist, const Fleet& fleet) {
  if (hostlist.empty()) return {};
  std::vector<bool> set(fleet.nodes().size(), false);
  const auto names = expand_hostlist(hostlist);
  if (!names) return set;
  for (const std::string& name : *names) {
    if (const auto index = fleet.find(name)) set[*index] = true;
  }
  return set;
}

int32_t workers_on(const Shape& shape, const NodeRoom& room) {
  if (shape.cpus_per_node > room.cpus_free || shape.memory_per_node_mb > room.memory_free_mb)
    return 0;
  if (shape.per_node == 0) return shape.total == 0 ? 1 : room.devices_free;  // counted in devices
  return room.devices_free >= shape.per_node ? 1 : 0;  // one worker takes one node
}

// The most workers that lie below one leaf, and below the best `switches` leaves together.
int32_t workers_below(const Shape& shape, const Fleet& fleet, const std::vector<int32_t>& workers) {
  std::vector<int32_t> by_leaf;
  for (const Switch& leaf : fleet.switches()) {
    if (leaf.level != 0) continue;
    int32_t sum = 0;
    for (const std::string& name : leaf.nodes) {
      if (const auto index = fleet.find(name)) sum += workers[*index];
    }
    by_leaf.push_back(sum);
  }
  std::ranges::sort(by_leaf, std::greater<>());
  int32_t most = 0;
  for (size_t i = 0; i < by_leaf.size() && i < static_cast<size_t>(shape.switches); ++i)
    most += by_leaf[i];
  return most;
}

}  // namespace

bool features_match(std::string_view expression, const std::vector<std::string>& features) {
  return expression.empty() || FeatureParser(expression, features).expression();
}

Fit fit(const Shape& shape, const Fleet& fleet, const std::vector<NodeRoom>& rooms,
        const std::vector<bool>& members) {
  Fit result;
  const std::vector<bool> required = named(shape.nodes_required, fleet);
  const std::vector<bool> excluded = named(shape.nodes_excluded, fleet);
  std::vector<int32_t> workers(fleet.nodes().size(), 0);
  for (const NodeRoom& room : rooms) {
    const FleetNode& node = fleet.node(room.node);
    if (!node.present || !members[room.node]) continue;
    if (!excluded.empty() && excluded[room.node]) continue;
    if (!required.empty() && !required[room.node] &&
        shape.nodes <= std::ranges::count(required, true))
      continue;
    if (matching_devices(shape, node) < least_per_node(shape)) continue;
    if (shape.cpus_per_node > node.facts.cpus || shape.memory_per_node_mb > node.facts.memory_mb)
      continue;
    if (!features_match(shape.features, node.facts.features)) continue;
    result.could.push_back(room.node);
    if (!room.in_service) continue;
    result.serves.push_back(room.node);
    if (room.reserved) continue;
    result.devices_free += room.devices_free;
    workers[room.node] = workers_on(shape, room);
    if (workers[room.node] == 0) continue;
    result.takes.push_back(room.node);
    result.slots += workers[room.node];
  }
  const int32_t need = shape.per_node > 0 || shape.total == 0 ? shape.nodes : shape.total;
  result.fits_now = result.slots >= need && result.takes.size() >= static_cast<size_t>(shape.nodes);
  result.fits_switches = result.fits_now && (shape.switches == 0 || fleet.switches().empty() ||
                                             workers_below(shape, fleet, workers) >= need);
  return result;
}

}  // namespace fairlead
