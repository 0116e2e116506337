#include "contest/score.h"

#include <gtest/gtest.h>

#include "contest/contest.h"
#include "contest/entitlement.h"
#include "contest/rivals.h"
#include "contest/testing.h"

namespace fairlead::contest {
namespace {

constexpr int64_t kSecond = kMicrosPerSecond;

TEST(Score, WaitsAndSlowdownsAreThoseOfTheTable) {
  // 8 devices; lengths 100, 100, 5 one after the other: waits 0, 90, 180.
  const Match match = testing::match_of(1, 8,
                                        {{.submit = 0, .length = 100, .devices = 8},
                                         {.submit = 10, .length = 100, .devices = 8},
                                         {.submit = 20, .length = 5, .devices = 8}});
  const auto rival = make_fifo(match);
  const Score s = score_of(match, testing::played(match, *rival), {});
  EXPECT_EQ(
      s.all.wait_us,
      (Quantiles{
          .mean = 90 * kSecond, .p50 = 90 * kSecond, .p90 = 180 * kSecond, .p99 = 180 * kSecond}));
  EXPECT_EQ(s.all.completion_us.mean, (100 + 190 + 185) * kSecond / 3);
  // (wait + length) / max(length, 10 s): 1, 1.9, 18.5
  EXPECT_EQ(s.all.slowdown_milli.mean, (1000 + 1900 + 18500) / 3);
  EXPECT_EQ(s.makespan_us, 205 * kSecond);
  EXPECT_EQ(s.utilisation_ppm, 1'000'000);
  EXPECT_EQ(s.useful_ppm, 1'000'000);
  EXPECT_EQ(s.wait_quantiles_us.size(), 21u);
  EXPECT_EQ(s.wait_quantiles_us.back(), 180 * kSecond);
}

TEST(Score, FreeDevicesThatNoWaitingPartFitsAreFragmented) {
  // Two nodes with 5 of 8 taken until 100; from 10 on a gang of 4 waits: 6 are free, none of use.
  const Match match = testing::match_of(2, 8,
                                        {{.submit = 0, .length = 100, .devices = 5},
                                         {.submit = 0, .length = 100, .devices = 5},
                                         {.submit = 10, .length = 10, .devices = 4},
                                         {.submit = 60, .length = 10, .devices = 3}});
  const auto rival = make_fifo(match);
  const Score s = score_of(match, testing::played(match, *rival), {});
  EXPECT_EQ(s.fragmentation_ppm, 1'000'000);
  EXPECT_EQ(s.utilisation_ppm, 10 * 1'000'000 / 16);
}

TEST(Score, LostRunsAreUtilisedAndNotUseful) {
  const Match match = testing::match_of(
      1, 8,
      {{.submit = 0, .length = 100, .devices = 8}, {.submit = 200, .length = 1, .devices = 1}});
  struct Evictor : Rival {
    std::set<JobIndex> waiting;
    bool done = false;
    void waits(const Arena&, JobIndex job) override { waiting.insert(job); }
    void look(Arena& arena) override {
      for (const JobIndex job : std::set(waiting))
        if (arena.start(job)) waiting.erase(job);
      if (arena.now() >= testing::kZero + 40 && !done && arena.runs(0)) {
        done = true;
        arena.take_back(0);
        arena.start(0);
        waiting.erase(0);
      }
    }
    bool always_looks() const override { return true; }
    int64_t wake_at() const override { return done ? kNever : testing::kZero + 40; }
  } rival;
  const Score s = score_of(match, testing::played(match, rival), {});
  EXPECT_EQ(s.all.evictions, 1);
  EXPECT_EQ(s.all.lost_gpu_seconds, 8 * 40);
  EXPECT_EQ(s.utilisation_ppm, 140 * 1'000'000 / 200);
  EXPECT_EQ(s.useful_ppm, 100 * 1'000'000 / 200);
}

constexpr const char* kTwoTeams =
    "org acme v1\nlang 1\nclass low { rank 10 }\n"
    "team acme { own 16 H100\n team a { own 12 H100 }\n team b { own 4 H100 }\n}\n";

TEST(Score, FinishTimeFairnessComparesWithOnesOwn) {
  // b alone on its 4: 100 s. Behind a's 16 it takes 290.
  const Match match = testing::match_of(2, 8,
                                        {{.submit = 0, .length = 200, .devices = 8, .team = "a"},
                                         {.submit = 0, .length = 200, .devices = 8, .team = "a"},
                                         {.submit = 10, .length = 100, .devices = 4, .team = "b"}},
                                        kTwoTeams);
  const auto alone = completions_alone(match);
  EXPECT_EQ(alone, (std::vector<int64_t>{200, 400, 100}));  // a's second waits for its first
  const auto rival = make_fifo(match);
  const auto fairness = score_of(match, testing::played(match, *rival), alone).finish_time_fairness;
  ASSERT_TRUE(fairness);
  EXPECT_EQ(fairness->workloads, 3);
  EXPECT_EQ(fairness->worst_milli, 2900);
  EXPECT_EQ(fairness->mean_milli, (1000 + 500 + 2900) / 3);
  EXPECT_EQ(fairness->unfair_ppm, 333'333);
}

struct ShareRow {
  std::string_view name;
  std::vector<int64_t> wants;  // of acme itself, a, b
  std::vector<int64_t> fair;
};
const ShareRow kShareRows[] = {
    {"each what it owns", {0, 99, 99}, {0, 12, 4}},
    {"what one does not want goes to the other", {0, 2, 99}, {0, 2, 14}},
    {"nobody gets more than it wants", {0, 2, 3}, {0, 2, 3}},
    {"the root's own work gets what is left", {99, 2, 3}, {11, 2, 3}},
};

TEST(Entitlement, OwnFirstThenByWeight) {
  const Match match = testing::match_of(2, 8, {{.submit = 0, .length = 1}}, kTwoTeams);
  for (const ShareRow& row : kShareRows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(fair_amounts(match, row.wants), row.fair);
  }
  // a holds 16, of which 12 are its own, while b waits for 4: 4 of 16 are held by the wrong one.
  EXPECT_EQ(share_error_ppm(match, {0, 16, 0}, {0, 0, 4}), 250'000);
  EXPECT_EQ(share_error_ppm(match, {0, 16, 0}, {0, 0, 0}), std::nullopt);
}

TEST(Contest, TheSameSeedGivesTheSameAndAnotherAnother) {
  std::vector<testing::JobRow> rows;
  for (int i = 0; i < 60; ++i)
    rows.push_back({.submit = i * 60, .length = 300 + i * 13 % 700, .devices = 1 + i % 8});
  const Match match = testing::match_of(2, 8, rows);
  const auto play = [&](int64_t seeds) {
    return play_contest(match, {.rules = {"fifo", "easy"}, .seeds = seeds});
  };
  const auto once = play(5), again = play(5);
  EXPECT_EQ(once, again);
  EXPECT_EQ(digest_of(once), digest_of(again));
  EXPECT_NE(digest_of(once), digest_of(play(4)));
  EXPECT_EQ(once[0].digest, play(0)[0].digest);  // seed 0 is the history as it is
  for (const Score& s : once) {
    for (const Interval& i : s.seeds) {
      EXPECT_LE(i.low, i.mean) << i.metric;
      EXPECT_LE(i.mean, i.high) << i.metric;
    }
  }
  const Match changed = with_seed(match, 3);
  EXPECT_NE(changed.jobs.front().length, match.jobs.front().length);
  for (const Job& job : changed.jobs) {
    EXPECT_GE(job.submit, match.jobs.front().submit);
    EXPECT_EQ(job.limit, job.length);  // who knew its length knows it still
  }
}

}  // namespace
}  // namespace fairlead::contest
