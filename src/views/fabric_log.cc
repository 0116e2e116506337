#include "views/fabric_log.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead {
namespace {

std::string service_of(std::string_view state) {
  for (const std::string_view loaded : {"idle", "mixed", "allocated"}) {
    if (state.starts_with(loaded)) return "in service" + std::string(state.substr(loaded.size()));
  }
  return std::string(state);
}

NodeFacts facts_of(const NodeView& n) {
  NodeFacts facts{.service = service_of(n.state),
                  .gpus = n.models,
                  .leaf = n.leaf,
                  .features = {},
                  .cpus = std::to_string(n.cpus),
                  .memory_mb = std::to_string(n.memory_mb),
                  .reason = n.reason};
  for (const std::string& feature : n.features)
    facts.features += (facts.features.empty() ? "" : " ") + feature;
  return facts;
}

// Of all that is stated of a node but its load and its reason's time.
uint64_t digest_without_load(const Node& node) {
  const void* const load[] = {&node.state, &node.planned, &node.cpus_used, &node.memory_used_mb,
                              &node.reason_since};
  const bool loaded = node.state == NodeState::mixed || node.state == NodeState::allocated;
  Hasher hasher;
  fold(hasher, loaded ? NodeState::idle : node.state);
  for_each_member(node, [&](const char*, const auto& member) {
    if (std::ranges::find(load, static_cast<const void*>(&member)) == std::end(load))
      fold(hasher, member);
  });
  return hasher.digest().value;
}

template <class Take>
void compare(const std::string& node, const NodeFacts& before, const NodeFacts& after, Instant at,
             Take&& take) {
  boost::mp11::mp_for_each<Members<NodeFacts>>([&](auto member) {
    const std::string& was = before.*member.pointer;
    const std::string& is = after.*member.pointer;
    if (was != is)
      take(FabricChange{.at = at, .node = node, .what = member.name, .before = was, .after = is});
  });
}

FabricChange presence(const std::string& node, bool came, Instant at) {
  return {.at = at,
          .node = node,
          .what = "node",
          .before = came ? "absent" : "present",
          .after = came ? "present" : "absent"};
}

}  // namespace

FabricDiff diff_of(const Fabric& before, const Fabric& after) {
  FabricDiff diff{.site = after.site, .from = before.as_of, .to = after.as_of, .changes = {}};
  std::map<std::string, NodeFacts> was;
  for (const NodeView& n : before.nodes) was[n.node] = facts_of(n);
  const auto take = [&](FabricChange c) { diff.changes.push_back(std::move(c)); };
  for (const NodeView& n : after.nodes) {
    const auto it = was.find(n.node);
    if (it == was.end()) {
      take(presence(n.node, true, {}));
      continue;
    }
    compare(n.node, it->second, facts_of(n), {}, take);
    was.erase(it);
  }
  for (const auto& [node, facts] : was) take(presence(node, false, {}));
  std::ranges::sort(diff.changes, {},
                    [](const FabricChange& c) { return std::pair(c.node, c.what); });
  return diff;
}

void FabricLog::note(const State& state) {
  if (state.fleet.nodes().empty()) return;
  const Instant at = state.source(Source::scheduler).last_ok;
  const bool first = !known_since_.known();
  const auto take = [&](FabricChange c) {
    if (first) return;
    changes_.push_back(std::move(c));
    if (changes_.size() <= kChangesMax) return;
    known_since_ = changes_.front().at;
    changes_.pop_front();
  };
  const bool moved = switches_ != state.fleet.switches();
  if (moved) {
    switches_ = state.fleet.switches();
    leaves_ = leaves_of(state);
  }
  for (const FleetNode& node : state.fleet.nodes()) {
    const std::string& name = node.facts.name;
    if (!node.present) {
      if (stated_.erase(name) == 0) continue;
      nodes_.erase(name);
      take(presence(name, false, at));
      continue;
    }
    const uint64_t stated = digest_without_load(node.facts);
    const auto [known, added] = stated_.try_emplace(name, stated);
    if (!added && known->second == stated && !moved) continue;
    known->second = stated;
    const auto leaf = leaves_.find(name);
    NodeFacts facts = facts_of({.node = name,
                                .state = state_text(node),
                                .models = models_text(node.facts),
                                .leaf = leaf == leaves_.end() ? "" : leaf->second,
                                .reason = node.facts.reason,
                                .cpus = node.facts.cpus,
                                .memory_mb = node.facts.memory_mb,
                                .features = node.facts.features,
                                .devices = {}});
    if (added)
      take(presence(name, true, at));
    else
      compare(name, nodes_[name], facts, at, take);
    nodes_.insert_or_assign(name, std::move(facts));
  }
  if (first) known_since_ = at;
  site_ = state.site;
}

Result<FabricDiff> FabricLog::between(Instant from, Instant to) const {
  if (!known_since_.known() || from < known_since_) {
    return fail("fabric-not-known",
                known_since_.known() ? fmt::format("the facts of nodes are known since {} only",
                                                   to_rfc3339(known_since_))
                                     : "no look at the nodes has ended yet",
                "`fairlead fabric -o json > today.json` keeps what is now for a later diff");
  }
  FabricDiff diff{.site = site_, .from = from, .to = to, .changes = {}};
  std::map<std::pair<std::string, std::string>, FabricChange> net;
  for (const FabricChange& c : changes_) {
    if (c.at <= from || c.at > to) continue;
    const auto [it, added] = net.try_emplace({c.node, c.what}, c);
    if (added) continue;
    it->second.after = c.after;
    it->second.at = c.at;
  }
  for (auto& [key, change] : net) {
    if (change.before != change.after) diff.changes.push_back(std::move(change));
  }
  return diff;
}

}  // namespace fairlead
