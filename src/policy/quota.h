// Who may take how much, kept up with every change.
//
// For each class of devices, in whole thousandths (docs/howto/organisation.md has an example):
//
//   limit(t) = own(t) + borrow(t); of the root: the capacity that is up
//   kept(t)  = own(t) - min(own(t), lend(t))                the part nobody else ever gets
//   inner(t) = direct(t) + sum over children c of load(c)    direct: what runs or is in flight in t
//   load(t)  = max(kept(t), inner(t))                        what t takes from its parent
//   used(t)  = direct(t) + sum over children c of used(c)
//
//   headroom(root) = limit(root) - inner(root)
//   headroom(c)    = min(limit(c) - inner(c), headroom(parent) + max(0, kept(c) - inner(c)))
//
//   entitled(w, p): used(a) + size(w) <= own(a) for every team a from w's team up to, without, p
//
// Invariant: inner(t) <= limit(t), unless a limit or the capacity was lowered under it; then
// headroom is below zero, and nothing is taken back by that alone. The limits are those in force
// now: the caller knows the clock (policy/calendar.h) and says when they change.
//
// A plain value: copy it to try something out. Every change and every question costs O(depth).
#pragma once

#include <algorithm>
#include <vector>

#include "policy/organisation.h"

namespace fairlead::policy {

class Quota {
 public:
  // All limits are those outside every window; the capacity is the root's own.
  explicit Quota(const Organisation& organisation);

  void set_limits(TeamId team, DeviceId device, const Limits& limits);
  void set_capacity(DeviceId device, Milli capacity);

  // Requires: 0 <= amount. Of refund: amount <= direct(team). A charge is not checked against the
  // headroom: what runs already is booked as it is.
  void charge(TeamId team, DeviceId device, Milli amount);
  void refund(TeamId team, DeviceId device, Milli amount);

  const Limits& limits(TeamId team, DeviceId device) const { return at(team, device).limits; }
  Milli limit(TeamId team, DeviceId device) const;
  Milli kept(TeamId team, DeviceId device) const { return kept_of(at(team, device)); }
  Milli direct(TeamId team, DeviceId device) const { return at(team, device).direct; }
  Milli inner(TeamId team, DeviceId device) const { return at(team, device).inner; }
  Milli load(TeamId team, DeviceId device) const { return load_of(at(team, device)); }
  Milli used(TeamId team, DeviceId device) const { return at(team, device).used; }
  Milli headroom(TeamId team, DeviceId device) const;

  // What a team holds above what it owns, and what others hold of what it owns.
  Milli borrowed(TeamId team, DeviceId device) const;

  struct Claim {
    TeamId team = 0;
    DeviceId device = 0;
    Milli size;
  };
  // Requires: `under` is the claim's team or above it. Under its own team nothing is asked: true.
  bool entitled(const Claim& claim, TeamId under) const;

 private:
  struct Node {
    Limits limits;
    Milli direct, inner, used;
  };
  static Milli kept_of(const Node& node);
  static Milli load_of(const Node& node) { return std::max(kept_of(node), node.inner); }
  const Node& at(TeamId team, DeviceId device) const;
  Node& at(TeamId team, DeviceId device);
  void change_inner(TeamId team, DeviceId device, int64_t by);
  void change_direct(TeamId team, DeviceId device, int64_t by);

  std::vector<TeamId> parents_;
  std::vector<Milli> capacity_;  // by device
  std::vector<Node> nodes_;      // by team, then by device
};

}  // namespace fairlead::policy
