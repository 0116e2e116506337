// How teams stand with their own budgets.
//
// What counts is what its team and those below it held, and what was lost of it, in the last `per`,
// by the ledger: in device-hours those of its class of devices, in money all that have a price, at
// the price that is declared now. Where no class has one, a budget in money is not followed.
//
// Requires: the state knows an organisation. Cost: O(rows of the ledger in the longest `per` times
// teams with a budget), of the open hour alone where the closed ones are as they were.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state.h"
#include "core/team_books.h"
#include "policy/order.h"

namespace fairlead {

struct BudgetUse {
  int64_t used = 0;  // micro-dollars, or thousandths of device-hours
  int64_t used_ppm = 0;
  bool operator==(const BudgetUse&) const = default;
};

// Keeps what was used in hours that are over.
class BudgetsSoFar {
 public:
  // By team; nothing where there is no budget to be followed.
  std::vector<std::optional<BudgetUse>> used(const State& state);
  // By team; empty where none is over.
  std::vector<policy::BudgetState> until_now(const State& state);

 private:
  std::optional<ClosedHours> made_of_;
  std::vector<__int128> closed_;  // of each team with a budget
};
std::vector<std::optional<BudgetUse>> budgets_used(const State& state);
std::vector<policy::BudgetState> budgets_of(const State& state);

// "$1250 of $1000 per 30d hard", "21 of 20 H100 h per 7d hard".
std::string budget_text(const policy::Organisation& organisation, policy::TeamId team,
                        const BudgetUse& use);

}  // namespace fairlead
