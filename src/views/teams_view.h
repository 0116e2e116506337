// Teams: who owns, holds, lends and waits for how much, now.
//
// One row for each team and class of devices, a parent before its children; then `(unassigned)`,
// what no rule of the organisation matches. Without an organisation there are no rows: teams are
// then the scheduler's accounts, and nobody has said who owns what.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state.h"

namespace fairlead {

// Amounts are whole thousandths of a device; nothing where there is no limit. Numbers of a team
// hold its sub-teams' too.
struct TeamDeviceRow {
  std::string team;    // its path below the root
  std::string parent;  // empty: the root, or nobody's
  int64_t depth = 0;
  std::string device;
  int64_t own_milli = 0;
  std::optional<int64_t> lend_milli, borrow_milli, limit_milli;
  int64_t used_milli = 0, borrowed_milli = 0, headroom_milli = 0;
  int64_t running = 0, waiting = 0;  // workloads; tasks of an array that wait, each
  int64_t waiting_milli = 0;         // devices that these ask for
  int64_t weight = 1;
  int64_t usage_gpu_seconds = 0;  // faded
  int64_t share_ppm = 0;          // of what its siblings have used of late and hold
  std::string window;             // that is open now
  std::string budget;
  std::string budget_used;                 // "$80 of $100 per 30d hard"; of all classes of devices
  std::optional<int64_t> budget_used_ppm;  // nothing: there is none, or prices are not known
  bool operator==(const TeamDeviceRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(TeamDeviceRow, (),
                      (team, parent, depth, device, own_milli, lend_milli, borrow_milli,
                       limit_milli, used_milli, borrowed_milli, headroom_milli, running, waiting,
                       waiting_milli, weight, usage_gpu_seconds, share_ppm, window, budget,
                       budget_used, budget_used_ppm))

// Work whose account, partition or class is a name that fits nothing, but is near one that does.
struct MisconfiguredRow {
  policy::SlipKind what{};
  std::string name, nearest;
  int64_t workloads = 0, gpus = 0;
  std::string first;  // one of them
  std::string hint;   // what to do
  bool operator==(const MisconfiguredRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(MisconfiguredRow, (), (what, name, nearest, workloads, gpus, first, hint))

struct UnassignedRow {  // what is nobody's, by the scheduler's account
  std::string account;
  int64_t running = 0, waiting = 0, gpus = 0;
  bool operator==(const UnassignedRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(UnassignedRow, (), (account, running, waiting, gpus))

struct TeamList {
  std::string apiVersion = "fairlead/v1", kind = "TeamList";
  std::string site;
  Instant as_of;
  std::string organisation, version;  // empty: none is known
  std::vector<TeamDeviceRow> teams;
  std::vector<UnassignedRow> unassigned;
  std::vector<MisconfiguredRow> misconfigured;
  std::vector<std::string> notes;  // what is counted for nobody
  bool operator==(const TeamList&) const = default;
};
BOOST_DESCRIBE_STRUCT(TeamList, (),
                      (apiVersion, kind, site, as_of, organisation, version, teams, unassigned,
                       misconfigured, notes))

TeamList teams_of(const State& state);

}  // namespace fairlead
