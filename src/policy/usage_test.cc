#include "policy/usage.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace fairlead::policy {
namespace {

constexpr int64_t kDay = 24 * 3600;
constexpr Instant kNow = instant_of_seconds(1'796'025'600);

// The test may use floating point; what it tests must not.
long double closed_form(long double milli, Instant begin, Instant end, Instant now, Duration h) {
  const auto age = [&](Instant at) {
    return static_cast<long double>(now.us - at.us) / static_cast<long double>(h.us);
  };
  return milli * static_cast<long double>(h.us) / std::log(2.0L) *
         (std::exp2(-age(end)) - std::exp2(-age(begin)));
}

long double number(Wide value) { return static_cast<long double>(value); }

struct UsageRow {
  std::string_view name;
  Milli amount = devices(8);
  Duration half_life = seconds(7 * kDay);
  Duration held = seconds(3600);
  Duration ago = seconds(0);      // since it ended
  long double error_max = 1e-9L;  // of the value
};

TEST(FadingUsage, FollowsTheClosedForm) {
  const UsageRow rows[] = {
      {.name = "an hour of eight devices"},
      {.name = "half is left after a half-life", .ago = seconds(7 * kDay)},
      {.name = "a thousandth of a device for a millisecond", .amount = {1}, .held = {1000}},
      {.name = "a thousandth of a device for a microsecond, in ten years",
       .amount = {1},
       .half_life = kHalfLifeMax,
       .held = {1},
       .error_max = 1e-4L},
      {.name = "over many half-lives", .held = seconds(100 * 7 * kDay)},
      {.name = "a short half-life", .half_life = seconds(1), .held = seconds(30)},
      {.name = "a million devices for a year",
       .amount = devices(1'000'000),
       .held = seconds(365 * kDay)},
      {.name = "thirty half-lives ago", .ago = seconds(30 * 7 * kDay), .error_max = 1e-6L},
  };
  for (const UsageRow& row : rows) {
    SCOPED_TRACE(row.name);
    const Instant end = kNow - row.ago;
    FadingUsage usage(row.half_life);
    usage.charge(row.amount, end - row.held, end);
    const long double want = closed_form(static_cast<long double>(row.amount.value), end - row.held,
                                         end, kNow, row.half_life);
    EXPECT_LE(std::abs(number(usage.at(kNow)) - want), want * row.error_max + 1);
  }
}

TEST(FadingUsage, ItsBitsAreTheSameOnEveryMachine) {
  EXPECT_EQ(power_of_two(0, 7), uint64_t{1} << 62);
  EXPECT_EQ(power_of_two(7, 7), uint64_t{1} << 63);
  EXPECT_EQ(power_of_two(1, 2), 6'521'908'912'666'391'106u);  // the square root of two, cut
  FadingUsage usage(seconds(7 * kDay));
  usage.charge(devices(3), kNow - seconds(12'345), kNow - seconds(45));
  const Wide value = usage.at(kNow + seconds(99'999));
  EXPECT_EQ(static_cast<uint64_t>(value >> 64), 0u);
  EXPECT_EQ(static_cast<uint64_t>(value), 32'671'834'066'813u);
}

TEST(FadingUsage, WhatIsLongAgoIsNothing) {
  FadingUsage usage(seconds(1));
  usage.charge(devices(1000), instant_of_seconds(0), instant_of_seconds(5));
  EXPECT_EQ(number(usage.at(kNow)), 0);
}

// A year in pieces of a minute, read and taken up again in between, is the year in one piece.
TEST(FadingUsage, DoesNotDependOnHowOftenItIsCharged) {
  const Duration half_life = seconds(30 * kDay);
  FadingUsage pieces(half_life), whole(half_life);
  const Instant begin = kNow - seconds(365 * kDay);
  for (int64_t minute = 0; minute < 365 * 24 * 60; ++minute) {
    const Instant at = begin + seconds(minute * 60);
    pieces.charge(devices(5), at, at + seconds(60));
    pieces = FadingUsage(pieces);
  }
  whole.charge(devices(5), begin, kNow);
  const long double want = number(whole.at(kNow));
  EXPECT_LE(std::abs(number(pieces.at(kNow)) - want), want * 1e-12L);
}

RC_GTEST_PROP(FadingUsage, AnySplitAndAnyOrderGiveTheSame, ()) {
  const Duration half_life{*rc::gen::inRange<int64_t>(kHalfLifeMin.us, kHalfLifeMax.us)};
  const auto offset = [] {
    return Duration{*rc::gen::inRange<int64_t>(0, 400 * kDay * 1'000'000)};
  };
  std::vector<Instant> cuts{kNow - offset(), kNow - offset(), kNow - offset(), kNow - offset()};
  std::ranges::sort(cuts);
  const Milli amount{*rc::gen::inRange<int64_t>(1, 1'000'000)};
  FadingUsage forth(half_life), back(half_life);
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    forth.charge(amount, cuts[i], cuts[i + 1]);
    const size_t j = cuts.size() - 1 - i;
    back.charge(amount, cuts[j - 1], cuts[j]);
  }
  const long double want = closed_form(static_cast<long double>(amount.value), cuts.front(),
                                       cuts.back(), kNow, half_life);
  RC_ASSERT(std::abs(number(forth.at(kNow)) - want) <= want * 1e-6L + 4);
  RC_ASSERT(std::abs(number(back.at(kNow)) - want) <= want * 1e-6L + 4);
}

RC_GTEST_PROP(FadingUsage, PowersOnlyGrow, ()) {
  const auto whole = *rc::gen::inRange<int64_t>(kHalfLifeMin.us, kHalfLifeMax.us);
  const auto part = *rc::gen::inRange<int64_t>(0, whole);
  RC_ASSERT(power_of_two(part, whole) < power_of_two(part + 1, whole));
}

TEST(Share, IsComparedByWeightAndNeverRounded) {
  const Wide big = Wide{1} << 120;
  EXPECT_TRUE((Share{10, 2} < Share{6, 1}));
  EXPECT_FALSE((Share{12, 2} < Share{6, 1}));
  EXPECT_FALSE((Share{6, 1} < Share{12, 2}));
  EXPECT_TRUE((Share{big, 1'000'000} < Share{big, 999'999}));
  EXPECT_TRUE((Share{big - 1, 7} < Share{big, 7}));
  EXPECT_TRUE((Share{big, 1} < Share{0, 0})) << "weight 0 is last";
  EXPECT_TRUE((Share{1, 0} < Share{2, 0}));
}

TEST(Share, CountsWhatIsHeldNowForOneHalfLife) {
  const FadingUsage none(seconds(10));
  EXPECT_EQ(number(share_of(none, devices(2), 1, kNow).usage), 2000.0L * 10'000'000);
}

}  // namespace
}  // namespace fairlead::policy
