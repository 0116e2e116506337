#include "sim/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string_view>

namespace fairlead {
namespace {

struct ShrinkRow {
  std::string_view name;
  std::vector<int> needed;  // fails once all of them stand in the list, in this order
};
const ShrinkRow kShrinkRows[] = {
    {.name = "the first step", .needed = {0}},
    {.name = "the last step", .needed = {999}},
    {.name = "two that are far from each other", .needed = {17, 940}},
    {.name = "two neighbours", .needed = {500, 501}},
    {.name = "five", .needed = {3, 4, 333, 666, 998}},
};

// How many of the steps it takes until all that is needed has been seen; 0: it has not.
size_t played(const std::vector<int>& steps, const std::vector<int>& needed) {
  size_t seen = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == needed[seen]) ++seen;
    if (seen == needed.size()) return i + 1;
  }
  return 0;
}

std::vector<int> thousand() {
  std::vector<int> steps(1000);
  std::iota(steps.begin(), steps.end(), 0);
  return steps;
}

TEST(Shrink, LeavesWhatIsNeeded) {
  for (const ShrinkRow& row : kShrinkRows) {
    SCOPED_TRACE(row.name);
    ShrinkBudget budget{.steps_max = 1'000'000};
    const auto fails = [&](const std::vector<int>& steps) { return played(steps, row.needed); };
    EXPECT_EQ(shrink(thousand(), budget, fails), row.needed);
    EXPECT_LT(budget.runs, 200);
  }
}

TEST(Shrink, WithoutBudgetComesBackWhatFailed) {
  ShrinkBudget budget{.steps_max = 700};
  const std::vector<int> needed = {17, 940};
  const auto fails = [&](const std::vector<int>& steps) { return played(steps, needed); };
  const std::vector<int> left = shrink(thousand(), budget, fails);
  EXPECT_GT(left.size(), needed.size());
  EXPECT_GT(played(left, needed), 0U);
}

}  // namespace
}  // namespace fairlead
