// One look of the planner: whom to admit now, who has a reservation, what to take back for whom.
//
//   1. in the order of the tournament, admit whoever fits; where another form is declared and ends
//      sooner, in that (policy/form.h)
//   2. the first of a device class that does not fit gets a reservation at the earliest time at
//      which its devices can be there, from predicted ends; behind it only those are admitted who
//      do not move that time
//   3. only then take back, for those who wait long enough, by the rules of take_back.h, where it
//      gives more than it loses (policy/patience.h)
//
// A pure function: the same input gives the same plan, and the order of its vectors is of no
// account. What is alike is refused together, so a look costs what is admitted and how many kinds
// of work wait, not how much of it: O((admitted + groups) * (groups of a team + depth * children)).
// Where devices stand is asked of a Room (policy/room.h).
#pragma once

#include <optional>
#include <vector>

#include "policy/form.h"
#include "policy/order.h"
#include "policy/parking.h"
#include "policy/patience.h"
#include "policy/room.h"
#include "policy/take_back.h"

namespace fairlead::policy {

enum class Verdict : uint8_t { admit, reshape, preempt, reserve, defer };
BOOST_DESCRIBE_ENUM(Verdict, admit, reshape, preempt, reserve, defer)

enum class Cause : uint8_t {
  none,
  devices,      // too few are free
  shape,        // enough are free, and not where it could stand
  team_limit,   // of `team`: own + borrow
  class_limit,  // `most N per workload`
  budget,       // of `team`: hard, and spent
  reservation,  // would move somebody's
  parked        // the scheduler refuses it; until `at`
};
BOOST_DESCRIBE_ENUM(Cause, none, devices, shape, team_limit, class_limit, budget, reservation,
                    parked)

struct Decision {
  Verdict verdict{};
  WorkId work = 0;
  Cause cause{};                          // of defer and reserve
  TeamId team = 0;                        // of team_limit and budget
  Milli short_by;                         // of defer and reserve: what is missing
  Instant at;                             // of reserve; unknown: ends are not predicted
  WorkId claimant = 0;                    // of preempt
  Rule rule{};                            // of preempt
  int64_t lost_device_seconds = 0;        // of preempt: what would be done again
  std::optional<Reshape> reshape = {};    // of reshape: it starts now, in another form
  std::optional<Patience> patience = {};  // of defer and reserve: what is not taken back for it
  bool operator==(const Decision&) const = default;
};

struct World {
  const Organisation& organisation;
  const Quota& quota;  // what runs is charged
  const Waiting& waiting;
  const std::vector<RunningWork>& running;  // by id
  const Usages& usages;
  const std::vector<BudgetState>& budgets;  // by team; empty: nobody has one
  const SpentPairs& spent;
  Instant now;
  std::optional<int64_t> evictions_left;  // of `most N evictions per …`; nothing: no cap
  const Forms* forms = nullptr;           // that work accepts beside the one it asks for
  const Parking* parking = nullptr;
  const Claims* claims = nullptr;  // as plans told (claims_of); null: since the end of `wait`
};

// What became of a group: `why` of all its work that is not admitted and has no decision of its
// own. The decision's `work` is the first of them.
struct Refusal {
  GroupKey group;
  Decision why;
};

struct Plan {
  std::vector<Decision>
      acts;  // admit, reshape and preempt, in the order in which they are to be done
  std::vector<Decision> own;      // reserve, and defer of what a reservation keeps back
  std::vector<Refusal> refusals;  // in the order of the tournament
};

// Who waits for what ends by itself and could take back; since when, where it did before.
Claims claims_of(const Plan& plan, const Claims& before, Instant now);

// Chosen: work that is kept back by a reservation is asked one by one, so often in one look; then
// with all of its group.
constexpr int kTriesMax = 1'000;
// Chosen: so many claimants look for victims in one look, in the order of the tournament.
constexpr int kClaimantsMax = 64;

// Does in `room` what the plan does. Requires: `room` is as `world.running` stands.
Plan look(const World& world, Room& room);

// The same for a small world, with a decision on each waiting workload.
struct PlanInput {
  const Organisation& organisation;
  Quota quota;
  std::vector<Milli> free;  // by device
  std::vector<RunningWork> running;
  std::vector<Work> waiting;
  Usages usages;
  Instant now;
  SpentPairs spent;  // the caller adds what a plan preempts, and empties it when the world changes
  std::optional<int64_t> evictions_left;
  std::vector<BudgetState> budgets = {};
  Forms forms = {};
  Parking parking = {};
};
std::vector<Decision> plan(const PlanInput& input);

}  // namespace fairlead::policy
