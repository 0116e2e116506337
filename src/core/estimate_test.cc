#include "core/estimate.h"

#include <gtest/gtest.h>

#include "core/test_jobs.h"
#include "core/test_restart.h"

namespace fairlead {
namespace {

constexpr int64_t kStart = 1'796'025'600;

constexpr std::string_view kAcme = R"(org acme v1
lang 1
class batch { rank 10 }
team acme {
  own 16 h100
  default class batch
  team product  { own 8 h100  members slurm account "prod" }
  team research { own 8 h100  members slurm account "res" }
}
devices h100 { h100 }
)";

Job job(uint32_t id, std::string user, int32_t nodes, int64_t limit_s) {
  Job j = waiting_job(id, "prod", nodes, 8, instant_of_seconds(kStart - 10'000 + id));
  j.user = std::move(user);
  j.request.time_limit_s = limit_s;
  return j;
}
Job started(Job j, int64_t at, const std::string& node) {
  return started_job(std::move(j), instant_of_seconds(kStart + at), {node});
}
Job ended(Job j, int64_t at) { return ended_job(std::move(j), instant_of_seconds(kStart + at)); }

// Two nodes of eight.
class Site {
 public:
  explicit Site(bool has_organisation = true) : engine_("alpha", {}) {
    std::vector<What> facts{Partition{.name = "all", .nodes = {"n1", "n2"}}, Qos{.name = "batch"}};
    for (const char* name : {"n1", "n2"})
      facts.push_back(Node{.name = name,
                           .state = NodeState::idle,
                           .devices = {{"h100", 8}},
                           .cpus = 64,
                           .memory_mb = 512'000});
    if (has_organisation)
      facts.push_back(OrganisationStated{
          .files = {{"acme.policy", std::string(kAcme)}}, .tables = {}, .zones = {}, .groups = {}});
    poll(0, facts);
  }
  void poll(int64_t at, const std::vector<What>& records) {
    const auto step = [&](What what) {
      engine_.step({.at = instant_of_seconds(kStart + at), .what = std::move(what)});
    };
    step(PollBegan{});
    for (const What& record : records) step(record);
    step(PollEnded{});
    EXPECT_EQ(engine_.recount(), "");
  }
  // So many runs of the user that took so long under a limit of 10,000 s, and are forgotten.
  void remember(const std::string& user, std::vector<int64_t> lengths) {
    for (const int64_t length : lengths) {
      const Job j = job(next_past_++, user, 1, 10'000);
      now_ += 60;
      const Job run = started(j, now_ - length, "n1");
      poll(now_, {run});
      poll(now_, {ended(run, now_)});
      poll(now_ += 1, {JobGone{j.id}});
    }
  }
  int64_t now() const { return now_; }
  const Estimates& estimates() const { return engine_.state().estimates; }
  const StartEstimate* of(uint32_t id) const {
    const auto workload = engine_.state().queues.find(std::to_string(id));
    if (!workload) return nullptr;
    const auto found = estimates().now.find(*workload);
    return found == estimates().now.end() ? nullptr : &found->second;
  }
  void restart() { engine_ = restarted(engine_); }
  Digest digest() const { return engine_.digest(); }

 private:
  Engine engine_;
  uint32_t next_past_ = 1000;
  int64_t now_ = 0;
};

Instant at(int64_t second) { return instant_of_seconds(kStart + second); }

TEST(Estimate, ByLimitsAloneWhereNothingElseIsKnown) {
  Site site;
  site.poll(100, {started(job(1, "ana", 1, 4000), 0, "n1"),
                  started(job(2, "ana", 1, 5000), 0, "n2"), job(3, "ana", 1, 600)});
  ASSERT_NE(site.of(3), nullptr);
  EXPECT_EQ(site.of(3)->latest.p50, at(4000));
  EXPECT_EQ(site.of(3)->latest.p90, at(4000));
  EXPECT_FALSE(site.of(3)->by_history);
}

TEST(Estimate, ByWhatTheUsersRunsTookOfTheirLimits) {
  Site site;
  site.remember("ana", {1000, 1000, 1000, 1000, 1000, 1000, 1000, 3000, 3000, 3000});
  const int64_t now = site.now();
  site.poll(now + 60, {started(job(1, "ana", 1, 20'000), now, "n1"),
                       started(job(2, "bo", 1, 20'000), now, "n2"), job(3, "ana", 2, 600)});
  ASSERT_NE(site.of(3), nullptr);
  EXPECT_TRUE(site.of(3)->by_history);
  // Both nodes have to be free: the later of two draws of a tenth (of ten seven times) and three.
  EXPECT_TRUE(site.of(3)->latest.p50 == at(now + 2000) || site.of(3)->latest.p50 == at(now + 6000));
  EXPECT_EQ(site.of(3)->latest.p90, at(now + 6000));
}

TEST(Estimate, ARunThatIsLongerThanMostIsNotOneOfTheShortOnes) {
  Site site;
  site.remember("ana", {1000, 1000, 1000, 1000, 1000, 1000, 1000, 3000, 3000, 3000});
  const int64_t now = site.now();
  site.poll(now + 2500, {started(job(1, "ana", 1, 20'000), now, "n1"),
                         started(job(2, "ana", 1, 20'000), now, "n2"), job(3, "ana", 1, 600)});
  EXPECT_EQ(site.of(3)->latest.p50, at(now + 6000));
}

TEST(Estimate, WhatNobodyCanSayIsNotSaid) {
  Site site;
  Job held = job(3, "ana", 1, 600);
  held.priority = 0;
  held.reason = "JobHeldUser";
  Job endless = started(job(1, "ana", 1, -1), 0, "n1");
  site.poll(100, {endless, started(job(2, "bo", 1, -1), 0, "n2"), held, job(4, "bo", 1, 600)});
  EXPECT_EQ(site.of(3), nullptr) << "it is held";
  EXPECT_EQ(site.of(4), nullptr) << "no run has a limit, and nothing is known of such";
  EXPECT_EQ(site.estimates().asked, 1);
  Site nobodys(false);
  nobodys.poll(100, {job(4, "bo", 1, 600)});
  EXPECT_FALSE(nobodys.estimates().made.known()) << "no organisation, no order";
}

TEST(Estimate, TheFirstPromiseStaysAndIsScored) {
  Site site;
  const Job one = job(1, "ana", 1, 4000), waits = job(3, "ana", 1, 600);
  site.poll(100, {started(one, 0, "n1"), started(job(2, "ana", 1, 9000), 0, "n2"), waits});
  Job longer = started(one, 0, "n1");
  longer.request.time_limit_s = 6000;
  site.poll(1000, {longer});
  EXPECT_EQ(site.of(3)->first, (Promise{at(100), at(4000), at(4000), at(4000)}));
  EXPECT_EQ(site.of(3)->latest, (Promise{at(1000), at(6000), at(6000), at(6000)}));
  site.poll(5000, {ended(longer, 4990), started(waits, 5000, "n1")});
  EXPECT_EQ(site.of(3), nullptr);
  const EstimateCard& card = site.estimates().card;
  EXPECT_EQ(card.started, 1);
  EXPECT_EQ(card.by_p50, 0);
  EXPECT_EQ(card.with_p90, 1);
  EXPECT_EQ(card.by_p90, 0);
  ASSERT_EQ(card.last.size(), 1u);
  EXPECT_EQ(card.last[0].first.p50, at(4000));
  EXPECT_EQ(card.last[0].latest.p50, at(6000));
  EXPECT_EQ(card.last[0].started, at(5000));
}

TEST(Estimate, AStartWithinAMinuteOfThePromiseIsNotLate) {
  Site site;
  const Job one = job(1, "ana", 1, 4000), waits = job(3, "ana", 1, 600);
  site.poll(100, {started(one, 0, "n1"), started(job(2, "ana", 1, 9000), 0, "n2"), waits});
  site.poll(4060, {ended(started(one, 0, "n1"), 4010), started(waits, 4055, "n1")});
  EXPECT_EQ(site.estimates().card.by_p50, 1);
}

TEST(Estimate, WhatIsPromisedForNowIsCountedByItself) {
  Site site;
  const Job waits = job(3, "ana", 1, 600), late = job(4, "ana", 1, 600);
  site.poll(100, {waits, late});
  EXPECT_EQ(site.of(3)->first.p50, at(100));
  site.poll(130, {started(waits, 120, "n1")});
  site.poll(900, {started(late, 890, "n2"), started(job(5, "ana", 1, 600), 890, "n1")});
  EXPECT_EQ(site.estimates().card.at_once, 2);
  EXPECT_EQ(site.estimates().card.at_once_came, 1);
  EXPECT_EQ(site.estimates().card.started, 0);
  EXPECT_EQ(site.estimates().card.not_told, 0) << "5 was never seen to wait";
}

// A scheduler under which everything takes three times as long as the plan would have it.
TEST(Estimate, WhatIsForeseenIsCorrectedByHowItCameOut) {
  Site site;
  uint32_t id = 100;
  int64_t now = 1000;
  const auto wait_out = [&](int64_t times) {
    const Job one = started(job(id++, "ana", 1, 1000), now, "n1"),
              two = started(job(id++, "ana", 1, 1000), now, "n2"), waits = job(id++, "ana", 1, 600);
    site.poll(now, {one, two, waits});
    const StartEstimate told = *site.of(waits.id);
    site.poll(now + 1000 * times, {ended(one, now + 500), ended(two, now + 500),
                                   started(waits, now + 1000 * times, "n1")});
    site.poll(
        now + 1000 * times + 1,
        {ended(started(waits, now + 1000 * times, "n1"), now + 1000 * times), JobGone{waits.id}});
    now += 10'000;
    return told.first;
  };
  for (size_t i = 0; i < kCorrectionLeast; ++i) {
    const int64_t from = now;
    EXPECT_EQ(wait_out(i % 5 == 0 ? 6 : 3).p50, at(from + 1000)) << "too few are known";
  }
  const int64_t from = now;
  const Promise told = wait_out(3);
  EXPECT_EQ(told.foreseen, at(from + 1000));
  EXPECT_EQ(told.p50, at(from + 3000));
  EXPECT_EQ(told.p90, at(from + 6000));
}

TEST(Estimate, ARestartChangesNothing) {
  Site site, other;
  for (Site* s : {&site, &other}) {
    s->remember("ana", {1000, 2000, 1500, 900, 800, 5000, 700, 300, 1200});
    s->poll(s->now() + 60, {started(job(1, "ana", 1, 20'000), s->now(), "n1"),
                            started(job(2, "bo", 1, 20'000), s->now(), "n2"), job(3, "ana", 2, 600),
                            job(4, "ana", 1, 600)});
    if (s == &other) other.restart();
    s->poll(s->now() + 600, {});
  }
  ASSERT_NE(site.of(3), nullptr);
  EXPECT_EQ(site.digest(), other.digest());
}

}  // namespace
}  // namespace fairlead
