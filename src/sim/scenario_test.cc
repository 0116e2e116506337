#include "sim/scenario.h"

#include <gtest/gtest.h>

#include <string_view>

namespace fairlead {
namespace {

constexpr std::string_view kSite = "nodes n1 8 h100\npartition gpu n1\n";

struct BadRow {
  std::string_view name;
  std::string line;
  std::string_view want;
};

TEST(Scenario, RefusesALineWithItsNumberAndWhatItWants) {
  const BadRow rows[] = {
      {"a word that begins no line", "weather fine\nat 0s report", "begins no line of a scenario"},
      {"a rule after the first event", "at 0s report\npoll 10s", "stands after the first event"},
      {"the past", "at 1h report\nat 1m report", "is before 1h"},
      {"an option that sbatch has and the model has not", "at 0s submit a --nice=3",
       "is no option of sbatch that the model knows"},
      {"a truth that no job can do", "at 0s submit a --gpus=1 : dances", "is nothing that a job"},
      {"a job that was not submitted", "at 0s cancel a", "'a' was not submitted"},
      {"an hour of the lab that is no span", "lab hour long", "wants: lab hour SPAN"},
      {"never, without a reason", "lab never", "wants: lab hour SPAN, or lab never REASON"},
  };
  for (const BadRow& row : rows) {
    SCOPED_TRACE(row.name);
    const auto got = run_scenario(std::string(kSite) + row.line + "\n", {.source = "x.txt"});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, "scenario-bad");
    EXPECT_NE(to_text(got.error()).find(row.want), std::string::npos) << to_text(got.error());
    EXPECT_EQ(got.error().place.source, "x.txt");
    EXPECT_GE(got.error().place.line, 3);
  }
}

TEST(Scenario, WritesTheOutcomeAnewAndKeepsTheInput) {
  const std::string input =
      std::string(kSite) + "lab hour 1m\nat 0s submit a --gpus=8 : runs 1h\nat 10m report\n";
  const auto once = run_scenario(input + "----\nwhat it was\n", {});
  ASSERT_TRUE(once);
  EXPECT_TRUE(once->starts_with(input + "----\n"));
  EXPECT_EQ(once->find("what it was"), std::string::npos);
  EXPECT_NE(once->find("now                        useful 8  of 8 gpus"), std::string::npos);
  const auto again = run_scenario(*once, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *once);
}

}  // namespace
}  // namespace fairlead
