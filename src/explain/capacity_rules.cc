#include "explain/capacity_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.h"
#include "core/kept_nodes.h"
#include "explain/holders.h"
#include "explain/never_fits.h"
#include "explain/policy_rules.h"
#include "fabric/domain_tree.h"

namespace fairlead {
namespace {

using enum BlockerCode;

std::string names_of(const State& state, const std::vector<NodeIndex>& nodes) {
  std::vector<std::string> names;
  for (const NodeIndex i : nodes) names.push_back(state.fleet.node(i).facts.name);
  return fold_hostlist(names);
}

// Who holds devices on these nodes, the largest first, and when enough will have come free.
void add_device_holders(const State& state, const std::vector<NodeIndex>& nodes, Blocker& blocker) {
  std::map<WorkloadId, int64_t> amounts;
  for (const NodeIndex node : nodes) {
    for (const DeviceIndex device : state.fleet.node(node).devices) {
      if (state.devices[device].holder != 0) ++amounts[state.devices[device].holder];
    }
  }
  std::vector<Holder> holders;
  for (const auto& [id, amount] : amounts) {
    holders.push_back(holder_of(state, state.workloads.at(id), amount));
  }
  blocker.cured_at = freed_at(holders, blocker.short_by);
  show_holders(blocker, std::move(holders));
}

// Whether the node may be taken now by a job that runs until `end`.
bool kept_for_another(const State& state, const std::string& node, const Job& job, Instant end) {
  return std::ranges::any_of(state.reservations, [&](const auto& item) {
    const Reservation& r = item.second;
    return is_in_the_way(r, job, state.now, end) &&
           std::ranges::find(r.nodes, node) != r.nodes.end();
  });
}

// In maintenance for a reservation that is active: out of service until that ends, and no longer.
bool in_maintenance(const State& state, NodeIndex node, const Job& job) {
  const FleetNode& facts = state.fleet.node(node);
  if (facts.usable || facts.facts.drain || facts.facts.fail || facts.facts.not_responding)
    return false;
  return std::ranges::any_of(state.reservations, [&](const auto& item) {
    const Reservation& r = item.second;
    return r.start <= state.now && r.end > state.now && !may_use(r, job) &&
           std::ranges::find(r.nodes, facts.facts.name) != r.nodes.end();
  });
}

bool has_free_device(const State& state, NodeIndex node) {
  const std::vector<DeviceIndex>& devices = state.fleet.node(node).devices;
  return devices.empty() || std::ranges::any_of(devices, [&](DeviceIndex device) {
           return state.devices[device].holder == 0;
         });
}

// "2 under leaf0, 3 under spine1": of these nodes the most below one switch, level by level.
std::string most_together(const State& state, const std::vector<NodeIndex>& nodes) {
  const FleetTree fleet_tree = domain_tree_of(state.fleet);
  const DomainTree& tree = fleet_tree.tree;
  std::vector<uint32_t> domain_of;
  for (const NodeIndex node : nodes) domain_of.push_back(fleet_tree.leaf_of[node]);
  std::string text;
  for (int level = 0; level + 1 < tree.levels(); ++level) {
    std::vector<int64_t> count(tree.count(level));
    for (const uint32_t domain : domain_of) ++count[domain];
    const auto most = std::ranges::max_element(count);
    const auto& names = fleet_tree.names[static_cast<size_t>(level)];
    const std::string& name = names[static_cast<size_t>(most - count.begin())];
    text += fmt::format("{}{} under {}", text.empty() ? "" : ", ", *most,
                        name.empty() ? fmt::format("one of level {}", level) : name);
    for (uint32_t& domain : domain_of) domain = tree.above(level, domain);
  }
  return text;
}

Blocker down_blocker(const State& state, const Shape& shape, const Fit& found,
                     const std::vector<NodeIndex>& down) {
  std::string reason;
  for (const NodeIndex i : down) {
    if (!state.fleet.node(i).facts.reason.empty()) reason = state.fleet.node(i).facts.reason;
  }
  return {.code = NODES_DOWN,
          .object = names_of(state, down),
          .unit = "nodes",
          .limit = static_cast<int64_t>(found.could.size()),
          .used = static_cast<int64_t>(down.size()),
          .wanted = shape.nodes,
          .short_by = shape.nodes - static_cast<int64_t>(found.serves.size()),
          .message =
              fmt::format("{} of the {} that could take it {} down or drained{}", down.size(),
                          count_text(std::ssize(found.could), "nodes"), is_or_are(std::ssize(down)),
                          reason.empty() ? "" : " (" + reason + ")"),
          .cure = found.serves.empty()
                      ? "bring nodes back"
                      : count_text(std::ssize(found.serves), "nodes") + ", or bring nodes back"};
}

// Where the request may run, as it says itself.
std::string where_of(const Shape& shape) {
  if (!shape.nodes_required.empty()) return shape.nodes_required;
  return "partition " + shape.partition;
}

// Nodes of a partition that will never take the job are no room for it.
Shape open_shape_of(const State& state, const Job& job) {
  Shape shape = shape_of(job);
  shape.partition = PolicyRules::open_partitions(state, job);
  return shape;
}

int64_t devices_wanted(const Shape& shape) { return shape.total > 0 ? shape.total : 0; }

}  // namespace

void CapacityRules::reservation(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  const State& state = e.state_;
  const Job& job = w.job;
  if (!job.reservation.empty()) {
    const auto it = state.reservations.find(job.reservation);
    if (it == state.reservations.end() || it->second.end <= state.now) {
      out.push_back(
          {.code = RESERVATION,
           .object = "reservation " + job.reservation,
           .message = fmt::format("its reservation {} does not exist any more", job.reservation),
           .waiting_cures = WaitingCures::never,
           .cure = "without the reservation"});
    } else if (it->second.start > state.now) {
      out.push_back({.code = RESERVATION,
                     .object = "reservation " + job.reservation,
                     .unit = "s",
                     .short_by = whole_seconds(it->second.start - state.now),
                     .message = fmt::format("its reservation {} begins {}", job.reservation,
                                            to_rfc3339(it->second.start)),
                     .waiting_cures = WaitingCures::yes,
                     .cured_at = it->second.start,
                     .cure = "without the reservation"});
    }
    return;
  }
  if (state.reservations.empty()) return;
  const Shape shape = open_shape_of(state, job);
  const Fit& found = e.fit_of(shape);
  const Instant end = would_end(state, job);
  std::vector<NodeIndex> kept, maintained;
  for (const NodeIndex i : found.serves) {
    if (kept_for_another(state, state.fleet.node(i).facts.name, job, end)) kept.push_back(i);
  }
  for (const NodeIndex i : found.could) {
    if (in_maintenance(state, i, job)) maintained.push_back(i);
  }
  const auto serves = static_cast<int64_t>(found.serves.size() + maintained.size());
  const auto left = static_cast<int64_t>(found.serves.size() - kept.size());
  std::vector<NodeIndex> taking;
  std::ranges::set_difference(found.takes, kept, std::back_inserter(taking));
  const auto takes = static_cast<int64_t>(taking.size());
  // What it could have now if nothing were kept: that has room, and what is idle in maintenance.
  const int64_t could_take =
      static_cast<int64_t>(found.takes.size()) +
      std::ranges::count_if(maintained, [&](NodeIndex i) { return has_free_device(state, i); });
  const bool enough_without =
      left >= shape.nodes && (takes >= shape.nodes || could_take < shape.nodes);
  if ((kept.empty() && maintained.empty()) || enough_without || serves < shape.nodes) return;
  const int64_t short_by = could_take >= shape.nodes ? shape.nodes - takes : shape.nodes - left;
  kept.insert(kept.end(), maintained.begin(), maintained.end());
  std::ranges::sort(kept);
  Blocker b{.code = RESERVATION,
            .object = names_of(state, kept),
            .unit = "nodes",
            .limit = serves,
            .used = static_cast<int64_t>(kept.size()),
            .wanted = shape.nodes,
            .short_by = std::max<int64_t>(1, short_by),
            .waiting_cures = WaitingCures::yes};
  for (const auto& [name, r] : state.reservations) {
    const bool ours = std::ranges::any_of(kept, [&](NodeIndex i) {
      return std::ranges::find(r.nodes, state.fleet.node(i).facts.name) != r.nodes.end();
    });
    if (!ours || r.start >= end || r.end <= state.now) continue;
    b.holders.push_back(
        {.workload = name, .amount = static_cast<int64_t>(r.nodes.size()), .ends = r.end});
    b.cured_at = std::max(b.cured_at, r.end);
    const int64_t until = whole_seconds(r.start - state.now);
    if (until > 60) b.cure = fmt::format("time limit {}", to_short_text(seconds(until / 60 * 60)));
  }
  if (b.cure.empty()) b.cure = left > 0 ? count_text(left, "nodes") : "wait";
  b.message = fmt::format("{} of {} {} kept for {} until {}", kept.size(),
                          count_text(serves, "nodes"), is_or_are(std::ssize(kept)),
                          b.holders.empty() ? "a reservation" : b.holders[0].workload,
                          to_rfc3339(b.cured_at));
  out.push_back(std::move(b));
}

void CapacityRules::room(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  room_for(e, w, open_shape_of(e.state_, w.job), out);
}

void CapacityRules::room_for(Explainer& e, const Workload& w, const Shape& shape,
                             std::vector<Blocker>& out) {
  const State& state = e.state_;
  if (state.fleet.nodes().empty()) return;  // a site whose nodes nobody stated
  const Fit& found = e.fit_of(shape);
  const auto could = static_cast<int64_t>(found.could.size());
  const int64_t total = devices_wanted(shape);
  int64_t could_devices = 0;
  for (const NodeIndex i : found.could)
    could_devices += static_cast<int64_t>(state.fleet.node(i).devices.size());
  if (could < shape.nodes || (shape.per_node == 0 && total > could_devices)) {
    out.push_back(never_blocker(state, shape, found, e.members(shape.partition)));
    if (out.back().code != FEATURES_NO_NODE) return;
    Shape without = shape;  // what else is in the way, once that is not
    without.features.clear();
    return room_for(e, w, without, out);
  }
  std::vector<NodeIndex> down;
  std::ranges::set_difference(found.could, found.serves, std::back_inserter(down));
  std::erase_if(down, [&](NodeIndex i) { return in_maintenance(state, i, w.job); });
  if (could - static_cast<int64_t>(down.size()) < shape.nodes)
    out.push_back(down_blocker(state, shape, found, down));
  if (found.fits_switches) return;
  if (auto never = never_together(state, w.job, shape, found)) {
    out.push_back(*std::move(never));
    if (found.fits_now) return;
  }
  if (found.fits_now) {
    Blocker b{
        .code = TOPOLOGY_FRAGMENTED,
        .object = fmt::format("{} leaf switches", shape.switches),
        .unit = "nodes",
        .limit = shape.switches,
        .used = found.slots,
        .wanted = shape.nodes,
        .message = fmt::format("{} are free, but not {} of them {}: at most {}",
                               count_text(std::ssize(found.takes), "nodes"), shape.nodes,
                               under_switches(shape.switches), most_together(state, found.takes)),
        .waiting_cures = WaitingCures::yes,
        .cure = fmt::format("allow {} switches", shape.switches + 1)};
    add_device_holders(state, found.serves, b);
    b.cured_at = {};
    out.push_back(std::move(b));
    return;
  }
  if (found.devices_free < total || total == 0) {
    Blocker b{.code = CAPACITY,
              .object = where_of(shape),
              .unit = total == 0 ? "nodes" : "devices",
              .limit = total == 0 ? static_cast<int64_t>(found.serves.size()) : 0,
              .used = total == 0 ? static_cast<int64_t>(found.takes.size()) : found.devices_free,
              .wanted = total == 0 ? shape.nodes : total,
              .short_by = total == 0 ? shape.nodes - static_cast<int64_t>(found.takes.size())
                                     : total - found.devices_free,
              .message = total == 0 ? fmt::format("{} of {} {} room, {}", found.takes.size(),
                                                  count_text(std::ssize(found.serves), "nodes"),
                                                  found.takes.size() == 1 ? "has" : "have",
                                                  asked_for(shape.nodes))
                                    : fmt::format("{} {} free where it may run, {}",
                                                  count_text(found.devices_free, "devices"),
                                                  is_or_are(found.devices_free), asked_for(total)),
              .waiting_cures = WaitingCures::yes,
              .cure = total == 0 || found.devices_free == 0
                          ? "wait"
                          : count_text(found.devices_free, "devices")};
    add_device_holders(state, found.serves, b);
    out.push_back(std::move(b));
    return;
  }
  const int64_t missing = shape.nodes - static_cast<int64_t>(found.takes.size());
  Blocker b{.code = FRAGMENTED,
            .object = where_of(shape),
            .unit = "nodes",
            .limit = static_cast<int64_t>(found.serves.size()),
            .used = static_cast<int64_t>(found.takes.size()),
            .wanted = shape.nodes,
            .short_by = std::max<int64_t>(1, missing),
            .message = fmt::format(
                "{} {} free, {}, but only {} {} {} together",
                count_text(found.devices_free, "devices"), is_or_are(found.devices_free),
                asked_for(total), count_text(std::ssize(found.takes), "nodes"),
                found.takes.size() == 1 ? "has" : "have", std::max(1, shape.per_node)),
            .waiting_cures = WaitingCures::yes,
            .cure = fmt::format("{} on any nodes instead of {}", count_text(total, "devices"),
                                to_text(shape))};
  add_device_holders(state, found.serves, b);
  b.cured_at = {};  // which nodes come free together is not known from ends alone
  out.push_back(std::move(b));
}

void CapacityRules::order(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  if (w.job.priority == 0) return;
  std::vector<Holder> first;
  const int64_t ahead = e.ahead_of(w, &first);
  if (ahead == 0) return;
  out.push_back({.code = PRIORITY,
                 .object = "partition " + w.job.partition,
                 .unit = "jobs",
                 .used = ahead,
                 .wanted = 1,
                 .short_by = ahead,
                 .message = fmt::format("{} of its partition {} first: a priority above {}, "
                                        "or the same and a lower number",
                                        count_text(ahead, "waiting jobs"),
                                        ahead == 1 ? "comes" : "come", w.job.priority),
                 .holders = std::move(first),
                 .holders_more = std::max<int64_t>(0, ahead - static_cast<int64_t>(kHoldersShown)),
                 .waiting_cures = WaitingCures::yes,
                 .cure = "a time limit short enough to backfill"});
}

}  // namespace fairlead
