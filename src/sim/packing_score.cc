#include "sim/packing_score.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "base/check.h"

namespace fairlead {
namespace {

constexpr int32_t kDevice = 1000;
constexpr double kCpuMost = 128'000;  // the authors' largest node
constexpr double kGpuMost = 8'000;

PackScore dot_product(const PackRoom& room, const PackShape& shape) {
  const double cpu = room.cpu_milli / kCpuMost * (shape.cpu_milli / kCpuMost);
  const double gpu = room.idle_milli() / kGpuMost * (shape.devices * shape.milli / kGpuMost);
  const double score = 1 - (cpu + gpu) / 2;
  return {.score = static_cast<int32_t>(100.0 * score), .device = room.device_for(shape)};
}

PackScore gpu_clustering(const PackRoom& room, const PackShape& shape) {
  if (shape.devices == 0) return {};
  const size_t kind = shape.shared() ? 0 : static_cast<size_t>(shape.devices);
  const auto kinds = std::ranges::count_if(room.of, [](int32_t pods) { return pods > 0; });
  const int32_t base = room.of[kind] > 0 ? (kinds == 1 ? 75 : 50) : (kinds == 0 ? 25 : 0);
  return {.score = 25 * (8 * kDevice - room.idle_milli()) / (8 * kDevice) + base,
          .device = room.device_for(shape)};
}

// From high to low: devices that are shared already, free ones of a node in use, of a free node.
PackScore gpu_packing(const PackRoom& room, const PackShape& shape) {
  if (shape.devices == 0) return {};
  PackScore result{.device = room.device_for(shape)};
  const int32_t whole = room.whole();
  if (whole == room.devices) {
    result.score = std::max(33 - whole, whole);
    return result;
  }
  if (!shape.shared()) {
    result.score = std::max(50 - shape.devices, 33);
    return result;
  }
  const int32_t left = room.left[static_cast<size_t>(result.device)];
  result.score = left == kDevice ? 49 : std::max(100 - left * 100 / kDevice / 10, 50);
  return result;
}

PackScore best_fit(const PackRoom& room, const PackShape& shape) {
  double score = (room.cpu_milli - shape.cpu_milli) / kCpuMost * 0.5;
  score += (room.idle_milli() - shape.devices * shape.milli) / kGpuMost * 0.5;
  return {.score = static_cast<int32_t>((1.0 - score) * 100.0), .device = room.device_for(shape)};
}

PackScore fgd(const PackRule& rule, const PackRoom& room, const PackShape& shape, double before,
              std::span<const TypicalShape> typical) {
  const double full = room.devices == 0 ? 0 : 1 - room.idle_milli() / (1000.0 * room.devices);
  PackScore best;
  const auto try_device = [&](int32_t device) {
    PackRoom after = room;
    after.take(shape, device);
    double gain = before - fragmentation(after, typical);
    if (rule.fullness_milli != 0) gain += rule.fullness_milli * full;
    const auto score = static_cast<int32_t>(1.0 / (1.0 + std::exp(-gain / 1000)) * rule.steps);
    if (best.device < 0 || score > best.score) best = {.score = score, .device = device};
  };
  if (!shape.shared()) {
    try_device(0);
    return best;
  }
  for (int32_t d = 0; d < room.devices; ++d) {
    const std::span<const int32_t> lefts = room.lefts();
    const int32_t left = lefts[static_cast<size_t>(d)];
    if (left < shape.milli) continue;
    const auto same = std::ranges::find(lefts, left);  // scores the same, and comes first
    if (same - lefts.begin() == d) try_device(d);
  }
  return best;
}

}  // namespace

int32_t PackRoom::idle_milli() const {
  return std::accumulate(left.begin(), left.begin() + devices, 0);
}

int32_t PackRoom::whole() const {
  return static_cast<int32_t>(std::ranges::count(lefts(), kDevice));
}

bool PackRoom::fits(const PackShape& shape) const {
  if (cpu_milli < shape.cpu_milli || !shape.accepts(model)) return false;
  if (shape.devices == 0) return true;
  const auto enough = [&](int32_t l) { return l >= shape.milli; };
  return std::ranges::count_if(lefts(), enough) >= shape.devices;
}

int32_t PackRoom::device_for(const PackShape& shape) const {
  if (!shape.shared()) return -1;
  int32_t best = -1;
  for (int32_t d = 0; d < devices; ++d) {
    const int32_t l = left[static_cast<size_t>(d)];
    if (l >= shape.milli && (best < 0 || l < left[static_cast<size_t>(best)])) best = d;
  }
  return best;
}

void PackRoom::take(const PackShape& shape, int32_t device) {
  cpu_milli -= shape.cpu_milli;
  if (shape.devices == 0) return;
  ++of[shape.shared() ? 0 : static_cast<size_t>(shape.devices)];
  if (shape.shared()) {
    left[static_cast<size_t>(device)] -= shape.milli;
    return;
  }
  int32_t rest = shape.devices;
  for (int32_t& l : left) {
    if (rest == 0) break;
    if (l == kDevice) l = 0, --rest;
  }
}

std::vector<TypicalShape> typical_shapes(const PackTrace& trace,
                                         std::span<const PackShape> shapes) {
  // Most frequent first; of equally frequent ones the larger, in this order of fields.
  using Key = std::tuple<int32_t, int32_t, int32_t, std::string>;
  std::map<Key, std::pair<double, PackShape>> counts;
  for (size_t i = 0; i < trace.pods.size(); ++i) {
    const PackPod& pod = trace.pods[i];
    auto& [count, shape] = counts[{pod.cpu_milli, pod.milli, pod.devices, pod.models}];
    count += 1;
    shape = shapes[i];
  }
  std::vector<std::pair<double, Key>> order;
  for (const auto& [key, counted] : counts) order.emplace_back(counted.first, key);
  std::ranges::sort(order, std::greater<>());

  const auto total = static_cast<double>(trace.pods.size());
  const double enough = 95.0 * total / 100.0;
  std::vector<TypicalShape> typical;
  double covered = 0;
  for (const auto& [count, key] : order) {
    if (covered >= enough) break;
    covered += count;
    typical.push_back({.shape = counts.at(key).second, .share = count / total});
  }
  if (typical.size() < order.size()) {
    for (TypicalShape& t : typical) t.share /= covered / total;
  }
  return typical;
}

// Six sums, one for each reason, added up in this order: floating point has no other equal.
double fragmentation(const PackRoom& room, std::span<const TypicalShape> typical) {
  enum : uint8_t { kNoRoom, kNoDevices, kNoCpu, kCpuOnlyFits, kCpuOnly, kWrongModel, kReasons };
  std::array<double, kReasons> lost{};
  const int32_t idle = room.idle_milli();
  const auto lose = [&](uint8_t reason, double share, int32_t milli) {
    const double weighted = share * milli;  // a statement of its own: never fused with the sum
    lost[reason] += weighted;
  };
  for (const TypicalShape& t : typical) {
    const PackShape& s = t.shape;
    const bool cpu = room.cpu_milli >= s.cpu_milli;
    if (s.milli == 0) {
      lose(cpu ? kCpuOnlyFits : kCpuOnly, t.share, idle);
      continue;
    }
    if (!s.accepts(room.model)) {
      lose(kWrongModel, t.share, idle);
      continue;
    }
    int32_t enough = 0, small = 0;
    for (const int32_t l : room.lefts()) {
      if (l >= s.milli)
        ++enough;
      else
        small += l;
    }
    if (enough >= s.devices)
      lose(cpu ? kNoDevices : kNoCpu, t.share, cpu ? small : idle);
    else
      lose(cpu ? kNoDevices : kNoRoom, t.share, idle);
  }
  double sum = 0;
  for (const double l : lost) sum += l;
  return sum;
}

PackScore score_of(const PackRule& rule, const PackRoom& room, const PackShape& shape,
                   double fragmented, std::span<const TypicalShape> typical) {
  switch (rule.policy) {
    case PackPolicy::dot_product:
      return dot_product(room, shape);
    case PackPolicy::gpu_clustering:
      return gpu_clustering(room, shape);
    case PackPolicy::gpu_packing:
      return gpu_packing(room, shape);
    case PackPolicy::best_fit:
      return best_fit(room, shape);
    case PackPolicy::fgd:
      return fgd(rule, room, shape, fragmented, typical);
    case PackPolicy::random:
    case PackPolicy::tightest:
      break;
  }
  CHECK(false && "the policy does not score");
  return {};
}

}  // namespace fairlead
