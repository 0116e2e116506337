#include "policy/form.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "policy/test_cluster.h"

namespace fairlead::policy {
namespace {

constexpr int64_t kHour = 3600;

// Of 16 devices some run until `rest_ends_in`; the first that waits asks for 16, for six hours.
struct FormRow {
  std::string_view name;
  int64_t free = 8;
  int64_t rest_ends_in = 10 * kHour;  // 0: not known
  int64_t length = 6 * kHour;         // of what it asks for; 0: not known
  int64_t asks = 16;
  std::vector<Form> others = {};
  int64_t want = 0;  // devices that it starts with; 0: it waits
};

Form form(int64_t size, int64_t length) {
  return {.device = kH100,
          .size = devices(size),
          .time_max = seconds(96 * kHour),
          .length = seconds(length)};
}

const FormRow kFormRows[] = {
    {.name = "without a declaration nothing is reshaped"},
    {.name = "half of it at once is done sooner than all of it later",
     .others = {form(8, 12 * kHour)},
     .want = 8},
    {.name = "and is not, where the rest is free soon",
     .rest_ends_in = kHour,
     .others = {form(8, 12 * kHour)}},
    {.name = "the best of those that fit",
     .others = {form(4, 24 * kHour), form(12, 8 * kHour), form(8, 12 * kHour)},
     .want = 8},
    {.name = "nobody knows when the rest ends: something now is better",
     .rest_ends_in = 0,
     .others = {form(8, 0)},
     .want = 8},
    {.name = "nobody knows how long it would go: it waits for what it asks for",
     .others = {form(8, 0)}},
    {.name = "more than it asks for, where that is free",
     .asks = 4,
     .others = {form(8, 3 * kHour)},
     .want = 8},
    {.name = "what it asks for, where more is no quicker",
     .asks = 4,
     .others = {form(8, 6 * kHour)},
     .want = 4},
    {.name = "none fits", .others = {form(12, kHour)}},
};

TestCluster asked(const FormRow& row) {
  TestCluster c = test_cluster(16, {test_class("batch", 10)});
  c.run(1, kRoot, 16 - row.free);
  if (row.rest_ends_in > 0) c.running.back().ends = kNow + seconds(row.rest_ends_in);
  c.submit(2, kRoot, row.asks);
  c.waiting.back().time_max = seconds(96 * kHour);
  if (!row.others.empty()) c.forms[2] = {.length = seconds(row.length), .others = row.others};
  return c;
}

TEST(Form, TheOneThatEndsFirst) {
  for (const FormRow& row : kFormRows) {
    SCOPED_TRACE(row.name);
    TestCluster c = asked(row);
    c.act();
    EXPECT_EQ(c.runs(2) ? c.find_running(2)->work.size : Milli{}, devices(row.want));
  }
}

TEST(Form, SaysWhatWasChosenAndWhy) {
  const TestCluster c = asked({.name = "", .others = {form(8, 12 * kHour)}});
  const auto decisions = c.look();
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].verdict, Verdict::reshape);
  ASSERT_TRUE(decisions[0].reshape);
  EXPECT_EQ(decisions[0].reshape->size, devices(8));
  EXPECT_EQ(decisions[0].reshape->ends, kNow + seconds(12 * kHour));
  EXPECT_EQ(decisions[0].reshape->ends_otherwise, kNow + seconds(16 * kHour));
}

// What is larger than all that is free is refused by groups behind a reservation; one that accepts
// less is asked.
TEST(Form, IsNotRefusedWithWhatAsksForTheSame) {
  TestCluster c = asked({.name = ""});
  c.submit(3, kRoot, 16);
  c.submit(4, kRoot, 16);
  for (Work& w : c.waiting) w.time_max = seconds(96 * kHour);
  c.forms[4] = {.length = seconds(6 * kHour), .others = {form(8, 2 * kHour)}};
  c.forms[4].others[0].time_max = seconds(3 * kHour);
  for (Work& w : c.waiting) w.has_forms = w.id == 4;
  c.act();
  EXPECT_FALSE(c.runs(2)) << "has the reservation";
  EXPECT_FALSE(c.runs(3));
  ASSERT_TRUE(c.runs(4)) << "over before that";
  EXPECT_EQ(c.find_running(4)->work.size, devices(8));
}

// Beside a reservation in ten hours; what is asked for is four days.
TEST(Form, AShorterLimitThatItAcceptsKeepsOutOfAReservation) {
  struct Row {
    std::string_view name;
    int64_t least = 0, length = 0;
    std::optional<int64_t> want;  // hours
  };
  const Row rows[] = {
      {"as long as is left", 2 * kHour, 6 * kHour, 10},
      {"also where it may not be enough", 2 * kHour, 20 * kHour, 10},
      {"not below what it accepts", 11 * kHour, 6 * kHour, std::nullopt},
      {"without a declaration it waits", 0, 6 * kHour, std::nullopt},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    TestCluster c = asked({.name = "", .asks = 8, .others = {form(8, row.length)}});
    c.forms[2].length = seconds(row.length);
    c.forms[2].others[0].time_min = seconds(row.least);
    c.waiting[0].since = kNow + seconds(1);
    c.submit(3, kRoot, 16);  // first
    std::optional<int64_t> hours;
    for (const Decision& d : c.look())
      if (d.work == 2 && d.verdict == Verdict::reshape)
        hours = whole_seconds(d.reshape->time_max) / kHour;
    EXPECT_EQ(hours, row.want);
  }
}

// Where it starts as it asks nothing is shortened.
TEST(Form, AShorterLimitIsNotTakenForNothing) {
  TestCluster c = asked({.name = "", .asks = 8, .others = {form(8, 20 * kHour)}});
  c.forms[2].others[0].time_min = seconds(kHour);
  c.submit(3, kRoot, 16);
  for (const Decision& d : c.look()) EXPECT_NE(d.verdict, Verdict::reshape);
  c.act();
  EXPECT_TRUE(c.runs(2));
}

// A form is no way around a limit, and none of somebody else's reservation.
TEST(Form, KeepsToLimitsAndReservations) {
  TestCluster c = asked({.name = "", .others = {form(8, 12 * kHour)}});
  const TeamId t = c.add_team(kRoot, devices(4));
  c.org.teams[t].limits[0].borrow = {};
  c.waiting[0].team = t;
  c.act();
  EXPECT_FALSE(c.runs(2));
  c = asked({.name = "", .others = {form(8, 12 * kHour)}});
  c.waiting[0].since = kNow + seconds(1);
  c.submit(3, kRoot, 16);  // first, and reserved in ten hours
  c.act();
  EXPECT_FALSE(c.runs(2));
}

}  // namespace
}  // namespace fairlead::policy
