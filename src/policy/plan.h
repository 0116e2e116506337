// One step of the planner: whom to admit now, who has a reservation, what to take back for whom.
//
//   1. in the order of the tournament, admit whoever fits
//   2. the first of a device class that does not fit gets a reservation at the earliest time at
//   which
//      its devices can be there, from predicted ends; behind it only those are admitted who do
//      not move that time
//   3. only then take back, for those who wait long enough, by the rules of take_back.h
//
// A pure function: the same input gives the same plan, and the order of its vectors is of no
// account. Devices are counted by class; where they stand is not asked here.
#pragma once

#include <optional>
#include <vector>

#include "policy/order.h"
#include "policy/take_back.h"

namespace fairlead::policy {

struct PlanInput {
  const Organisation& organisation;
  Quota quota;              // what runs is charged
  std::vector<Milli> free;  // by device
  std::vector<RunningWork> running;
  std::vector<Work> waiting;
  Usages usages;
  Instant now;
  SpentPairs spent;  // the caller adds what a plan preempts, and empties it when the world changes
  std::optional<int64_t> evictions_left;  // of `most N evictions per …`; nothing: no cap
};

enum class Verdict : uint8_t { admit, preempt, reserve, defer };
BOOST_DESCRIBE_ENUM(Verdict, admit, preempt, reserve, defer)

enum class Cause : uint8_t {
  none,
  devices,      // too few are free
  team_limit,   // of `team`: own + borrow
  class_limit,  // `most N per workload`
  reservation   // would move somebody's
};
BOOST_DESCRIBE_ENUM(Cause, none, devices, team_limit, class_limit, reservation)

struct Decision {
  Verdict verdict{};
  WorkId work = 0;
  Cause cause{};        // of defer and reserve
  TeamId team = 0;      // of team_limit
  Milli short_by;       // of defer and reserve: what is missing
  Instant at;           // of reserve; unknown: ends are not predicted
  WorkId claimant = 0;  // of preempt
  Rule rule{};          // of preempt
  bool operator==(const Decision&) const = default;
};

// In the order in which they are to be done; each waiting workload has one of its own.
std::vector<Decision> plan(const PlanInput& input);

}  // namespace fairlead::policy
