#include "policy/patience.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "policy/test_cluster.h"

namespace fairlead::policy {
namespace {

constexpr int64_t kHour = 3600;

// A holds 64 of its own 32 in runs of eight, B's eight wait. When which of A's ends is the row's.
struct PatienceRow {
  std::string_view name;
  int64_t ran_for = 2 * kHour;  // each of A's runs
  int64_t first_ends_in = 0;    // 0: not known
  int64_t likely_ends_in = 0;   // 0: not known
  int64_t waited = 60;          // B's work
  bool saves = false;           // A's runs, a minute ago
  bool cannot_wait = false;     // B's class is `anywhere`
  bool want_taken = false;
};

const PatienceRow kPatienceRows[] = {
    {.name = "nobody's end is known: it is its own, and taken", .want_taken = true},
    {.name = "eight end in ten minutes, and two hours would be lost", .first_ends_in = 600},
    {.name = "the limit is far, and runs like it end long before",
     .first_ends_in = 96 * kHour,
     .likely_ends_in = 600},
    {.name = "nothing ends for days: two hours are lost to save them",
     .first_ends_in = 96 * kHour,
     .want_taken = true},
    {.name = "what was saved is not lost", .first_ends_in = 600, .saves = true, .want_taken = true},
    {.name = "it has waited for as long as would be lost",
     .first_ends_in = 600,
     .waited = 2 * kHour + 600,
     .want_taken = true},
    {.name = "what cannot wait does not ask for the price",
     .first_ends_in = 600,
     .cannot_wait = true,
     .want_taken = true},
};

TestCluster lent(const PatienceRow& row) {
  TestCluster c = test_cluster(64, {test_class("batch", 10), test_class("oncall", 90, {0})});
  c.org.classes[1].anywhere = true;
  c.org.for_waiting = ReclaimForWaiting{.wait = seconds(60), .ask = {}, .most = {}};
  const TeamId a = c.add_team(kRoot, devices(32)), b = c.add_team(kRoot, devices(32));
  for (WorkId id = 1; id <= 8; ++id) {
    c.run(id, a, 8);
    RunningWork& r = c.running.back();
    r.started = kNow - seconds(row.ran_for);
    if (row.saves) r.kept_till = kNow - seconds(60);
    const auto in = [&](int64_t s) {
      return s == 0 ? Instant{} : kNow + seconds(s * static_cast<int64_t>(id));
    };
    r.ends = in(row.first_ends_in);
    r.ends_likely = in(row.likely_ends_in);
  }
  c.submit(20, b, 8, row.cannot_wait ? 1 : 0);
  c.waiting.back().since = kNow - seconds(row.waited);
  return c;
}

TEST(Patience, TakesBackWhatIsWorthIt) {
  for (const PatienceRow& row : kPatienceRows) {
    SCOPED_TRACE(row.name);
    const auto decisions = lent(row).look();
    const auto taken = std::ranges::count(decisions, Verdict::preempt, &Decision::verdict);
    EXPECT_EQ(taken, row.want_taken ? 1 : 0);
  }
}

TEST(Patience, SaysWhatItWaitsFor) {
  const TestCluster c = lent({.name = "", .first_ends_in = 600});
  const auto decisions = c.look();
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].verdict, Verdict::reserve);
  ASSERT_TRUE(decisions[0].patience);
  const Patience& p = *decisions[0].patience;
  EXPECT_EQ(p.of, 20u);
  EXPECT_EQ(p.ends, devices(8));
  EXPECT_EQ(p.by, kNow + seconds(600));
  EXPECT_EQ(p.lost_device_seconds, 8 * 2 * kHour);
  EXPECT_EQ(p.saved_device_seconds, 8 * 600);
  EXPECT_EQ(to_text(p), "taking back now would lose 16 GPU-hours to save 1.3");
}

// The first of A's ends in ten minutes, the second in four hours: one waits, and behind it the
// other takes.
TEST(Patience, TwoDoNotWaitForTheSame) {
  TestCluster c = lent({.name = "", .first_ends_in = 600});
  for (RunningWork& r : c.running)
    if (r.work.id > 1) r.ends = kNow + seconds(4 * kHour);
  c.running[0].started = c.running[0].started - seconds(60);  // and so not the cheapest
  const TeamId b = c.waiting[0].team;
  c.submit(21, b, 8, 1);  // of another class, so of another group
  c.org.classes[1] = test_class("other", 20);
  c.waiting.back().since = kNow - seconds(61);
  const auto decisions = c.look();
  std::vector<WorkId> admitted;
  for (const Decision& d : decisions)
    if (d.verdict == Verdict::admit) admitted.push_back(d.work);
  EXPECT_EQ(admitted, std::vector<WorkId>{20});
}

// How long it has had its claim counts, and not how long ago it came.
TEST(Patience, AClaimGrowsOldFromLookToLook) {
  TestCluster c = lent({.name = "", .first_ends_in = 6 * kHour, .waited = 5 * kHour});
  for (RunningWork& r : c.running) r.started = kNow - seconds(3 * kHour);
  Claims claims;
  std::optional<int64_t> taken_after;
  for (int64_t hour = 0; hour < 6; ++hour) {
    const Instant now = kNow + seconds(hour * kHour);
    for (RunningWork& r : c.running) r.ends = now + seconds(600);  // and never does
    const Waiting waiting(c.waiting);
    CountedRoom room({c.free()});
    const Plan plan = look({.organisation = c.org,
                            .quota = c.quota(),
                            .waiting = waiting,
                            .running = c.running,
                            .usages = {},
                            .budgets = {},
                            .spent = {},
                            .now = now,
                            .evictions_left = {},
                            .claims = &claims},
                           room);
    claims = claims_of(plan, claims, now);
    if (taken_after) {
      EXPECT_FALSE(plan.acts.empty()) << "nobody did it yet: so it stands at hour " << hour;
    }
    if (!plan.acts.empty() && !taken_after) taken_after = hour;
  }
  EXPECT_EQ(taken_after, 3) << "three hours would have been lost when the claim began";
}

// What was taken back once is left alone until it has done again what was lost.
TEST(Patience, ARunIsSparedUntilItHasDoneAgainWhatWasLost) {
  TestCluster c = lent({.name = ""});
  for (RunningWork& r : c.running) r.spared_till = kNow + seconds(60);
  EXPECT_EQ(std::ranges::count(c.look(), Verdict::preempt, &Decision::verdict), 0);
  c.now = kNow + seconds(60);
  EXPECT_EQ(std::ranges::count(c.look(), Verdict::preempt, &Decision::verdict), 1);
}

}  // namespace
}  // namespace fairlead::policy
