// What would become of a job if it were submitted now.
//
// The engine that watches the site goes on, in a copy, with the job as one more fact: the answer is
// that of the real path. The state itself is not touched. Cost: a copy of the state.
#pragma once

#include "core/state.h"
#include "explain/blocker.h"

namespace fairlead {

constexpr const char* kSimulated = "(this job)";  // what it is called in the answer

// Its name, user, account, class, partition and request are taken; all else is as of a job that is
// submitted now. Its place in the scheduler's order is not known.
Explanation simulate(const State& state, Job job);

}  // namespace fairlead
