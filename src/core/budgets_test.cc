#include "core/budgets.h"

#include <gtest/gtest.h>

#include "core/allocator.h"
#include "core/test_nodes.h"

namespace fairlead {
namespace {

constexpr int64_t kHour = 3600;

OrganisationStated organisation(const std::string& prices, const std::string& budget) {
  return {.files = {{"acme.policy", R"(org acme v1
lang 1
)" + prices + R"(
class batch { rank 10 }
team acme {
  own 64 h100
  default class batch
  team product {
    own 32 h100
    budget )" + budget + R"(
    team search { members slurm account "prod" }
  }
}
devices h100 { h100 }
devices a100 { a100 }
)"}},
          .tables = {},
          .zones = {},
          .groups = {}};
}

// Eight devices of a team below the budget's, from the first second of an hour on.
struct BudgetRow {
  std::string_view name;
  std::string prices = "price h100 $2.50/h";
  std::string budget = "$50 per 7d hard";
  std::string want = "$60 of $50 per 7d hard";  // after three hours; empty: it is not followed
  bool starts = false;                          // the next job of that team
};

TEST(Budgets, CountWhatWasHeldAtTheDeclaredPrice) {
  const BudgetRow rows[] = {
      {.name = "in money, and spent"},
      {.name = "not spent yet",
       .budget = "$61 per 7d hard",
       .want = "$60 of $61 per 7d hard",
       .starts = true},
      {.name = "soft: it orders, and refuses nothing",
       .budget = "$50 per 7d soft",
       .want = "$60 of $50 per 7d soft",
       .starts = true},
      {.name = "the last two hours alone",
       .budget = "$50 per 2h hard",
       .want = "$40 of $50 per 2h hard",
       .starts = true},
      {.name = "another class has a price, this one none",
       .prices = "price a100 $1/h",
       .want = "$0 of $50 per 7d hard",
       .starts = true},
      {.name = "nothing has a price: it is not followed", .prices = "", .want = "", .starts = true},
      {.name = "in device-hours no price is of account",
       .budget = "24 h100 h per 7d hard",
       .want = "24 of 24 h100 h per 7d hard"},
      {.name = "cents are told",
       .prices = "price h100 $0.01/h",
       .budget = "$0.20 per 7d hard",
       .want = "$0.24 of $0.20 per 7d hard"},
  };
  for (const BudgetRow& row : rows) {
    SCOPED_TRACE(row.name);
    SiteOfEights site(2);
    site.add(organisation(row.prices, row.budget));
    site.run(10, "n1", 8, 0);
    site.wait(1, 1, 8);
    site.poll(0);
    site.poll(3 * kHour);
    const State& state = site.state();
    const policy::TeamId team = *state.organisation->rules().team("product");
    const auto used = budgets_used(state)[team];
    EXPECT_EQ(used ? budget_text(state.organisation->rules(), team, *used) : "", row.want);
    EXPECT_EQ(site.suggested(1, SuggestionKind::start) != nullptr, row.starts);
  }
}

}  // namespace
}  // namespace fairlead
