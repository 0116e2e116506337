// How the statements about a job become runs and holds.
#pragma once

#include <vector>

#include "core/state.h"

namespace fairlead {

// What became of a workload between two statements of its job.
struct JobChange {
  bool evicted = false;
  int64_t lost_device_seconds = 0;
};

// Nobody has looked at the scheduler for a while, so what it says of the time between is news.
bool scheduler_silent(const State& state);

// Takes in a new statement of the job that `workload` is: begins, changes and ends its run.
JobChange take_job(State& state, Workload& workload, const Job& job);

// Takes the devices that its job states and that were on no known node when they were stated.
void place(State& state, Workload& workload);

// Ends the present run, if there is one, at `end`. Of an unsettled workload the hours of its use
// are kept.
JobChange end_run(State& state, Workload& workload, Instant end, bool evicted);

// Keeps the present or last run among the former ones; once.
void remember_run(Workload& workload, JobState how);

// Whether `job` tells of a run that is over: it has ended, or accounting says that it was put back.
bool is_over(const Job& job);
bool is_eviction(const Job& job);  // what such a run did was thrown away

// What it holds or held on each node, as far as that is known.
std::vector<NodeShare> shares_of(const Job& job);

}  // namespace fairlead
