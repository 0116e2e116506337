// Cases that must hold, one by one: what others got wrong, with the numbers of the report.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/rng.h"
#include "policy/test_cluster.h"

namespace fairlead::policy {
namespace {

// Two guarantees are full, one over its own; what waits would go over its own, too.
TEST(Cases, AClaimBeyondItsOwnEvictsAtMostOnce) {
  TestCluster c = test_cluster(300, {test_class("best-effort", 1), test_class("batch", 10, {0})});
  const TeamId a = c.add_team(kRoot, devices(150));
  c.add_team(kRoot, devices(150));
  const TeamId be = c.add_team(kRoot, {});
  c.run(1, a, 250, 1);
  c.run(2, be, 50, 0);
  c.submit(3, a, 50, 1);
  for (int cycle = 0; cycle < 1000; ++cycle) {
    c.now = c.now + seconds(60);
    c.act();
    c.settle();
    if (cycle % 10 == 0) c.spent.clear();  // as if something had ended
  }
  EXPECT_LE(c.preempted[2], 1);
  EXPECT_EQ(c.evictions(), c.preempted[2]);
  const auto last = c.look();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_NE(last[0].cause, Cause::none) << "whoever waits is told why";
}

// Nine devices, weights 3:1. While the victim ends, fifty looks find nothing more to do.
TEST(Cases, TheSameVictimWhileItEnds) {
  TestCluster c = test_cluster(9, {test_class("batch", 10)});
  const TeamId t1 = c.add_team(kRoot, devices(7)), t2 = c.add_team(kRoot, devices(2));
  for (WorkId id = 1; id <= 8; ++id) c.run(id, t1, 1);
  c.submit(20, t2, 1);
  c.submit(21, t2, 1);
  c.act();
  ASSERT_EQ(c.evictions(), 1);
  for (int i = 0; i < 50; ++i) {
    c.now = c.now + seconds(1);
    EXPECT_TRUE(c.look().empty());
  }
  c.settle();
  c.act();
  EXPECT_EQ(c.evictions(), 1);
  EXPECT_TRUE(c.runs(20) && c.runs(21));
}

// One deserves 3 and runs 4, the other deserves 5, runs 1 and waits with 4.
TEST(Cases, TheWaiterGetsWhatWasFreed) {
  TestCluster c = test_cluster(8, {test_class("batch", 10)});
  const TeamId q1 = c.add_team(kRoot, devices(3)), q2 = c.add_team(kRoot, devices(5));
  c.run(1, q1, 4);
  c.run(2, q2, 1);
  c.submit(3, q2, 4);
  for (int cycle = 0; cycle < 100; ++cycle) {
    c.act();
    c.settle();
    c.now = c.now + seconds(60);
  }
  EXPECT_EQ(c.preempted[1], 1);
  EXPECT_EQ(c.evictions(), 1);
  EXPECT_TRUE(c.runs(3));
  const auto last = c.look();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].work, 1u);
  EXPECT_EQ(last[0].cause, Cause::devices);
  EXPECT_EQ(last[0].short_by, devices(1));
}

// Ten of A's end each minute, five evictions are allowed in ten: B has its 50 within six minutes.
TEST(Cases, ChurnFirstAndEvictionsWithinTheirCap) {
  TestCluster c = test_cluster(100, {test_class("batch", 10)});
  const TeamId a = c.add_team(kRoot, devices(50)), b = c.add_team(kRoot, devices(50));
  c.org.for_waiting =
      ReclaimForWaiting{.wait = seconds(60), .ask = {}, .most = Cap{5, seconds(600)}};
  for (WorkId id = 0; id < 100; ++id) c.run(id, a, 1);
  for (WorkId id = 1000; id < 1050; ++id) c.submit(id, b, 1);
  for (WorkId id = 2000; id < 2100; ++id) c.submit(id, a, 1);  // A would take all again
  c.evictions_left = 5;
  const auto of_b = [&] {
    return std::ranges::count_if(c.running, [&](const RunningWork& r) { return r.work.team == b; });
  };
  WorkId next_end = 0;
  int64_t lost = 0, minutes = 0;
  for (; of_b() < 50 && minutes < 10; ++minutes) {
    for (int i = 0; i < 10 && minutes > 0; ++next_end)
      if (c.runs(next_end)) c.end(next_end), ++i;
    const auto decisions = c.look();
    for (const Decision& d : decisions)
      if (d.verdict == Verdict::preempt)
        lost += (c.now - c.find_running(d.work)->started).us / 1'000'000;
    c.apply(decisions);
    c.settle();
    c.now = c.now + seconds(60);
  }
  EXPECT_EQ(of_b(), 50);
  EXPECT_LE(minutes, 6);
  EXPECT_EQ(c.evictions(), 5);
  EXPECT_GE(next_end, 45u) << "by churn";
  EXPECT_GE(lost, 5 * 3600);
  for (const Work& w : c.waiting) {
    if (w.id < 100) {
      EXPECT_EQ(w.since, kNow) << "a victim keeps its age";
    }
  }
}

