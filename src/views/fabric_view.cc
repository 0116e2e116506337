#include "views/fabric_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.h"

namespace fairlead {
namespace {

NodeView view_of(const State& state, const FleetNode& node) {
  NodeView view{.node = node.facts.name,
                .state = state_text(node),
                .models = models_text(node.facts),
                .reason = node.facts.reason,
                .gpus_total = static_cast<int64_t>(node.devices.size()),
                .cpus = node.facts.cpus,
                .cpus_used = node.facts.cpus_used,
                .memory_mb = node.facts.memory_mb,
                .memory_used_mb = node.facts.memory_used_mb,
                .features = node.facts.features,
                .seen = node.seen};
  for (const DeviceIndex i : node.devices) {
    const DeviceBook& book = state.devices[i];
    ++view.gpus[book.account.column];
    const auto holder = state.workloads.find(book.holder);
    view.devices.push_back(
        {.index = state.fleet.device(i).index,
         .model = state.names.name(state.fleet.device(i).model),
         .column = book.account.column,
         .workload = holder == state.workloads.end() ? "" : holder->second.job.label,
         .look = book.activity.look,
         .looked_at = book.activity.at});
  }
  return view;
}

}  // namespace

std::string state_text(const FleetNode& node) {
  std::string text = enum_name(node.facts.state);
  if (node.facts.drain) text += "+drain";
  if (node.facts.fail) text += "+fail";
  if (node.facts.maintenance) text += "+maint";
  if (node.facts.reserved) text += "+reserved";
  if (node.facts.not_responding) text += "+silent";
  if (node.facts.powered_down) text += "+off";
  return text;
}

std::string models_text(const Node& node) {
  std::string text;
  for (const DeviceGroup& g : node.devices) {
    text +=
        fmt::format("{}{}x{}", text.empty() ? "" : " ", g.count, g.model.empty() ? "gpu" : g.model);
  }
  return text;
}

std::map<std::string, std::string> leaves_of(const State& state) {
  std::map<std::string, std::string> leaf_of;
  for (const Switch& s : state.fleet.switches()) {
    if (s.level != 0) continue;
    for (const std::string& node : s.nodes) leaf_of[node] = s.name;
  }
  return leaf_of;
}

Fabric fabric_of(const State& state) {
  Fabric fabric{.site = state.site, .as_of = state.source(Source::scheduler).last_ok};
  std::map<std::string, std::string> leaf_of = leaves_of(state);
  for (const FleetNode& node : state.fleet.nodes()) {
    if (!node.present) continue;
    fabric.nodes.push_back(view_of(state, node));
    fabric.nodes.back().leaf = leaf_of[node.facts.name];
  }
  std::ranges::sort(fabric.nodes, {}, &NodeView::node);
  for (const Switch& s : state.fleet.switches()) {
    SwitchView view{.name = s.name, .level = s.level, .nodes = fold_hostlist(s.nodes)};
    for (const std::string& name : s.nodes) {
      const auto node = state.fleet.find(name);
      if (!node || !state.fleet.node(*node).present) continue;
      const auto total = static_cast<int64_t>(state.fleet.node(*node).devices.size());
      view.gpus_total += total;
      view.gpus_free += state.node_free[*node];
      view.nodes_whole_free += total > 0 && state.node_free[*node] == total ? 1 : 0;
    }
    fabric.switches.push_back(std::move(view));
  }
  return fabric;
}

}  // namespace fairlead
