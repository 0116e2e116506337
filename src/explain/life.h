// The life of a workload that is over: when it waited and ran, how each run ended, what it used.
#pragma once

#include <string_view>

#include "core/state.h"
#include "explain/blocker.h"

namespace fairlead {

// Fills what is told of a life; of one that has not ended only the runs before the present one.
void tell_life(const State& state, const Workload& workload, Explanation& explanation);

// The newest with this name or number among those that the scheduler has forgotten. O(those).
const PastWorkload* find_past(const State& state, std::string_view label);

Explanation explain_past(const State& state, const PastWorkload& past);

}  // namespace fairlead
