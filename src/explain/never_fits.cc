#include "explain/never_fits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "explain/holders.h"
#include "fabric/domain_tree.h"

namespace fairlead {
namespace {

using enum BlockerCode;

// How many of these nodes lie below each leaf switch, the most first.
std::vector<int64_t> counts_by_leaf(const State& state, const std::vector<NodeIndex>& nodes) {
  const FleetTree fleet_tree = domain_tree_of(state.fleet);
  std::vector<int64_t> count(fleet_tree.tree.count(0));
  for (const NodeIndex node : nodes) ++count[fleet_tree.leaf_of[node]];
  std::ranges::sort(count, std::greater<>());
  return count;
}

}  // namespace

std::string under_switches(int64_t count) {
  return fmt::format("under {} switch{}", count, count == 1 ? "" : "es");
}

Blocker never_blocker(const State& state, const Shape& shape, const Fit& found,
                      const std::vector<bool>& members) {
  const std::string wants = to_text(shape);
  Blocker b{.code = SHAPE_NEVER,
            .object = "partition " + shape.partition,
            .unit = "nodes",
            .limit = static_cast<int64_t>(found.could.size()),
            .wanted = shape.nodes,
            .short_by = shape.nodes - static_cast<int64_t>(found.could.size()),
            .waiting_cures = WaitingCures::never};
  const auto exists = [&](auto&& good) {
    for (NodeIndex i = 0; i < state.fleet.nodes().size(); ++i) {
      if (state.fleet.node(i).present && members[i] && good(state.fleet.node(i))) return true;
    }
    return false;
  };
  const auto has_devices = [&](const FleetNode& node) {
    int32_t count = 0;
    for (const DeviceGroup& g : node.facts.devices)
      count += shape.model.empty() || g.model == shape.model ? g.count : 0;
    return count >= std::max(shape.per_node, std::min(shape.total, 1));
  };
  if (found.could.empty() && !exists(has_devices)) {
    b.code = DEVICES_NO_NODE;
    b.message = shape.per_node > 0
                    ? fmt::format("no node of partition {} has {}{}", shape.partition,
                                  count_text(shape.per_node, "devices"),
                                  shape.model.empty() ? "" : " of model " + shape.model)
                    : fmt::format("no node of partition {} has devices{}", shape.partition,
                                  shape.model.empty() ? "" : " of model " + shape.model);
    b.cure = "a model and number that a node has";
  } else if (found.could.empty() && !shape.features.empty() && !exists([&](const FleetNode& n) {
               return features_match(shape.features, n.facts.features);
             })) {
    b.code = FEATURES_NO_NODE;
    b.message =
        fmt::format("no node of partition {} has features {}", shape.partition, shape.features);
    b.cure = "without this constraint";
  } else {
    b.message =
        fmt::format("{} asks for {}, and only {} of partition {} could ever take a worker", wants,
                    count_text(shape.nodes, "nodes"), found.could.size(), shape.partition);
    b.cure = found.could.empty() ? "another partition"
                                 : "at most " + count_text(std::ssize(found.could), "nodes");
  }
  return b;
}

std::optional<Blocker> never_together(const State& state, const Job& job, const Shape& shape,
                                      const Fit& found) {
  if (shape.switches == 0 || state.fleet.switches().empty()) return std::nullopt;
  const std::vector<int64_t> by_leaf = counts_by_leaf(state, found.could);
  int64_t together = 0, enough = 0, switches = 0;
  for (const int64_t count : by_leaf) {
    if (switches++ < shape.switches) together += count;
    enough += count;
    if (enough >= shape.nodes) break;
  }
  if (together >= shape.nodes) return std::nullopt;
  const int64_t wait_s = job.request.switches_wait_s;
  return Blocker{.code = TOPOLOGY_FRAGMENTED,
                 .object = fmt::format("{} leaf switches", shape.switches),
                 .unit = "nodes",
                 .limit = together,
                 .wanted = shape.nodes,
                 .short_by = shape.nodes - together,
                 .message = fmt::format(
                     "no {} that could take it lie {}, free or not: at most {}{}",
                     count_text(shape.nodes, "nodes"), under_switches(shape.switches), together,
                     wait_s == 0 ? ""
                                 : fmt::format("; Slurm drops the wish {} after it could "
                                               "start without",
                                               to_short_text(seconds(wait_s)))),
                 .waiting_cures = wait_s > 0 ? WaitingCures::yes : WaitingCures::never,
                 .cure = fmt::format("allow {} switches", switches)};
}

}  // namespace fairlead
