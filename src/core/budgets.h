// How teams stand with their own budgets.
//
// A budget in device-hours counts what its team and those below it held, and what was lost of it,
// in the last `per`, by the ledger. One in money is not followed, since no prices are known: it
// counts as within.
//
// Requires: the state knows an organisation. Cost: O(rows of the ledger in the longest `per`).
#pragma once

#include "core/state.h"
#include "policy/order.h"

namespace fairlead {

// By team; empty where no team has a budget that can be followed.
std::vector<policy::BudgetState> budgets_of(const State& state);

// Of what the budget allows, in millionths; nothing where there is none to be followed.
std::optional<int64_t> budget_used_ppm(const State& state, policy::TeamId team);

}  // namespace fairlead
