// A State as one JSON document, and back: what a snapshot holds.
//
// {"fairlead_state":1, "site":…, …}, the parts of core's for_each_part. Another version is refused.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/state.h"

namespace fairlead {

constexpr int kStateVersion = 1;

std::string to_json(const State& state);

// Fails with state-version, state-bad.
Result<State> read_state(std::string_view text);

}  // namespace fairlead
