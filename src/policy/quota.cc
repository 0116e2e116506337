#include "policy/quota.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::policy {

// No sum here comes near 63 bits: a document states at most kDevicesMax of one class in a line, and
// its lines are far fewer than the nine million that it would take. So all changes are exact, and
// what was added can be taken away again.
Quota::Quota(const Organisation& organisation) {
  for (const Team& team : organisation.teams) parents_.push_back(team.parent);
  const size_t devices = organisation.devices.size();
  nodes_.resize(parents_.size() * devices);
  capacity_.resize(devices);
  for (DeviceId d = 0; d < devices && !parents_.empty(); ++d) {
    capacity_[d] = organisation.teams[kRoot].limits[d].own;
    for (TeamId t = 0; t < parents_.size(); ++t) set_limits(t, d, organisation.teams[t].limits[d]);
  }
}

const Quota::Node& Quota::at(TeamId team, DeviceId device) const {
  CHECK(team < parents_.size() && device < capacity_.size());
  return nodes_[team * capacity_.size() + device];
}
Quota::Node& Quota::at(TeamId team, DeviceId device) {
  return const_cast<Node&>(std::as_const(*this).at(team, device));
}

Milli Quota::kept_of(const Node& node) {
  return node.limits.own - std::min(node.limits.own, node.limits.lend);
}

Milli Quota::limit(TeamId team, DeviceId device) const {
  if (team == kRoot) return capacity_[device];
  const Limits& l = at(team, device).limits;
  return l.own + l.borrow;
}

void Quota::set_capacity(DeviceId device, Milli capacity) {
  CHECK(device < capacity_.size() && capacity.value >= 0);
  capacity_[device] = capacity;
}

void Quota::set_limits(TeamId team, DeviceId device, const Limits& limits) {
  CHECK(limits.own.value >= 0 && limits.lend.value >= 0 && limits.borrow.value >= 0);
  Node& node = at(team, device);
  const Milli before = load_of(node);
  node.limits = limits;
  const int64_t change = load_of(node).value - before.value;
  if (team != kRoot) change_inner(parents_[team], device, change);
}

// Passes on, at each level, what exceeds the part that the level keeps anyway.
void Quota::change_inner(TeamId team, DeviceId device, int64_t by) {
  while (by != 0) {
    Node& node = at(team, device);
    const Milli before = load_of(node);
    node.inner.value += by;
    by = load_of(node).value - before.value;
    if (team == kRoot) return;
    team = parents_[team];
  }
}

void Quota::change_direct(TeamId team, DeviceId device, int64_t by) {
  at(team, device).direct.value += by;
  change_inner(team, device, by);
  for (TeamId t = team;; t = parents_[t]) {
    at(t, device).used.value += by;
    if (t == kRoot) return;
  }
}

void Quota::charge(TeamId team, DeviceId device, Milli amount) {
  CHECK(amount.value >= 0 && amount <= devices(kDevicesMax));
  change_direct(team, device, amount.value);
}

void Quota::refund(TeamId team, DeviceId device, Milli amount) {
  CHECK(amount.value >= 0 && amount <= direct(team, device));
  change_direct(team, device, -amount.value);
}

Milli Quota::headroom(TeamId team, DeviceId device) const {
  Milli least = Milli::unlimited();
  Milli reserve;  // what the levels below keep and do not use adds to what stands above them
  for (TeamId t = team;; t = parents_[t]) {
    const Node& node = at(t, device);
    const Milli limit_here = limit(t, device);
    if (!limit_here.is_unlimited()) least = std::min(least, limit_here - node.inner + reserve);
    if (t == kRoot) return least;
    reserve = reserve + std::max(Milli{}, kept_of(node) - node.inner);
  }
}

Milli Quota::borrowed(TeamId team, DeviceId device) const {
  const Node& node = at(team, device);
  return std::max(Milli{}, node.used - node.limits.own);
}

bool Quota::entitled(const Claim& claim, TeamId under) const {
  for (TeamId t = claim.team; t != under; t = parents_[t]) {
    const Node& node = at(t, claim.device);
    if (node.used + claim.size > node.limits.own) return false;
    CHECK(t != kRoot);
  }
  return true;
}

}  // namespace fairlead::policy
