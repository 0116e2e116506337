// What runs, as the planner is told it: how long it may go on, how long it is likely to, and
// whether it may be taken.
//
// Likely ends follow from how runs like them have gone (core/run_lengths.h). Which length a run is
// likely to reach is drawn for it once, by its id, so that of many such runs as many end, soon and
// late, as is likely; by middles alone nothing would ever end soon. A workload whose last run was
// thrown away is spared until it has done that again. What `reclaim idle` has found may be taken
// once it is idle for as long as the rung `requeue` says, else `cancel`: all of its devices, of a
// kind that is listed, outside of what `unless` spares, the longest idle first up to `most`.
//
// Requires, of all: the state knows an organisation. Cost: O(what runs).
#pragma once

#include "core/run_lengths.h"
#include "policy/work.h"

namespace fairlead {

// A scheduler's record may stand for many tasks that wait; each is work of its own.
constexpr int kTaskBits = 16;
inline policy::WorkId work_id(WorkloadId workload, uint64_t task = 0) {
  return workload << kTaskBits | task;
}
inline WorkloadId workload_of(policy::WorkId work) { return work >> kTaskBits; }

// That of rules with a last class, for work that has none.
policy::ClassId class_or_last(const State& state, const Workload& workload);
Duration time_limit(const Job& job);  // zero: none

// By id.
std::vector<policy::RunningWork> running_work(const State& state, const RunLengths& lengths);

}  // namespace fairlead
