#include "policy/lifetimes.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace fairlead::policy {
namespace {

constexpr uint32_t kHalf = uint32_t{1} << 31;

TEST(Lifetimes, SayNothingOfWhatTheyHaveNotSeen) {
  Lifetimes lifetimes;
  EXPECT_FALSE(lifetimes.length_beyond({}, kHalf));
  for (int i = 0; i < Lifetimes::kFewest; ++i) lifetimes.learn(seconds(600));
  EXPECT_TRUE(lifetimes.length_beyond({}, kHalf));
  EXPECT_FALSE(lifetimes.length_beyond(seconds(3600), kHalf)) << "none got as old";
}

// Lengths are uniform up to an hour: of those that are half an hour old half end in the next
// quarter.
TEST(Lifetimes, SoManyEndAsHaveEnded) {
  Lifetimes lifetimes;
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) lifetimes.learn(seconds(rng.between(1, 3600)));
  int by_then = 0;
  constexpr int kRuns = 1000;
  for (uint64_t id = 5000; id < 5000 + kRuns; ++id) {
    const auto length = lifetimes.length_beyond(seconds(1800), part_of(id));
    ASSERT_TRUE(length);
    EXPECT_GT(*length, seconds(1800));
    by_then += *length <= seconds(2700) ? 1 : 0;
  }
  EXPECT_NEAR(by_then, kRuns / 2, kRuns / 8) << "within what quarters of an octave can tell";
}

TEST(Lifetimes, TheOldGoOnForLonger) {
  Lifetimes lifetimes;
  for (int i = 0; i < 100; ++i) lifetimes.learn(seconds(60));
  for (int i = 0; i < 100; ++i) lifetimes.learn(seconds(86'400));
  EXPECT_LT(*lifetimes.length_beyond({}, kHalf / 2), seconds(90));
  EXPECT_GT(*lifetimes.length_beyond(seconds(300), kHalf / 2), seconds(80'000));
}

TEST(Lifetimes, AnyLengthCounts) {
  Lifetimes lifetimes;
  for (const int64_t us : {INT64_MIN, int64_t{-5}, int64_t{0}, int64_t{1}, INT64_MAX})
    for (int i = 0; i < Lifetimes::kFewest; ++i) lifetimes.learn(Duration{us});
  EXPECT_TRUE(lifetimes.length_beyond({}, UINT32_MAX));
  EXPECT_TRUE(lifetimes.length_beyond(seconds(3600), 0));
}

}  // namespace
}  // namespace fairlead::policy