// Usage above a limit, after a set restarted: nothing is admitted, and nothing evicted.
TEST(Cases, HeadroomBelowZeroBlocksAndEvictsNothing) {
  TestCluster c = test_cluster(100, {test_class("batch", 10)});
  const TeamId t = c.add_team(kRoot, devices(32));
  c.org.teams[t].limits[0].borrow = {};
  for (WorkId id = 1; id <= 3; ++id) c.run(id, t, 16);  // 48 at once
  EXPECT_EQ(c.quota().headroom(t, kH100), Milli{} - devices(16));
  c.submit(9, t, 8);
  c.act();
  EXPECT_EQ(c.evictions(), 0);
  EXPECT_EQ(c.look().at(0).cause, Cause::team_limit);
  c.end(1);
  c.act();
  EXPECT_FALSE(c.runs(9)) << "32 of 32";
  c.end(2);
  c.act();
  EXPECT_TRUE(c.runs(9));
}

TEST(Cases, ASpentBudget) {
  TestCluster c = test_cluster(8, {test_class("batch", 10)});
  const TeamId rich = c.add_team(kRoot, devices(4)), poor = c.add_team(kRoot, devices(4));
  c.submit(1, poor, 4);
  c.now = c.now + seconds(1);
  c.submit(2, rich, 8);
  c.budgets = {BudgetState::within, BudgetState::within, BudgetState::hard_over};
  auto decisions = c.look();
  EXPECT_EQ(decisions.at(0).work, 2u);
  EXPECT_EQ(decisions.at(0).verdict, Verdict::admit);
  EXPECT_EQ(decisions.at(1).cause, Cause::budget);
  EXPECT_EQ(decisions.at(1).team, poor);
  // Soft: all it asks for is borrowed, as far as the order goes.
  c.budgets[poor] = BudgetState::soft_over;
  c.waiting.pop_back();
  c.submit(2, rich, 4);
  c.submit(3, poor, 4);
  c.submit(4, rich, 4);
  decisions = c.look();
  EXPECT_EQ(decisions.at(0).work, 2u) << "entitled goes first, though it came later";
}

// Eight are free; Z is refused each time that it is bound, Y fits.
TEST(Cases, WhoIsRefusedByTheSchedulerIsParked) {
  TestCluster c = test_cluster(8, {test_class("batch", 10)});
  const std::string message = "Requested node configuration is not available";
  c.submit(1, kRoot, 8);  // Z
  c.now = c.now + seconds(1);
  c.submit(2, kRoot, 8);       // Y
  std::vector<int64_t> tried;  // Z, in seconds from the first time
  const Instant begin = c.now;
  std::optional<int64_t> y_started;
  int cycles_parked = 0;
  for (; c.now < begin + seconds(3600); c.now = c.now + seconds(1)) {
    const auto decisions = c.look();
    for (const Decision& d : decisions) {
      if (d.verdict != Verdict::admit) continue;
      if (d.work == 1) {
        tried.push_back(whole_seconds(c.now - begin));
        c.parking.refused(1, message, c.now);
      } else if (!y_started) {
        y_started = cycles_parked;  // and it ends at once
      }
    }
    const Parking::Stay* stay = c.parking.find(1, c.now);
    if (stay == nullptr) continue;
    EXPECT_EQ(stay->cause, message);
    ++cycles_parked;
    const auto parked = std::ranges::find(decisions, Cause::parked, &Decision::cause);
    if (parked != decisions.end()) {
      EXPECT_EQ(parked->at, stay->until);
    }
  }
  ASSERT_GE(tried.size(), 10u);
  std::vector<int64_t> waits;
  for (size_t i = 1; i < 10; ++i) waits.push_back(tried[i] - tried[i - 1]);
  EXPECT_EQ(waits, (std::vector<int64_t>{1, 1, 10, 20, 40, 80, 160, 320, 600}));
  ASSERT_TRUE(y_started);
  EXPECT_LE(*y_started, 2);
  c.parking.refused(1, "another cause", c.now);
  EXPECT_EQ(c.parking.find(1, c.now), nullptr) << "begins anew";
}

