// Jobs that run on several classes of devices, and matches that are played in rounds.
#include "contest/throughputs.h"

#include <gtest/gtest.h>

#include "contest/rivals.h"
#include "contest/testing.h"

namespace fairlead::contest {
namespace {

using testing::JobRow;

constexpr std::string_view kTable = R"json({
  "H100": {"('LM', 1)": {"null": 8.0, "('LM', 1)": [4.0, 4.0]}, "('LM', 2)": {"null": 12}},
  "A10": {"('LM', 1)": {"null": 2.0}, "('LM', 2)": {"null": 0.0}}
})json";

// One node of each class with one or two devices; every job is an LM.
Match lm_match(int32_t fast, int32_t slow, const std::vector<JobRow>& rows) {
  Match match = testing::match_of(fast, 1, rows,
                                  "org acme v1\nlang 1\nclass LM { rank 1 }\n"
                                  "team acme { own 8 H100, 8 A10 }\n");
  match.fleet = {{.nodes = fast, .each = 1, .device = *match.organisation.device("H100")},
                 {.nodes = slow, .each = 1, .device = *match.organisation.device("A10")}};
  std::ranges::sort(match.fleet, {}, &NodeGroup::device);
  const auto table = Throughputs::read(kTable, "table");
  EXPECT_TRUE(table.has_value());
  const std::vector<std::string> devices = {"H100", "A10"};
  EXPECT_TRUE(accept_devices(match, *table, devices).has_value());
  return match;
}

std::vector<int64_t> ends_of(const Outcome& outcome) {
  std::vector<int64_t> ends;
  for (const Fate& f : outcome.fates) ends.push_back(f.end - testing::kZero);
  return ends;
}

struct BadTable {
  std::string_view name, text, want;
};
const BadTable kBadTables[] = {
    {.name = "cut", .text = R"({"v100": )", .want = "no JSON"},
    {.name = "a list", .text = "[]", .want = "no object"},
    {.name = "a number in place of kinds", .text = R"({"v100": 3})", .want = "'v100'"},
    {.name = "a kind without its number of devices",
     .text = R"({"v100": {"LM": {"null": 1}}})",
     .want = "'LM' of 'v100'"},
    {.name = "no speed alone", .text = R"j({"v100": {"('LM', 1)": {}}})j", .want = "('LM', 1)"},
    {.name = "a speed below zero",
     .text = R"j({"v100": {"('LM', 1)": {"null": -1.0}}})j",
     .want = "('LM', 1)"},
};

TEST(Throughputs, ABrokenTableIsRefusedWithItsPlace) {
  for (const BadTable& row : kBadTables) {
    SCOPED_TRACE(row.name);
    const auto table = Throughputs::read(row.text, "table");
    ASSERT_FALSE(table.has_value());
    EXPECT_EQ(table.error().code, "throughputs-bad");
    EXPECT_NE(table.error().message.find(row.want), std::string::npos) << table.error().message;
  }
}

TEST(Throughputs, WhatDoesNotRunOnAClassDoesNotAcceptIt) {
  const Match match =
      lm_match(2, 2, {{.length = 100, .devices = 1}, {.length = 100, .devices = 2}});
  EXPECT_EQ(match.jobs[0].others, 1U);
  EXPECT_EQ(match.form_of(match.jobs[0], 1).speed_ppm, 250'000);
  EXPECT_EQ(match.form_of(match.jobs[0], 1).seconds_for(100), 400);
  EXPECT_EQ(match.jobs[1].others, 0U);
  EXPECT_NE(match.jobs[0].shape, match.jobs[1].shape);
}

struct FormRow {
  std::string_view name, rule;
  int64_t round = 0;
  std::vector<JobRow> jobs;
  std::vector<int64_t> want;  // when each ended
};
const std::vector<JobRow> kThree = {
    {.submit = 0, .length = 100}, {.submit = 10, .length = 100}, {.submit = 20, .length = 10}};
const FormRow kFormRows[] = {
    {.name = "the second finds the fast device taken and runs four times as long",
     .rule = "fifo",
     .jobs = kThree,
     .want = {100, 410, 110}},
    {.name = "ours lets it wait, since it ends sooner so",
     .rule = "fairlead",
     .jobs = {{.submit = 0, .length = 100}, {.submit = 10, .length = 100}},
     .want = {100, 200}},
    {.name = "and does not where waiting takes longer",
     .rule = "fairlead",
     .jobs = {{.submit = 0, .length = 1000}, {.submit = 10, .length = 100}},
     .want = {1000, 410}},
    {.name = "what runs is given the fastest anew, and goes on where it was",
     .rule = "gavel-fifo-perf",
     .jobs = {{.submit = 0, .length = 100}, {.submit = 20, .length = 100}},
     .want = {100, 180}},  // 80 s on the slow one are 20 s of work
    {.name = "in rounds of a minute a rule looks at whole minutes",
     .rule = "fifo",
     .round = 60,
     .jobs = kThree,
     .want = {100, 460, 130}},
};

TEST(Forms, AJobRunsAsFastAsItsDevicesAre) {
  for (const FormRow& row : kFormRows) {
    SCOPED_TRACE(row.name);
    Match match = lm_match(1, 1, row.jobs);
    match.round = row.round;
    const auto rival = row.rule == "gavel-fifo-perf" ? make_gavel_fifo_perf(match)
                                                     : rival_kind(row.rule)->make(match);
    EXPECT_EQ(ends_of(testing::played(match, *rival)), row.want);
  }
}

TEST(Forms, EasyReservesWhereTheFirstCanStartFirst) {
  // The pair runs on fast devices alone; the one behind it may not delay it there.
  const Match match = lm_match(2, 1,
                               {{.submit = 0, .length = 100, .devices = 1},
                                {.submit = 1, .length = 50, .devices = 2},
                                {.submit = 2, .length = 200, .devices = 1},
                                {.submit = 3, .length = 60, .devices = 1}});
  const auto rival = make_easy(match);
  EXPECT_EQ(ends_of(testing::played(match, *rival)), (std::vector<int64_t>{100, 150, 802, 63}));
}

}  // namespace
}  // namespace fairlead::contest
