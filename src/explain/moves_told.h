// Moves that are suggested, as people are told them.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"
#include "explain/blocker.h"

namespace fairlead {

std::vector<MoveTold> moves_told(const State& state, const std::vector<SuggestedMove>& moves);

// "2 jobs (3 GPUs), 12 from n1 to n2, 13 from n1 to n3"
std::string to_text(const std::vector<MoveTold>& moves);

// What would make room for it; null: nothing is suggested.
const Suggestion* room_for(const State& state, WorkloadId id);

}  // namespace fairlead
