#include "present/select.h"

#include <gtest/gtest.h>

#include "views/report.h"

namespace fairlead {
namespace {

std::vector<WaitingRow> waiting() {
  const int64_t hour = 3600 * kMicrosPerSecond;
  return {{.workload = "1",
           .team = "ads",
           .wait_us = hour,
           .gpus = 8,
           .blockers = {BlockerCode::HELD_BY_USER}},
          {.workload = "2",
           .team = "research",
           .wait_us = 10 * hour,
           .gpus = 64,
           .blockers = {BlockerCode::HELD_BY_USER, BlockerCode::BEGIN_TIME}},
          {.workload = "3", .team = "research", .wait_us = 2 * hour, .gpus = 8, .blockers = {}}};
}

std::string names(const std::vector<WaitingRow>& rows) {
  std::string out;
  for (const WaitingRow& row : rows) out += row.workload;
  return out;
}

struct SelectRow {
  std::string_view name;
  RowQuery query;
  std::string_view want;
  size_t want_left_out = 0;
};

TEST(Select, KeepsWhatIsAskedFor) {
  const SelectRow rows[] = {
      {"nothing asked", {}, "123"},
      {"one team", {.filters = {"team=research"}}, "23"},
      {"any but one team", {.filters = {"team!=research"}}, "1"},
      {"both filters hold", {.filters = {"team=research", "gpus=8"}}, "3"},
      {"a number above another", {.filters = {"gpus>8"}}, "2"},
      {"a time as people write it", {.filters = {"wait_us<3h"}}, "13"},
      {"a list is each of its words", {.filters = {"blockers=BEGIN_TIME"}}, "2"},
      {"a list of nothing", {.filters = {"blockers="}}, "3"},
      {"numbers: the most first", {.sort = "wait_us"}, "231"},
      {"numbers: the least first", {.sort = "wait_us:asc"}, "132"},
      {"names: from A; equal ones as they stood", {.sort = "team"}, "123"},
      {"names: from Z", {.sort = "team:desc"}, "231"},
      {"the first two", {.limit = 2}, "12", 1},
      {"the first one after sorting", {.sort = "gpus", .limit = 1}, "2", 2},
  };
  for (const SelectRow& row : rows) {
    SCOPED_TRACE(row.name);
    std::vector<WaitingRow> list = waiting();
    const auto left_out = select(list, row.query);
    ASSERT_TRUE(left_out) << to_text(left_out.error());
    EXPECT_EQ(names(list), row.want);
    EXPECT_EQ(*left_out, row.want_left_out);
  }
}

TEST(Select, RefusesWhatItDoesNotKnow) {
  std::vector<WaitingRow> list = waiting();
  const auto refusal = [&](RowQuery query) { return to_text(select(list, query).error()); };
  EXPECT_EQ(refusal({.filters = {"taem=research"}}),
            "error: no row has a field 'taem'  [field-unknown]\n  help: did you mean 'team'?");
  EXPECT_EQ(
      refusal({.sort = "wait_su"}),
      "error: no row has a field 'wait_su'  [field-unknown]\n  help: did you mean 'wait_us'?");
  for (const char* filter : {"team", "=x", "team>a", "gpus=many", "team!x"}) {
    EXPECT_TRUE(refusal({.filters = {filter}}).contains("[filter-bad]")) << filter;
  }
  EXPECT_TRUE(refusal({.sort = "gpus:up"}).contains("[filter-bad]"));
  EXPECT_EQ(names(list), "123");
}

TEST(Select, FieldsInsideOthersAreCalledByTheirLastWord) {
  std::vector<ReportRow> rows = {{.name = "ana", .gpu_seconds = {.useful = 1, .total = 9}},
                                 {.name = "bo", .gpu_seconds = {.useful = 5, .total = 6}}};
  ASSERT_TRUE(select(rows, {.sort = "useful"}));
  EXPECT_EQ(rows[0].name, "bo");
  ASSERT_TRUE(select(rows, {.sort = "gpu_seconds.total"}));
  EXPECT_EQ(rows[0].name, "ana");
  ASSERT_TRUE(select(rows, {.filters = {"user=bo"}}, "user"));
  EXPECT_EQ(rows.size(), 1u);
}

}  // namespace
}  // namespace fairlead
