// A team's arithmetic with its numbers, for people and programs.
#pragma once

#include "policy/quota.h"

namespace fairlead::policy {

// Amounts are whole thousandths of a device; nothing where there is no limit.
struct TeamDeviceView {
  std::string device;
  int64_t own_milli = 0;
  std::optional<int64_t> lend_milli, borrow_milli, limit_milli;
  int64_t kept_milli = 0, direct_milli = 0, inner_milli = 0, load_milli = 0, used_milli = 0;
  int64_t headroom_milli = 0;
  std::vector<std::string> steps;  // how the headroom comes about, from the root down
  bool operator==(const TeamDeviceView&) const = default;
};
BOOST_DESCRIBE_STRUCT(TeamDeviceView, (),
                      (device, own_milli, lend_milli, borrow_milli, limit_milli, kept_milli,
                       direct_milli, inner_milli, load_milli, used_milli, headroom_milli, steps))

struct TeamView {
  std::string apiVersion = "fairlead/v1", kind = "PolicyTeam";
  std::string organisation, version, team, parent;
  std::vector<std::string> children, classes, members, windows;
  std::string default_class, budget;
  int64_t weight = 1;
  int64_t half_life_us = 0;  // by which its children are compared
  std::vector<TeamDeviceView> devices;
  bool operator==(const TeamView&) const = default;
};
BOOST_DESCRIBE_STRUCT(TeamView, (),
                      (apiVersion, kind, organisation, version, team, parent, children, classes,
                       members, windows, default_class, budget, weight, half_life_us, devices))

// `quota` is of `organisation`. Devices of which neither the team nor the root has any are left
// out.
TeamView view_of(const Organisation& organisation, const Quota& quota, TeamId team);

// `$120000 per 30d soft`; empty where the team has none.
std::string budget_text(const Organisation& organisation, const Team& team);

// `slurm account`, `claim department`
std::string source_text(const MemberRule& rule);

// `mon..fri 08:00..20:00 Europe/Berlin`
std::string to_text(const Window& window);

}  // namespace fairlead::policy
