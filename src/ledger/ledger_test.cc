#include "ledger/ledger.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead {
namespace {

constexpr Account kFree = {.model = 1, .column = Column::free};
constexpr Account kUseful = {.model = 1, .team = 2, .column = Column::useful};
constexpr Account kLost = {.model = 1, .team = 2, .column = Column::lost};
constexpr int64_t kHour = 7200;  // the hour in which the books open

Ledger opened_with(int64_t devices, int64_t second = kHour + 10) {
  Ledger ledger;
  ledger.open(second);
  ledger.post_hardware(devices * kMilli, second);
  ledger.post(kFree, devices * kMilli, second);
  return ledger;
}

int64_t seconds_in(const Ledger& ledger, const Account& account, int64_t from, int64_t until) {
  int64_t sum = 0;
  ledger.for_each(from, until,
                  [&](const Account& a, int64_t, int64_t ms) { sum += a == account ? ms : 0; });
  return sum / kMilli;
}

TEST(Ledger, CountsFromTheSecondThatWasPosted) {
  Ledger ledger = opened_with(8);
  ledger.move(kFree, kUseful, 8 * kMilli, kHour + 20);
  ledger.move(kUseful, kFree, 8 * kMilli, kHour + 50);
  EXPECT_EQ(seconds_in(ledger, kFree, 0, kHour + 60), 8 * 10 + 8 * 10);
  EXPECT_EQ(seconds_in(ledger, kUseful, 0, kHour + 60), 8 * 30);
  EXPECT_TRUE(ledger.balanced());
}

TEST(Ledger, APostingThatComesLateCountsInItsOwnHour) {
  Ledger ledger = opened_with(8);
  ledger.advance(kHour + 2 * kLedgerHour + 5);
  ledger.move(kFree, kUseful, kMilli, kHour + kLedgerHour - 100);  // one device, two hours ago
  EXPECT_EQ(seconds_in(ledger, kUseful, kHour, kHour + kLedgerHour), 100);
  EXPECT_EQ(seconds_in(ledger, kUseful, kHour + kLedgerHour, kHour + 2 * kLedgerHour), kLedgerHour);
  EXPECT_EQ(ledger.first_unbalanced_hour(), 0);
}

TEST(Ledger, NothingIsBookedBeforeTheBooksOpen) {
  Ledger ledger = opened_with(1);
  ledger.move(kFree, kUseful, kMilli, 5);
  EXPECT_EQ(seconds_in(ledger, kUseful, 0, kHour + 30), 20);
  EXPECT_EQ(seconds_in(ledger, kFree, 0, kHour + 30), 0);
}

TEST(Ledger, ACorrectionMovesSecondsWithinTheirHour) {
  Ledger ledger = opened_with(2);
  ledger.move(kFree, kUseful, kMilli, kHour + 10);
  ledger.advance(kHour + kLedgerHour);
  ledger.correct(kUseful, kLost, kHour, 90 * kMilli);
  ledger.correct(kUseful, kLost, kHour + kLedgerHour, 7 * kMilli);
  EXPECT_EQ(seconds_in(ledger, kLost, kHour, kHour + kLedgerHour), 90);
  EXPECT_EQ(seconds_in(ledger, kLost, 0, kHour + kLedgerHour + 30), 97);
  EXPECT_EQ(seconds_in(ledger, kUseful, kHour, kHour + kLedgerHour), kLedgerHour - 10 - 90);
  EXPECT_TRUE(ledger.balanced());
  EXPECT_EQ(ledger.first_unbalanced_hour(), 0);
}

TEST(Ledger, SeesThatAnAmountIsNobodys) {
  Ledger ledger = opened_with(8);
  ledger.post(kUseful, kMilli, kHour + 20);
  EXPECT_FALSE(ledger.balanced());
  EXPECT_EQ(ledger.first_unbalanced_hour(), kHour);
}

struct Posting {
  int64_t milli;
  int64_t second;
};

// Whatever order postings come in, and wherever the hours are closed in between, sums are the same.
RC_GTEST_PROP(Ledger, OrderDoesNotMatter, ()) {
  const auto seconds = *rc::gen::container<std::vector<int64_t>>(
      rc::gen::inRange<int64_t>(kHour, kHour + 5 * kLedgerHour));
  const int64_t last = kHour + 5 * kLedgerHour;
  Ledger late = opened_with(8, kHour);
  late.advance(last);
  int64_t want = 0;
  for (const int64_t s : seconds) {
    late.move(kFree, kUseful, kMilli, s);
    want += last - s;
  }
  Ledger early = opened_with(8, kHour);
  auto sorted = seconds;
  std::ranges::sort(sorted);
  for (const int64_t s : sorted) {
    early.advance(s);
    early.move(kFree, kUseful, kMilli, s);
  }
  early.advance(last);
  RC_ASSERT(seconds_in(late, kUseful, 0, last) == want);
  RC_ASSERT(seconds_in(early, kUseful, 0, last) == want);
  RC_ASSERT(late.first_unbalanced_hour() == 0);
  RC_ASSERT(Ledger(late.data()).balanced());
}

}  // namespace
}  // namespace fairlead
