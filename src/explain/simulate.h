// What would become of a job if it were submitted now.
//
// The planner that looks at what waits is asked about one more (Engine::ask), on a view that is
// undone, and the rules of explain are asked of it as of any other. The state is not touched and
// not copied. Cost: a look of the planner and an explanation.
#pragma once

#include "core/engine.h"
#include "explain/blocker.h"

namespace fairlead {

constexpr const char* kSimulated = "(this job)";  // what it is called in the answer

// Its name, user, account, class, partition and request; all else as of a job that is submitted
// now.
Job as_submitted_now(Job job, Instant now);

// Its place in the scheduler's order is not known.
Explanation simulate(const Engine& engine, Job job);

}  // namespace fairlead
