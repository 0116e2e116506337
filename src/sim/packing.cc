#include "sim/packing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/rng.h"
#include "fabric/capacity_index.h"
#include "sim/packing_score.h"

namespace fairlead {
namespace {

constexpr uint8_t kNotDivided = UINT8_MAX;

struct SiteNode {
  PackRoom room;  // which device has how much left: the index counts whole ones only
  size_t klass = 0;
  Position at = 0;
  std::array<uint8_t, kPackDevicesMax> number{};  // of a divided device, in the index
  double fragmented = 0;
  uint32_t version = 1;  // of what is left
};

// Where a pod goes.
struct Choice {
  size_t node = 0;
  int32_t device = -1;  // of a share
};

class Packing {
 public:
  Packing(const PackTrace& trace, const Arrivals& arrivals, const PackRule& rule, uint64_t seed)
      : trace_(trace), arrivals_(arrivals), rule_(rule), rng_(seed) {
    name_shapes();
    build_classes();
    typical_ = typical_shapes(trace, shape_of_pod_);
    by_rank_.resize(nodes_.size());
    for (size_t n = 0; n < nodes_.size(); ++n) {
      by_rank_[static_cast<size_t>(arrivals.rank[n])] = n;
      refresh(nodes_[n]);
    }
  }

  PackResult run() {
    for (const int32_t p : arrivals_.pods) {
      const auto pod = static_cast<size_t>(p);
      const std::optional<Choice> choice = rule_.policy == PackPolicy::random     ? any(pod)
                                           : rule_.policy == PackPolicy::tightest ? tightest(pod)
                                                                                  : best(pod);
      if (choice)
        take(pod, *choice);
      else
        ++result_.lost;
      arrived_ += trace_.pods[pod].milli_all();
      ++result_.arrived;
      record();
    }
    for (size_t c = 0; c < events_.size(); ++c) {
      if (events_[c] == 0) continue;
      result_.allocated[c] /= static_cast<double>(events_[c]);
      result_.fragmented[c] /= static_cast<double>(events_[c]);
    }
    return result_;
  }

 private:
  void name_shapes() {
    std::map<std::string, uint32_t> models;
    for (const PackNode& node : trace_.nodes) models.emplace(node.model, 0);
    for (auto& [model, number] : models)
      number = static_cast<uint32_t>(models_.size()), models_.push_back(model);
    CHECK(models_.size() <= 32);
    std::map<std::string, uint32_t> masks{{"", UINT32_MAX}};
    std::map<std::tuple<int32_t, int32_t, int32_t, uint32_t>, size_t> numbers;
    for (const PackPod& pod : trace_.pods) {
      auto [mask, is_new] = masks.try_emplace(pod.models, 0U);
      if (is_new) mask->second = mask_of(pod.models);
      const PackShape shape{.cpu_milli = pod.cpu_milli,
                            .devices = pod.devices,
                            .milli = pod.milli,
                            .models = mask->second};
      shape_of_pod_.push_back(shape);
      const std::tuple key{shape.cpu_milli, shape.devices, shape.milli, shape.models};
      shape_number_.push_back(numbers.try_emplace(key, numbers.size()).first->second);
    }
    scores_.resize(numbers.size());
  }

  uint32_t mask_of(std::string_view names) const {
    uint32_t mask = 0;
    while (!names.empty()) {
      const size_t bar = std::min(names.find('|'), names.size());
      const auto model = std::ranges::find(models_, names.substr(0, bar));
      if (model != models_.end()) mask |= 1U << (model - models_.begin());
      names.remove_prefix(std::min(bar + 1, names.size()));
    }
    return mask;
  }

  // One index for each model: a flat site.
  void build_classes() {
    std::vector<std::vector<CapacityNode>> of(models_.size());
    for (size_t n = 0; n < trace_.nodes.size(); ++n) {
      const PackNode& node = trace_.nodes[n];
      const auto klass =
          static_cast<size_t>(std::ranges::find(models_, node.model) - models_.begin());
      of[klass].push_back({.node = static_cast<NodeIndex>(n),
                           .devices = node.devices,
                           .cpus = node.cpu_milli,
                           .memory_mb = node.memory_mib});
      SiteNode site{.klass = klass};
      site.number.fill(kNotDivided);
      site.room.cpu_milli = node.cpu_milli;
      site.room.model = static_cast<int32_t>(klass);
      site.room.devices = node.devices;
      std::fill_n(site.room.left.begin(), node.devices, kMilliOfDevice);
      nodes_.push_back(site);
      capacity_ += int64_t{node.devices} * kMilliOfDevice;
    }
    for (std::vector<CapacityNode>& nodes : of) classes_.emplace_back(DomainTree(), nodes);
    for (size_t n = 0; n < nodes_.size(); ++n)
      nodes_[n].at = classes_[nodes_[n].klass].position(static_cast<NodeIndex>(n)).value();
  }

  bool has_memory(const SiteNode& node, size_t pod) const {
    return classes_[node.klass].memory_free_mb(node.at) >= trace_.pods[pod].memory_mib;
  }

  // The highest score; of equal ones the lowest rank.
  std::optional<Choice> best(size_t pod) {
    const PackShape& shape = shape_of_pod_[pod];
    std::vector<Scored>& scores = scores_[shape_number_[pod]];
    scores.resize(nodes_.size());
    std::optional<Choice> choice;
    int32_t highest = -1;
    for (const size_t n : by_rank_) {
      const SiteNode& node = nodes_[n];
      Scored& scored = scores[n];
      if (scored.version != node.version) {
        scored.version = node.version;
        scored.score = {.score = -1};
        if (node.room.fits(shape))
          scored.score = score_of(rule_, node.room, shape, node.fragmented, typical_);
      }
      if (scored.score.score <= highest || !has_memory(node, pod)) continue;
      highest = scored.score.score;
      choice = Choice{.node = n, .device = scored.score.device};
    }
    return choice;
  }

