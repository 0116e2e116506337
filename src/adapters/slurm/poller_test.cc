#include "adapters/slurm/poller.h"

#include <gtest/gtest.h>

namespace fairlead::slurm {
namespace {

// A cluster that the test sets up: what it holds, and what goes wrong.
struct FakeReader : Reader {
  SlurmFacts cluster;
  std::string failing;  // the code with which `failing_part` fails
  Part failing_part = Part::jobs;
  int reads = 0, forgets = 0;

  Result<bool> read(Part part, SlurmFacts& facts) override {
    ++reads;
    if (!failing.empty() && part == failing_part) return fail(failing, "no answer", "start it");
    facts.start_mark = cluster.start_mark;
    if (part == Part::jobs) facts.jobs = cluster.jobs;
    if (part == Part::steps) facts.steps = cluster.steps;
    return true;
  }
  void forget() override { ++forgets; }
};

struct PollerTest : testing::Test {
  FakeReader reader;
  Instant now = instant_of_seconds(1000);
  Poller poller{reader, {}, {.now = [this] { return now; }}};

  PollerTest() {
    reader.cluster.start_mark = "1";
    reader.cluster.jobs = {{.id = 1, .state = JobState::running}};
  }
  std::vector<What> after(int64_t s) {
    now = now + seconds(s);
    return poller.round();
  }
  static bool full(const std::vector<What>& events) {
    return std::get<PollBegan>(events.front()).full;
  }
  static PollEnded end(const std::vector<What>& events) {
    return std::get<PollEnded>(events.back());
  }
};

TEST_F(PollerTest, BeginsFullAndThenTellsChanges) {
  EXPECT_TRUE(full(poller.round()));
  EXPECT_TRUE(after(1).empty());
  reader.cluster.jobs[0].comment = "x";
  const auto events = after(1);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_FALSE(full(events));
}

TEST_F(PollerTest, ShowsThatItIsAlive) {
  poller.round();
  EXPECT_TRUE(after(4).empty());
  EXPECT_LE(poller.next().us, (now + seconds(1)).us);
  EXPECT_EQ(after(1).size(), 2U);
}

TEST_F(PollerTest, AFailureDropsNothingAndTheNextPollCarriesOn) {
  poller.round();
  reader.failing = "slurm-unreachable";
  const auto failed = after(1);
  ASSERT_EQ(failed.size(), 2U);
  EXPECT_FALSE(end(failed).ok);
  EXPECT_EQ(end(failed).detail, "no answer; start it");
  EXPECT_EQ(poller.next(), now + kRetryAfter);
  reader.failing.clear();
  reader.cluster.jobs.push_back({.id = 2});
  EXPECT_TRUE(after(1).empty());
  const auto events = after(4);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_FALSE(full(events));
  EXPECT_TRUE(end(events).ok);
}

TEST_F(PollerTest, AFirstPollThatFailsIsFullLater) {
  reader.failing = "slurm-setup";
  EXPECT_FALSE(end(poller.round()).ok);
  reader.failing.clear();
  EXPECT_TRUE(full(after(5)));
}

TEST_F(PollerTest, WhatIsRefusedIsNamedAndTheRestGoesOn) {
  reader.failing = "slurm-refused";
  reader.failing_part = Part::rules;
  const auto events = poller.round();
  EXPECT_TRUE(end(events).ok);
  EXPECT_EQ(end(events).detail, "rules not readable: no answer");
  reader.failing_part = Part::jobs;  // without jobs there is nothing to tell
  EXPECT_FALSE(end(after(1)).ok);
}

TEST_F(PollerTest, AControllerStartedAnewIsReadWhole) {
  poller.round();
  reader.cluster.start_mark = "2";
  const int before = reader.reads;
  const auto events = after(5);
  EXPECT_TRUE(full(events));
  EXPECT_EQ(reader.forgets, 1);
  EXPECT_GE(reader.reads - before, static_cast<int>(kPartCount));
}

TEST_F(PollerTest, CountsTheStepsThatRun) {
  reader.cluster.steps[1] = 3;
  const auto events = poller.round();
  EXPECT_EQ(std::get<Job>(events[events.size() - 2]).steps, 3);
}

}  // namespace
}  // namespace fairlead::slurm
