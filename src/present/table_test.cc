#include "present/table.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Table, Aligns) {
  const Table table{.columns = {{"team"}, {"gpus", Align::right}},
                    .rows = {{"research", "8"}, {"ads", "128"}}};
  EXPECT_EQ(to_text(table),
            "team      gpus\n"
            "research     8\n"
            "ads        128\n");
  EXPECT_EQ(to_text(table, {.headers = false, .width_max = 6}), "resea…\nads  …\n");
}

TEST(Table, WideAndCombiningCharactersAlign) {
  EXPECT_EQ(display_width("a\u0301"), 1u);
  EXPECT_EQ(display_width("計算"), 4u);
  const Table table{.columns = {{"n"}, {"x"}}, .rows = {{"計", "1"}, {"é", "2"}}};
  EXPECT_EQ(to_text(table, {.headers = false}), "計  1\né   2\n");
}

TEST(Table, ANameCannotDriveTheTerminal) { EXPECT_EQ(printable("a\x1b[31m\n"), "a\\x1b[31m\\x0a"); }

TEST(Table, CsvQuotesWhatNeedsIt) {
  const Table table{.columns = {{"name"}, {"note"}}, .rows = {{"a,b", "say \"x\""}}};
  EXPECT_EQ(to_csv(table), "name,note\r\n\"a,b\",\"say \"\"x\"\"\"\r\n");
}

TEST(Table, Numbers) {
  EXPECT_EQ(with_thousands(-1234567), "-1,234,567");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(gpu_hours(3600 * 12 + 1080), "12.3");
  EXPECT_EQ(share(1, 0), "-");
  EXPECT_EQ(share(1, 3), "33.3 %");
}

}  // namespace
}  // namespace fairlead