  std::optional<Choice> any(size_t pod) {
    const PackShape& shape = shape_of_pod_[pod];
    std::vector<size_t> fitting;
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].room.fits(shape) && has_memory(nodes_[n], pod)) fitting.push_back(n);
    }
    if (fitting.empty()) return std::nullopt;
    Choice choice{.node = fitting[rng_.below(fitting.size())]};
    if (!shape.shared()) return choice;
    std::vector<int32_t> devices;
    const std::span<const int32_t> lefts = nodes_[choice.node].room.lefts();
    for (size_t d = 0; d < lefts.size(); ++d) {
      if (lefts[d] >= shape.milli) devices.push_back(static_cast<int32_t>(d));
    }
    choice.device = devices[rng_.below(devices.size())];
    return choice;
  }

  Gang gang_of(size_t pod) const {
    const PackPod& p = trace_.pods[pod];
    return {.devices = p.shared() ? 1 : p.devices,
            .share_milli = p.shared() ? p.milli : 0,
            .cpus = p.cpu_milli,
            .memory_mb = p.memory_mib};
  }

  std::optional<Choice> tightest(size_t pod);

  void take(size_t pod, const Choice& choice) {
    SiteNode& node = nodes_[choice.node];
    CapacityIndex& index = classes_[node.klass];
    Grant grant{.at = node.at};
    if (choice.device >= 0 && trace_.pods[pod].shared()) {
      const auto d = static_cast<size_t>(choice.device);
      if (node.room.left[d] == kMilliOfDevice) node.number[d] = index.unused_number(node.at);
      grant.device = node.number[d];
    }
    index.take(grant, gang_of(pod));
    node.room.take(shape_of_pod_[pod], choice.device);
    CHECK(index.free(node.at) == node.room.whole());
    ++node.version;
    fragmented_ -= node.fragmented;
    refresh(node);
    allocated_ += trace_.pods[pod].milli_all();
  }

  void refresh(SiteNode& node) {
    node.fragmented = fragmentation(node.room, typical_);
    fragmented_ += node.fragmented;
  }

  void record() {
    const auto percent = [&](double milli) { return 100 * milli / static_cast<double>(capacity_); };
    const auto printed = [](double value) { return std::nearbyint(value * 100) / 100; };
    const auto column = std::lrint(percent(static_cast<double>(arrived_)));  // half to even
    if (column > kPackPercentMax) return;
    const auto c = static_cast<size_t>(column);
    result_.allocated[c] += printed(percent(static_cast<double>(allocated_)));
    result_.fragmented[c] += printed(percent(fragmented_));
    ++events_[c];
  }

  struct Scored {
    uint32_t version = 0;
    PackScore score;
  };

  const PackTrace& trace_;
  const Arrivals& arrivals_;
  PackRule rule_;
  Rng rng_;
  std::vector<std::string> models_;
  std::vector<PackShape> shape_of_pod_;
  std::vector<size_t> shape_number_;         // by pod
  std::vector<std::vector<Scored>> scores_;  // by shape and node
  std::vector<TypicalShape> typical_;
  std::vector<CapacityIndex> classes_;  // by model
  std::vector<SiteNode> nodes_;
  std::vector<size_t> by_rank_;
  int64_t capacity_ = 0, arrived_ = 0, allocated_ = 0;
  double fragmented_ = 0;
  PackResult result_;
  std::array<int64_t, kPackPercentMax + 1> events_{};
};

// What the index of each model says; of models the one where the node is filled most tightly. A pod
// without devices goes where fewest thousandths are idle.
std::optional<Choice> Packing::tightest(size_t pod) {
  const PackShape& shape = shape_of_pod_[pod];
  std::optional<Choice> choice;
  if (shape.devices == 0) {
    std::pair<int32_t, int32_t> least{INT32_MAX, INT32_MAX};
    for (const size_t n : by_rank_) {
      const PackRoom& room = nodes_[n].room;
      const std::pair rank{room.idle_milli(), room.cpu_milli};
      if (rank >= least || !room.fits(shape) || !has_memory(nodes_[n], pod)) continue;
      least = rank;
      choice = Choice{.node = n};
    }
    return choice;
  }
  const Gang gang = gang_of(pod);
  Placement placement;
  int32_t least = INT32_MAX;
  for (size_t klass = 0; klass < classes_.size(); ++klass) {
    const CapacityIndex& index = classes_[klass];
    if (!shape.accepts(static_cast<int32_t>(klass)) || !index.find(gang, placement)) continue;
    const Grant& grant = placement.grants[0];
    const SiteNode& node = nodes_[index.node(grant.at)];
    int32_t device = -1, spare = node.room.whole() * kMilliOfDevice;
    if (shape.shared()) {
      const std::span<const int32_t> lefts = node.room.lefts();
      const auto same = std::ranges::find(node.number, grant.device);
      const bool divided = same != node.number.end();
      device =
          static_cast<int32_t>(divided ? same - node.number.begin()
                                       : std::ranges::find(lefts, kMilliOfDevice) - lefts.begin());
      if (divided) spare = lefts[static_cast<size_t>(device)];
    }
    if (spare < least) {
      least = spare;
      choice = Choice{.node = index.node(grant.at), .device = device};
    }
  }
  return choice;
}

}  // namespace

PackResult pack(const PackTrace& trace, const Arrivals& arrivals, const PackRule& rule,
                uint64_t seed) {
  return Packing(trace, arrivals, rule, seed).run();
}

}  // namespace fairlead
