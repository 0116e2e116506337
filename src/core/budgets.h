// How teams stand with their own budgets.
//
// A budget in device-hours counts what its team and those below it held, and what was lost of it,
// in the last `per`, by the ledger. One in money is not followed, since no prices are known: it
// counts as within.
//
// Requires: the state knows an organisation. Cost: O(rows of the ledger in the longest `per` times
// teams with a budget).
#pragma once

#include "core/state.h"
#include "policy/order.h"

namespace fairlead {

// By team; empty where no team has a budget that can be followed.
std::vector<policy::BudgetState> budgets_of(const State& state);

// By team, of what its budget allows, in millionths; nothing where there is none to be followed.
std::vector<std::optional<int64_t>> budgets_used_ppm(const State& state);

}  // namespace fairlead
