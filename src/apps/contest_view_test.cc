#include "apps/contest_view.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

ContestView sample() {
  contest::Group all{.name = "all", .workloads = 3, .wait_us = {.mean = 90'000'000}};
  contest::Group team = all;
  team.name = "<b>&\x1b[2J";
  contest::Score easy{.rule = "easy", .about = "", .all = all, .utilisation_ppm = 912'345};
  easy.teams = {team};
  easy.wait_quantiles_us = std::vector<int64_t>(21, 5'000'000);
  contest::Score native = easy;
  native.rule = "native";
  easy.fragmentation_ppm = 31'000;
  return {.history = "dump", .fleet = "2 x 8 H100", .workloads = 3, .rules = {native, easy}};
}

TEST(ContestView, WhatIsNotKnownIsADashAndNumbersStandToTheRight) {
  const std::string text = to_text(contest_use_table(sample()));
  EXPECT_NE(text.find("91.2 %"), std::string::npos) << text;
  const size_t native = text.find("native"), easy = text.find("easy");
  const auto line_at = [&](size_t at) { return text.substr(at, text.find('\n', at) - at); };
  EXPECT_EQ(line_at(native).size(), line_at(easy).size()) << text;
  EXPECT_NE(line_at(easy).find("3.1 %"), std::string::npos) << text;
  EXPECT_EQ(line_at(native).find("3.1 %"), std::string::npos) << text;
}

TEST(ContestView, NamesDriveNeitherTerminalNorPage) {
  const ContestView view = sample();
  EXPECT_EQ(contest_text(view, {}).find('\x1b'), std::string::npos);
  const std::string html = contest_html(view);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_NE(html.find("&lt;b&gt;&amp;"), std::string::npos);
  EXPECT_EQ(html.find("http://") + html.find("https://"), 2 * std::string::npos);
}

TEST(ContestView, OfFewSeedsTheBracketsHoldTheLeastAndTheMost) {
  ContestView view = sample();
  view.seeds = 39;
  EXPECT_NE(contest_text(view, {}).find("Over 39 seeds: mean [least to most]"), std::string::npos);
  view.seeds = 40;
  EXPECT_NE(contest_html(view).find("Over 40 seeds: mean [middle 95 %]"), std::string::npos);
}

TEST(ContestView, ARowForEachRuleAndGroup) {
  const Table table = contest_table(sample());
  ASSERT_EQ(table.rows.size(), 4u);  // all and a team, of two rules
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  EXPECT_EQ(table.rows[0][5], "90000000");
}

}  // namespace
}  // namespace fairlead
