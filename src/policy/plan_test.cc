#include "policy/plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "policy/test_cluster.h"

namespace fairlead::policy {
namespace {

// Three levels, guarantees that add up, three classes that preempt downwards.
TestCluster any_cluster() {
  TestCluster c;
  c.capacity = devices(*rc::gen::inRange<int64_t>(8, 40));
  c.org.devices = {{.name = "H100", .models = {"H100"}}};
  c.org.classes = {{.name = "a",
                    .rank = 10,
                    .preempts = {},
                    .anywhere_up_to = {},
                    .most_devices = {},
                    .most_time = {}},
                   {.name = "b",
                    .rank = 20,
                    .preempts = {0},
                    .anywhere_up_to = {},
                    .most_devices = {},
                    .most_time = {}},
                   {.name = "c",
                    .rank = 30,
                    .preempts = {0, 1},
                    .anywhere = *rc::gen::arbitrary<bool>(),
                    .anywhere_up_to = Amount{kH100, devices(4)},
                    .most_devices = {},
                    .most_time = {}}};
  const auto add = [&](TeamId parent, Milli own) {
    Team team;
    team.parent = parent;
    team.half_life = seconds(7 * 24 * 3600);
    team.weight = *rc::gen::inRange<int64_t>(0, 4);
    Limits limits{.own = own};
    if (*rc::gen::inRange(0, 3) == 0) limits.borrow = devices(*rc::gen::inRange<int64_t>(0, 8));
    if (*rc::gen::inRange(0, 3) == 0)
      limits.lend = devices(*rc::gen::inRange<int64_t>(0, own.value / 1000 + 1));
    team.limits = {limits};
    c.org.teams.push_back(team);
    return static_cast<TeamId>(c.org.teams.size() - 1);
  };
  const TeamId root = add(0, c.capacity);
  int64_t left = c.capacity.value / 1000;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    const auto own = *rc::gen::inRange<int64_t>(0, left + 1);
    left -= own;
    const TeamId team = add(root, devices(own));
    int64_t left_here = own;
    for (int k = *rc::gen::inRange(0, 3); k > 0; --k) {
      const auto part = *rc::gen::inRange<int64_t>(0, left_here + 1);
      left_here -= part;
      add(team, devices(part));
    }
    c.org.teams[team].end = static_cast<TeamId>(c.org.teams.size());
  }
  for (TeamId t = 0; t < c.org.teams.size(); ++t)
    if (c.org.teams[t].end == 0) c.org.teams[t].end = t + 1;
  c.org.teams[root].end = static_cast<TeamId>(c.org.teams.size());
  const auto jobs = *rc::gen::inRange<WorkId>(1, 25);
  for (WorkId id = 0; id < jobs; ++id) {
    c.waiting.push_back(
        {.id = id,
         .team = *rc::gen::inRange<TeamId>(0, static_cast<TeamId>(c.org.teams.size())),
         .klass = *rc::gen::inRange<ClassId>(0, 3),
         .device = kH100,
         .size = devices(*rc::gen::inRange<int64_t>(1, 9)),
         .since = kNow - seconds(*rc::gen::inRange<int64_t>(0, 1000)),
         .time_max = {}});
  }
  return c;
}

// Work that came when the cluster was empty; the rest comes later.
TestCluster any_full_cluster() {
  TestCluster c = any_cluster();
  std::vector<Work> later(c.waiting.begin() + static_cast<ptrdiff_t>(c.waiting.size() / 2),
                          c.waiting.end());
  c.waiting.resize(c.waiting.size() / 2);
  c.apply(c.look());
  c.waiting.insert(c.waiting.end(), later.begin(), later.end());
  c.now = c.now + seconds(60);
  return c;
}

RC_GTEST_PROP(Plan, KeepsEveryLimitAndNeverGivesTwice, ()) {
  TestCluster c = any_full_cluster();
  const auto decisions = c.look();
  std::set<WorkId> told;
  for (const Decision& d : decisions)
    if (d.verdict != Verdict::preempt) RC_ASSERT(told.insert(d.work).second);
  RC_ASSERT(told.size() == c.waiting.size());
  c.apply(decisions);
  RC_ASSERT(c.free().value >= 0);
  const Quota quota = c.quota();
  for (TeamId t = 0; t < c.org.teams.size(); ++t)
    RC_ASSERT(quota.inner(t, kH100) <= quota.limit(t, kH100));
}

RC_GTEST_PROP(Plan, DoesNotDependOnTheOrderOfItsInput, ()) {
  TestCluster c = any_full_cluster();
  const auto decisions = c.look();
  std::ranges::reverse(c.running);
  std::ranges::rotate(c.waiting, c.waiting.begin() + static_cast<ptrdiff_t>(c.waiting.size() / 3));
  RC_ASSERT(c.look() == decisions);
}

// With nothing from outside, no pair of claimant and victim comes twice, and there is an end.
RC_GTEST_PROP(Plan, PairsDoNotRepeat, ()) {
  TestCluster c = any_full_cluster();
  std::set<std::pair<WorkId, WorkId>> pairs;
  constexpr int kCyclesMax = 200;
  for (int cycle = 0;; ++cycle) {
    RC_ASSERT(cycle < kCyclesMax);
    const auto decisions = c.look();
    bool acted = false;
    for (const Decision& d : decisions) {
      acted = acted || d.verdict == Verdict::admit;
      if (d.verdict != Verdict::preempt) continue;
      RC_ASSERT(pairs.emplace(d.claimant, d.work).second);
    }
    if (!acted) break;
    c.apply(decisions);
    c.now = c.now + seconds(60);
  }
}

// Whoever is preempted is preempted for somebody who is admitted in the same plan.
RC_GTEST_PROP(Plan, TakesBackForWhoeverFitsThen, ()) {
  const TestCluster c = any_full_cluster();
  const auto decisions = c.look();
  for (const Decision& d : decisions) {
    if (d.verdict != Verdict::preempt) continue;
    RC_ASSERT(std::ranges::any_of(decisions, [&](const Decision& other) {
      return other.verdict == Verdict::admit && other.work == d.claimant;
    }));
  }
}

TestCluster one_team(int64_t capacity) {
  TestCluster c;
  c.capacity = devices(capacity);
  c.org.devices = {{.name = "H100", .models = {"H100"}}};
  c.org.classes = {{.name = "batch",
                    .rank = 10,
                    .preempts = {},
                    .anywhere_up_to = {},
                    .most_devices = {},
                    .most_time = {}}};
  Team team;
  team.end = 1;
  team.half_life = seconds(24 * 3600);
  team.limits = {{.own = c.capacity}};
  c.org.teams = {team};
  return c;
}

TEST(Plan, BackfillsAroundAReservation) {
  TestCluster c = one_team(20);
  const auto work = [](WorkId id, int64_t size, int64_t hours) {
    return Work{.id = id,
                .team = 0,
                .klass = 0,
                .device = kH100,
                .size = devices(size),
                .since = kNow + seconds(static_cast<int64_t>(id)),
                .time_max = seconds(hours * 3600)};
  };
  c.running = {{.work = work(100, 8, 4),
                .started = kNow,
                .ends = kNow + seconds(4 * 3600),
                .kept_till = {}}};
  c.waiting = {work(1, 16, 24), work(2, 4, 4), work(3, 2, 24), work(4, 4, 24), work(5, 2, 5)};
  const auto decisions = c.look();
  const auto verdict = [&](WorkId id) {
    return *std::ranges::find(decisions, id, &Decision::work);
  };
  EXPECT_EQ(verdict(1).verdict, Verdict::reserve);
  EXPECT_EQ(to_text(verdict(1).short_by), "4");
  EXPECT_EQ(verdict(1).at, kNow + seconds(4 * 3600));
  EXPECT_EQ(verdict(2).verdict, Verdict::admit) << "is over by then";
  EXPECT_EQ(verdict(3).verdict, Verdict::admit) << "four are spare then";
  EXPECT_EQ(verdict(4).cause, Cause::reservation) << "only two are spare then";
  EXPECT_EQ(verdict(5).verdict, Verdict::admit) << "the last two that are spare";
}

// More candidates than are searched exactly: no victim that could stay is taken.
TEST(Plan, GivesBackWhomTheClaimantDoesNotNeed) {
  TestCluster c = one_team(63);
  for (int i = 0; i < 2; ++i) {
    Team child;
    child.end = static_cast<TeamId>(i + 2);
    child.half_life = seconds(24 * 3600);
    child.limits = {{.own = devices(i == 0 ? 5 : 0)}};
    c.org.teams.push_back(child);
  }
  c.org.teams[0].end = 3;
  for (WorkId id = 0; id < 15; ++id) {
    const Work work{.id = id,
                    .team = 2,
                    .klass = 0,
                    .device = kH100,
                    .size = devices(id < 3 ? 1 : 5),
                    .since = kNow,
                    .time_max = {}};
    c.running.push_back(
        {.work = work, .started = kNow - seconds(600), .ends = {}, .kept_till = {}});
  }
  c.waiting = {{.id = 99,
                .team = 1,
                .klass = 0,
                .device = kH100,
                .size = devices(5),
                .since = kNow,
                .time_max = {}}};
  const auto decisions = c.look();
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_EQ(decisions[0].verdict, Verdict::preempt);
  EXPECT_EQ(decisions[0].work, 3u);
  EXPECT_EQ(decisions[1].verdict, Verdict::admit);
}

TEST(Plan, SharesFollowWeightAndUsage) {
  TestCluster c = one_team(8);
  for (int i = 0; i < 2; ++i) {
    Team child;
    child.end = static_cast<TeamId>(i + 2);
    child.half_life = seconds(24 * 3600);
    child.weight = i == 0 ? 3 : 1;
    child.limits = {Limits{}};
    c.org.teams.push_back(child);
  }
  c.org.teams[0].end = 3;
  for (WorkId id = 0; id < 16; ++id)
    c.waiting.push_back({.id = id,
                         .team = id < 8 ? TeamId{2} : TeamId{1},
                         .klass = 0,
                         .device = kH100,
                         .size = devices(1),
                         .since = kNow,
                         .time_max = {}});
  c.apply(c.look());
  EXPECT_EQ(to_text(c.quota().used(1, kH100)), "6");
  EXPECT_EQ(to_text(c.quota().used(2, kH100)), "2");
}

}  // namespace
}  // namespace fairlead::policy
