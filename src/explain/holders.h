// Who holds what somebody else waits for.
#pragma once

#include <vector>

#include "core/state.h"
#include "explain/blocker.h"

namespace fairlead {

constexpr size_t kHoldersShown = 6;  // chosen: what fits on a line

// When its time limit ends the run; zero where there is no limit.
Instant ends_of(const Workload& workload);

Holder holder_of(const State& state, const Workload& workload, int64_t amount);

// When `amount` will have come free, if each holder runs to its limit; zero where that is not
// known.
Instant freed_at(std::vector<Holder> holders, int64_t amount);

// When `amount` of what they are promised, amounts times time, will be spent: each spends evenly
// until its end. Zero where that is not known.
Instant spent_at(Instant now, std::vector<Holder> holders, int64_t amount);

// Puts the largest into the blocker and counts the rest.
void show_holders(Blocker& blocker, std::vector<Holder> holders);

}  // namespace fairlead
