// How teams stand with their own budgets.
//
// What counts is what its team and those below it held, and what was lost of it, in the last `per`,
// by the ledger: in device-hours those of its class of devices, in money all that have a price, at
// the price that is declared now. Where no class has one, a budget in money is not followed.
//
// Requires: the state knows an organisation. Cost: O(rows of the ledger in the longest `per` times
// teams with a budget).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state.h"
#include "policy/order.h"

namespace fairlead {

// By team; empty where no team has a budget that can be followed.
std::vector<policy::BudgetState> budgets_of(const State& state);

struct BudgetUse {
  int64_t used = 0;  // micro-dollars, or thousandths of device-hours
  int64_t used_ppm = 0;
  bool operator==(const BudgetUse&) const = default;
};

// By team; nothing where there is no budget to be followed.
std::vector<std::optional<BudgetUse>> budgets_used(const State& state);

// "$1250 of $1000 per 30d hard", "21 of 20 H100 h per 7d hard".
std::string budget_text(const policy::Organisation& organisation, policy::TeamId team,
                        const BudgetUse& use);

}  // namespace fairlead