// A gang of four loses a node, and a newcomer of the same class is there first.
TEST(Cases, AGangThatLostANodeStandsFirstAndIsWhole) {
  TestCluster c = test_cluster(4, {test_class("batch", 10)});
  c.submit(1, kRoot, 4);
  c.act();
  ASSERT_TRUE(c.runs(1));
  c.end(1);  // a node fails; the gang is put back whole, with its age
  c.capacity = devices(3);
  c.waiting.push_back(c.work(1, kRoot, 4));
  c.now = c.now + seconds(60);
  c.submit(2, kRoot, 1);
  c.waiting.back().time_max = seconds(3600);
  c.act();
  ASSERT_TRUE(c.runs(2)) << "who moves nobody's start may use the three";
  c.find_running(2)->ends = c.now + seconds(3600);
  c.capacity = devices(4);  // the node is back
  WorkId next = 3;
  for (int minute = 0; minute < 60; ++minute) {
    c.now = c.now + seconds(60);
    c.submit(next, kRoot, 1);  // and would last for ever
    ++next;
    c.act();
    for (WorkId id = 3; id < next; ++id) ASSERT_FALSE(c.runs(id)) << "would move the gang's start";
  }
  c.end(2);
  c.act();
  EXPECT_TRUE(c.runs(1));
  EXPECT_EQ(c.find_running(1)->work.size, devices(4));
}

// No pair of claimant and victim comes twice without a finish, a submission or another policy.
// FAIRLEAD_RUNS=100000 for the long form.
TEST(Cases, NoPairRepeatsInRandomTrees) {
  const char* asked = std::getenv("FAIRLEAD_RUNS");
  const int runs = asked == nullptr ? 300 : std::atoi(asked);
  for (int run = 0; run < runs; ++run) {
    Rng rng(static_cast<uint64_t>(run));
    TestCluster c = test_cluster(
        64, {test_class("a", 10), test_class("b", 20, {0}), test_class("c", 30, {0, 1})});
    c.org.classes[2].anywhere = rng.below(2) == 0;
    c.org.classes[2].anywhere_up_to = Amount{kH100, devices(8)};
    int64_t left = 64;
    for (int i = 0; i < 4; ++i) {
      const auto own = static_cast<int64_t>(rng.below(static_cast<uint64_t>(left) + 1));
      left -= own;
      const TeamId team = c.add_team(kRoot, devices(own));
      int64_t here = own;
      for (int k = 0; k < 4; ++k) {
        const auto part = static_cast<int64_t>(rng.below(static_cast<uint64_t>(here) + 1));
        here -= part;
        c.add_team(team, devices(part));
      }
    }
    const auto teams = static_cast<uint64_t>(c.org.teams.size());
    const auto submit = [&](WorkId id) {
      c.submit(id, static_cast<TeamId>(rng.below(teams)), 1 + static_cast<int64_t>(rng.below(8)),
               static_cast<ClassId>(rng.below(3)));
    };
    WorkId next = 0;
    while (next < 100) submit(next++);
    c.act();
    while (next < 200) submit(next++);
    std::set<std::pair<WorkId, WorkId>> pairs;
    for (int cycle = 0;; ++cycle) {
      ASSERT_LT(cycle, 500) << "seed " << run;
      c.now = c.now + seconds(60);
      const auto decisions = c.look();
      bool acts = false;
      for (const Decision& d : decisions) {
        acts = acts || d.verdict == Verdict::admit;
        if (d.verdict == Verdict::preempt) {
          ASSERT_TRUE(pairs.emplace(d.claimant, d.work).second) << "seed " << run;
        }
      }
      if (!acts) break;
      c.apply(decisions);
      c.settle();
    }
  }
}

}  // namespace
}  // namespace fairlead::policy
