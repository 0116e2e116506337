// What runs, as the planner is told it: how long it may go on, how long it is likely to, and
// whether it may be taken.
//
// Likely ends follow from how runs of the same team have gone, of the last kLearntMax that the
// scheduler no longer lists; where there are too few, of all teams (policy/lifetimes.h). A workload
// whose last run was thrown away is spared until it has done that again. What `reclaim idle` has
// found may be taken once it is idle for as long as the rung `requeue` says, else `cancel`: all of
// its devices, of a kind that is listed, outside of what `unless` spares, the longest idle first up
// to `most`.
//
// Requires, of all: the state knows an organisation. Cost: O(kLearntMax + what runs).
#pragma once

#include "core/state.h"
#include "policy/lifetimes.h"
#include "policy/work.h"

namespace fairlead {

constexpr size_t kLearntMax = 10'000;  // chosen: a week of a site of a thousand devices

// A scheduler's record may stand for many tasks that wait; each is work of its own.
constexpr int kTaskBits = 16;
inline policy::WorkId work_id(WorkloadId workload, uint64_t task = 0) {
  return workload << kTaskBits | task;
}
inline WorkloadId workload_of(policy::WorkId work) { return work >> kTaskBits; }

// That of rules with a last class, for work that has none.
policy::ClassId class_or_last(const State& state, const Workload& workload);
Duration time_limit(const Job& job);  // zero: none

class KnownLengths {
 public:
  explicit KnownLengths(const State& state);

  // How long a run of this team is likely to take that has gone for `age`.
  std::optional<Duration> beyond(policy::TeamId team, Duration age, policy::WorkId id) const;
  // Of a run that has not begun, in half of the cases.
  std::optional<Duration> median(policy::TeamId team) const;

 private:
  std::vector<policy::Lifetimes> by_team_;
  policy::Lifetimes of_all_;
};

// By id.
std::vector<policy::RunningWork> running_work(const State& state, const KnownLengths& lengths);

}  // namespace fairlead
