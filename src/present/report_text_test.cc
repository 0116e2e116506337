#include "present/report_text.h"

#include <gtest/gtest.h>

#include <numeric>

#include "present/report_sections.h"
#include "present/sample_report.h"

namespace fairlead {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

struct ApportionRow {
  std::string_view name;
  ColumnSeconds amounts;
  int64_t cells = 10;
  std::array<int64_t, kColumns> want;
};

const ApportionRow kApportionRows[] = {
    {.name = "nothing", .amounts = {}, .want = {}},
    {.name = "in proportion",
     .amounts = {.useful = 5, .free = 5},
     .want = {5, 0, 0, 0, 0, 5, 0, 0}},
    {.name = "the largest rest takes what is left",
     .amounts = {.useful = 2, .held_idle = 1},
     .want = {7, 3, 0, 0, 0, 0, 0, 0}},
    {.name = "what is there is seen",
     .amounts = {.useful = 1'000'000, .lost = 1},
     .want = {9, 0, 0, 1, 0, 0, 0, 0}},
    {.name = "too few cells for all",
     .amounts = {.useful = 5, .held_idle = 3, .lost = 2},
     .cells = 2,
     .want = {1, 1, 0, 0, 0, 0, 0, 0}},
    {.name = "no overflow",
     .amounts = {.useful = INT64_MAX / 2, .free = INT64_MAX / 2},
     .cells = 10'000,
     .want = {5000, 0, 0, 0, 0, 5000, 0, 0}},
};

TEST(Columns, ApportionAddsUp) {
  for (const ApportionRow& row : kApportionRows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(apportion(row.amounts, row.cells), row.want);
  }
}

TEST(Layout, Wraps) {
  EXPECT_EQ(wrap("one two three", 8), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
  EXPECT_EQ(wrap("", 3), std::vector<std::string>{""});
  EXPECT_EQ(wrap("計算計", 4), (std::vector<std::string>{"計算", "計"}));
}

TEST(Layout, WhatProgramsSaidBecomesOneLine) { EXPECT_EQ(one_line(" a:\n\tb  c\n"), "a: b c"); }

TEST(ReportText, FirstScreen) {
  const std::string text = report_text(sample_report(), {.width = 80});
  const std::string want =
      "alpha   2026-11-30 00:00 UTC to 2026-11-30 10:00 UTC (10h)   16 GPUs\n"
      "\n"
      "  h100  █████████████████████████████▒▒▒▒▒▒▒░░░░x=·········////____      16 GPUs\n"
      "\n"
      "     column           GPU-hours    share  GPUs now\n"
      "  █  useful                80.0   50.0 %         8\n"
      "  ▒  held idle             20.0   12.5 %         4\n"
      "  ░  held unmeasured       10.0    6.2 %         0\n"
      "  x  lost                  4.00    2.5 %         0\n"
      "  =  reserved              2.00    1.2 %         0\n"
      "  ·  free                  24.0   15.0 %         2\n"
      "  /  stranded              10.0    6.2 %         1\n"
      "  _  down                  10.0    6.2 %         1\n"
      "     all                  160.0  100.0 %        16\n";
  EXPECT_EQ(text.substr(0, want.size()), want);
}

TEST(ReportText, EveryLineFitsAndNothingDrivesTheTerminal) {
  Report r = sample_report();
  r.teams[0].name = r.idle_holds[0].team = "a\x1b[31m";
  for (const int width : {60, 80, 100, 140}) {
    for (const std::string& line : lines_of(report_text(r, {.width = width}))) {
      EXPECT_LE(display_width(line), static_cast<size_t>(width)) << line;
      EXPECT_EQ(line.find('\x1b'), line.npos);
    }
  }
}

TEST(ReportText, ColourChangesNothingElse) {
  std::string text = report_text(sample_report(), {.colour = true});
  EXPECT_NE(text.find("\x1b[38;5;25m"), text.npos);  // #005faf for #0072b2
  const std::string all = report_text(sample_report(), {.colour = true, .true_colour = true});
  EXPECT_NE(all.find("\x1b[38;2;0;114;178m"), all.npos);
  for (size_t at = 0; (at = text.find('\x1b', at)) != text.npos;)
    text.erase(at, text.find('m', at) - at + 1);
  EXPECT_EQ(text, report_text(sample_report()));
}

TEST(ReportText, SectionsSayWhatTheyAreEmptyOf) {
  const Report empty{.site = "alpha", .sentences = {"0 GPUs; nothing is booked yet."}};
  const std::string text = report_text(empty);
  for (const char* want :
       {"No accelerators are known", "no telemetry is configured", "Nothing waits.",
        "No workload was seen", "The fleet is not known", "No workload ended"}) {
    EXPECT_NE(text.find(want), text.npos) << want << "\n" << text;
  }
}

TEST(ReportText, WhatNobodySeesIsNotCalledWell) {
  Report r = sample_report();
  r.idle_holds.clear();
  for (ModelRow& model : r.models) model.gpus = {.held_unmeasured = 8, .total = 8};
  r.sources = {{.source = Source::telemetry, .ok = false, .known = true}};
  const std::string text = report_text(r);
  EXPECT_TRUE(text.contains("Cannot be seen now")) << text;
  EXPECT_FALSE(text.contains("None now")) << text;
}

TEST(ReportText, BeforeAnythingIsBookedTheBarsShowNow) {
  Report r = sample_report();
  r.gpu_seconds = r.models[0].gpu_seconds = {};
  EXPECT_NE(report_text(r).find("the bars show the GPUs as they are now"), std::string::npos);
}

TEST(ReportText, WhatIsNotKnownIsNotZero) {
  Report r = sample_report();
  r.fleet_known = false;
  EXPECT_NE(report_text(r).find("  /  stranded                 -        -         -\n"),
            std::string::npos)
      << report_text(r);
  EXPECT_TRUE(report_text(r).starts_with(
      "alpha   2026-11-30 00:00 UTC to 2026-11-30 10:00 UTC (10h)   the fleet is not known\n"));
  r.sources[1].known = false;
  r.gpu_seconds.useful = r.gpu_seconds.held_idle = 0;
  EXPECT_NE(report_text(r).find("  █  useful                   -        -         -\n"),
            std::string::npos)
      << report_text(r);
  r.classes[0].started = 0;
  EXPECT_EQ(waits_table("class", r.classes).rows[0][4], "-");
}

TEST(ReportTable, HoldsWholeNumbers) {
  const std::string csv = to_csv(report_table(sample_report()));
  EXPECT_TRUE(
      csv.starts_with("team,useful_gpu_seconds,held_idle_gpu_seconds,held_unmeasured_gpu_seconds,"
                      "lost_gpu_seconds,"))
      << csv;
  EXPECT_NE(csv.find("\r\nresearch,288000,72000,0,0,0,0,0,0,360000,3,2,1,60000000,7200000000,"
                     "7200000000,72000,36000\r\n"),
            csv.npos)
      << csv;
  for (const char* word : {"team", "class", "user", "partition", "model"}) {
    const auto by = report_by_of(word);
    ASSERT_TRUE(by);
    const Table table = report_table(sample_report(), *by);
    EXPECT_EQ(table.columns[0].title, word);
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
    EXPECT_FALSE(report_by_text(sample_report(), *by).empty());
  }
  EXPECT_FALSE(report_by_of("node"));
}

}  // namespace
}  // namespace fairlead
