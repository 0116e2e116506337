// When waiting work would start if all went on by the plan: one possible future, played.
//
// In a future each run has an end that was drawn for it. Whenever something has ended, the planner
// looks (policy/plan.h) as it would then, knowing no more than it would then: the limits of what
// runs, not the ends that were drawn. Nothing is taken back and nothing is submitted.
//
// Ends that lie close together, by a kGrain-th of the time from now, are one look, at the last of
// them: what is far ahead need not be exact, and a future costs a number of looks that grows with
// the logarithm of its length. A look costs what plan.h says, with only `waiting` waiting.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>

#include "policy/plan.h"

namespace fairlead::policy {

constexpr int64_t kGrain = 16;  // chosen: a start is put off by 6 % of the wait at most

struct Future {
  std::span<const Instant> ends;                // by index of world.running; unknown: never
  std::function<Duration(const Work&)> length;  // of a run that begins; zero: it never ends
  std::function<void(Instant, Quota&)> follow_calendar;  // sets the limits of that time
  int looks_max = 0;
};

struct FutureTold {
  std::unordered_map<WorkId, Instant> starts;  // of what started in it
  uint64_t steps = 0;                          // what it cost, counted
};

// Requires: `room` is as `world.running` stands. The room is left as the future ended.
FutureTold play_future(const World& world, Room& room, const Future& future);

// The first of the order, at most so many, each holding what it asks for when the next is chosen.
Waiting first_of_order(const World& world, size_t most);

}  // namespace fairlead::policy
