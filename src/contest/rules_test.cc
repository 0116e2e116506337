// What each rule does, on matches small enough to be followed by hand; and what all must keep to.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "contest/rivals.h"
#include "contest/testing.h"

namespace fairlead::contest {
namespace {

using testing::JobRow;

struct RuleRow {
  std::string_view name, rule;
  int32_t nodes = 2, each = 8;
  std::vector<JobRow> jobs;
  std::vector<int64_t> want;  // when each began
};

const std::vector<JobRow> kBlocked = {
    // 12 of 16 run until 100 (limit 100); the next needs all 16; behind it one fits that ends by
    // 100
    // and one that does not.
    {.submit = 0, .length = 100, .devices = 12},
    {.submit = 1, .length = 50, .devices = 16},
    {.submit = 2, .length = 40, .devices = 4},
    {.submit = 3, .length = 200, .devices = 4},
};

const RuleRow kRuleRows[] = {
    {.name = "the first that waits blocks all",
     .rule = "fifo",
     .jobs = kBlocked,
     .want = {0, 100, 150, 150}},
    {.name = "who is over before the reservation overtakes",
     .rule = "easy",
     .jobs = kBlocked,
     .want = {0, 100, 2, 150}},
    {.name = "the same, with a promise to each",
     .rule = "conservative",
     .jobs = kBlocked,
     .want = {0, 100, 2, 150}},
    {.name = "ours reserves, too", .rule = "fairlead", .jobs = kBlocked, .want = {0, 100, 2, 150}},
    {.name = "Kueue reserves nothing: the large one waits for all that overtake it",
     .rule = "kueue",
     .jobs = kBlocked,
     .want = {0, 242, 2, 42}},
    {.name = "EASY looks at the first alone: the second may be delayed",
     .rule = "easy",
     .nodes = 1,
     .jobs = {{.submit = 0, .length = 100, .devices = 6},
              {.submit = 1, .length = 100, .devices = 4},   // first: reserved at 100
              {.submit = 2, .length = 100, .devices = 8},   // second: would be at 200
              {.submit = 3, .length = 300, .devices = 2}},  // not in the first one's way
     .want = {0, 100, 303, 3}},
    {.name = "conservative backfill delays nobody",
     .rule = "conservative",
     .nodes = 1,
     .jobs = {{.submit = 0, .length = 100, .devices = 6},
              {.submit = 1, .length = 100, .devices = 4},
              {.submit = 2, .length = 100, .devices = 8},
              {.submit = 3, .length = 300, .devices = 2}},
     .want = {0, 100, 200, 300}},
    {.name = "nodes count: 4 and 4 free are no 8 on one node",
     .rule = "easy",
     .jobs = {{.submit = 0, .length = 100, .devices = 5},
              {.submit = 0, .length = 50, .devices = 5},
              {.submit = 1, .length = 10, .devices = 6}},
     .want = {0, 0, 50}},
    {.name = "shortest remaining time stops the longer and goes on with it",
     .rule = "srtf",
     .nodes = 1,
     .jobs = {{.submit = 0, .length = 100, .devices = 8},
              {.submit = 10, .length = 20, .devices = 8}},
     .want = {30, 10}},
    {.name = "by devices times time the small one goes first",
     .rule = "srsf",
     .nodes = 1,
     .jobs = {{.submit = 0, .length = 10, .devices = 8},
              {.submit = 1, .length = 30, .devices = 8},
              {.submit = 1, .length = 40, .devices = 1}},
     .want = {41, 50, 1}},
};

TEST(Rules, DoWhatTheySay) {
  for (const RuleRow& row : kRuleRows) {
    SCOPED_TRACE(row.name);
    const Match match = testing::match_of(row.nodes, row.each, row.jobs);
    const auto rival = rival_kind(row.rule)->make(match);
    EXPECT_EQ(testing::starts_of(testing::played(match, *rival)), row.want) << row.rule;
  }
}

constexpr const char* kTwoTeams =
    "org acme v1\nlang 1\n"
    "class high { rank 50 preempts low }\nclass low { rank 10 }\n"
    "team acme { own 16 H100\n team a { own 8 H100 }\n team b { own 8 H100 }\n}\n";

TEST(Rules, WhatWasLentIsTakenBack) {
  const Match match =
      testing::match_of(2, 8,
                        {{.submit = 0, .length = 1000, .devices = 8, .team = "b", .klass = "low"},
                         {.submit = 1, .length = 1000, .devices = 8, .team = "b", .klass = "low"},
                         {.submit = 100, .length = 50, .devices = 8, .team = "a", .klass = "low"}},
                        kTwoTeams);
  for (const char* rule : {"kueue", "fairlead"}) {
    SCOPED_TRACE(rule);
    const auto rival = rival_kind(rule)->make(match);
    const Outcome outcome = testing::played(match, *rival);
    EXPECT_EQ(outcome.fates[2].start - testing::kZero, 100);
    EXPECT_EQ(outcome.fates[0].evictions + outcome.fates[1].evictions, 1);
    EXPECT_EQ(outcome.fates[1].evictions, 1);  // the youngest has lost least
    EXPECT_EQ(outcome.fates[1].lost, 8 * 99);
    EXPECT_EQ(outcome.fates[1].start - testing::kZero, 150);
    EXPECT_EQ(outcome.fates[1].end - testing::kZero, 1150);
  }
}

TEST(Rules, OursWaitsBeforeItTakesBackAndKeepsToTheCap) {
  const std::string policy =
      std::string(kTwoTeams) + "reclaim for-waiting { wait 5m most 1 evictions per 10m }\n";
  const Match match = testing::match_of(
      2, 8,
      {{.submit = 0, .length = 9000, .devices = 8, .team = "b", .klass = "low"},
       {.submit = 1, .length = 9000, .devices = 4, .team = "b", .klass = "low"},
       {.submit = 1, .length = 9000, .devices = 4, .team = "b", .klass = "low"},
       {.submit = 100, .length = 5000, .devices = 4, .team = "a", .klass = "low"},
       {.submit = 100, .length = 5000, .devices = 4, .team = "a", .klass = "low"}},
      policy);
  const auto rival = make_fairlead(match);
  const Outcome outcome = testing::played(match, *rival);
  EXPECT_EQ(outcome.fates[3].start - testing::kZero, 400);
  EXPECT_EQ(outcome.fates[4].start - testing::kZero, 1000);
}

TEST(Rules, NothingIsTakenBackThatWouldNotMakeRoomOnANode) {
  // Each node holds 4 of a's own and 4 that b borrowed: freed, they are no 8 on one node.
  const std::string policy =
      "org acme v1\nlang 1\nclass low { rank 10 }\n"
      "team acme { own 16 H100\n team a { own 16 H100 }\n team b { }\n}\n";
  const Match match =
      testing::match_of(2, 8,
                        {{.submit = 0, .length = 500, .devices = 4, .team = "a", .klass = "low"},
                         {.submit = 1, .length = 500, .devices = 4, .team = "b", .klass = "low"},
                         {.submit = 2, .length = 500, .devices = 4, .team = "a", .klass = "low"},
                         {.submit = 3, .length = 500, .devices = 4, .team = "b", .klass = "low"},
                         {.submit = 10, .length = 10, .devices = 8, .team = "a", .klass = "low"}},
                        policy);
  const auto rival = make_fairlead(match);
  const Outcome outcome = testing::played(match, *rival);
  for (const Fate& f : outcome.fates) EXPECT_EQ(f.evictions, 0);
  EXPECT_EQ(outcome.fates[4].start - testing::kZero, 501);
}

TEST(Rules, FairShareLetsTheTeamThatHadLittleGoFirst) {
  const std::string policy =
      "org acme v1\nlang 1\nclass low { rank 10 }\n"
      "team acme { own 8 H100\n team a { }\n team b { }\n}\n";
  std::vector<JobRow> jobs;
  for (int i = 0; i < 10; ++i)
    jobs.push_back({.submit = i, .length = 1000, .devices = 8, .team = "a", .klass = "low"});
  jobs.push_back({.submit = 20, .length = 1000, .devices = 8, .team = "b", .klass = "low"});
  const Match match = testing::match_of(1, 8, jobs, policy);
  for (const char* rule : {"slurm-multifactor", "fairlead"}) {
    SCOPED_TRACE(rule);
    const auto rival = rival_kind(rule)->make(match);
    EXPECT_EQ(testing::played(match, *rival).fates[10].start - testing::kZero, 1000);
  }
  const auto fifo = make_fifo(match);
  EXPECT_EQ(testing::played(match, *fifo).fates[10].start - testing::kZero, 10'000);
}

// --- what all must keep to

constexpr const char* kTree =
    "org acme v1\nlang 1\n"
    "class high { rank 50 preempts low }\nclass mid { rank 30 }\nclass low { rank 10 min-run 1m }\n"
    "team acme { own 48 H100\n"
    " team a { own 16 H100 lend 8 H100\n  team a1 { own 8 H100 }\n  team a2 { } }\n"
    " team b { own 8 H100 borrow 16 H100 weight 2 }\n team c { own 24 H100 }\n}\n"
    "reclaim for-waiting { wait 1m most 5 evictions per 10m }\n";

Match random_match(uint64_t seed, const char* policy, int32_t nodes, int32_t each) {
  Rng rng(seed);
  std::vector<JobRow> jobs;
  const std::string teams[] = {"a/a1", "a/a2", "b", "c", "a"};
  const std::string classes[] = {"high", "mid", "low", "low"};
  const int64_t sizes[] = {1, 1, 1, 2, 4, 8, 16};
  for (int i = 0; i < 150; ++i) {
    const int64_t length = rng.between(1, 900);
    jobs.push_back({.submit = rng.between(0, 3000),
                    .length = length,
                    .devices = sizes[rng.below(std::size(sizes))],
                    .limit = rng.chance(500'000) ? length : length * rng.between(1, 5),
                    .team = teams[rng.below(std::size(teams))],
                    .klass = classes[rng.below(std::size(classes))]});
  }
  return testing::match_of(nodes, each, jobs, policy);
}

TEST(Rules, NobodyHoldsMoreThanThereIsAndAllEndOnce) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const Match match = random_match(seed, kTree, 6, 8);
    for (const RivalKind& kind : rival_kinds()) {
      SCOPED_TRACE(std::string(kind.name) + ", seed " + std::to_string(seed));
      const auto rival = kind.make(match);
      const Outcome outcome = testing::played(match, *rival);
      std::vector<std::pair<int64_t, int64_t>> changes;
      for (size_t i = 0; i < match.jobs.size(); ++i) {
        const Fate& f = outcome.fates[i];
        const Job& j = match.jobs[i];
        if (f.end == 0) continue;  // above its team's limit, for ever
        EXPECT_GE(f.start, j.submit);
        if (f.stops == 0) {
          EXPECT_EQ(f.end - f.start, j.length);
        }
        changes.emplace_back(f.start, j.gang.total());
        changes.emplace_back(f.end, -j.gang.total());
      }
      EXPECT_GT(changes.size(), match.jobs.size());
      std::ranges::sort(changes);
      int64_t held = 0;
      for (const auto& [at, change] : changes) EXPECT_LE(held += change, 48);
      const auto again = kind.make(match);
      EXPECT_EQ(digest_of(testing::played(match, *again)), digest_of(outcome));
    }
  }
}

}  // namespace
}  // namespace fairlead::contest
