#include "core/allocator.h"

#include <gtest/gtest.h>

#include "base/hostlist.h"
#include "base/rng.h"
#include "core/test_jobs.h"
#include "core/test_restart.h"

namespace fairlead {
namespace {

constexpr int64_t kStart = 7200;

constexpr std::string_view kAcme = R"(org acme v1
lang 1
class batch { rank 10 }
class spot  { rank 1 }
team acme {
  own 32 h100
  default class batch
  team product  { own 16 h100  members slurm account "prod" }
  team research { own 16 h100  members slurm account "res" }
}
devices h100 { h100 }
)";

Job job(uint32_t id, std::string account, int32_t nodes, int32_t per_node) {
  return waiting_job(id, std::move(account), nodes, per_node, instant_of_seconds(kStart + id));
}
Job started(Job j, int64_t at, const std::vector<std::string>& nodes) {
  return started_job(std::move(j), instant_of_seconds(kStart + at), nodes);
}
Job ended(Job j, int64_t at) { return ended_job(std::move(j), instant_of_seconds(kStart + at)); }

// Four nodes of eight under two leaves.
class Site {
 public:
  Site() : engine_("alpha", {}) {
    Partition all{.name = "all", .nodes = {"n1", "n2", "n3", "n4"}};
    std::vector<What> facts{all, Qos{.name = "batch"},
                            Topology{{{.name = "leaf0", .nodes = {"n1", "n2"}},
                                      {.name = "leaf1", .nodes = {"n3", "n4"}}}}};
    for (const std::string& name : all.nodes)
      facts.push_back(Node{.name = name,
                           .state = NodeState::idle,
                           .devices = {{"h100", 8}},
                           .cpus = 64,
                           .memory_mb = 512'000});
    facts.push_back(OrganisationStated{
        .files = {{"acme.policy", std::string(kAcme)}}, .tables = {}, .zones = {}, .groups = {}});
    poll(0, facts);
  }
  std::vector<Decision> poll(int64_t at, const std::vector<What>& records) {
    std::vector<Decision> decisions;
    const auto step = [&](What what) {
      for (Decision& d :
           engine_.step({.at = instant_of_seconds(kStart + at), .what = std::move(what)}))
        decisions.push_back(std::move(d));
    };
    step(PollBegan{});
    for (const What& record : records) step(record);
    step(PollEnded{});
    EXPECT_EQ(engine_.recount(), "");
    return decisions;
  }
  // All devices of a node are looked at.
  void look(int64_t at, const std::string& node, int64_t ppm) {
    Samples samples;
    for (int32_t i = 0; i < 8; ++i)
      samples.samples.push_back({.node = node,
                                 .index = i,
                                 .at = instant_of_seconds(kStart + at),
                                 .utilisation_ppm = ppm,
                                 .memory_used_mib = 4});
    engine_.step({.at = instant_of_seconds(kStart + at), .what = samples});
    engine_.step(
        {.at = instant_of_seconds(kStart + at), .what = PollEnded{.source = Source::telemetry}});
  }
  // All of them are held; on n2 nothing is done.
  void watch_n2_idle(int64_t from, int64_t until) {
    for (int64_t at = from; at <= until; at += 10) {
      for (const char* node : {"n1", "n2", "n3", "n4"})
        look(at, node, std::string_view(node) == "n2" ? 0 : 900'000);
      poll(at, {});
    }
  }
  const State& state() const { return engine_.state(); }
  const Suggestion* suggested(uint32_t id) const {
    const auto workload = state().queues.find(std::to_string(id));
    if (!workload) return nullptr;
    const auto found = state().suggested.now.find(*workload);
    return found == state().suggested.now.end() ? nullptr : &found->second;
  }
  void restart() { engine_ = restarted(engine_); }
  Digest digest() const { return engine_.digest(); }

 private:
  Engine engine_;
};

TEST(Allocator, StartsWhatFitsWhereItFits) {
  Site site;
  Job gang = job(1, "prod", 2, 8);
  gang.request.switches = 1;
  site.poll(10, {started(job(9, "res", 1, 8), 5, {"n1"}), gang, job(2, "res", 1, 4)});
  ASSERT_NE(site.suggested(1), nullptr);
  EXPECT_EQ(site.suggested(1)->nodes, "n[3-4]") << "one leaf";
  EXPECT_EQ(site.suggested(1)->devices, 16);
  ASSERT_NE(site.suggested(2), nullptr);
  EXPECT_EQ(site.suggested(2)->nodes, "n2");
}

// A maintenance window of n1 begins in an hour and takes two.
TEST(Allocator, NothingStandsWhereItWouldMeetAReservation) {
  Site site;
  const auto kept = [](int64_t from, int64_t to) {
    return Reservation{.name = "maint",
                       .start = instant_of_seconds(kStart + from),
                       .end = instant_of_seconds(kStart + to),
                       .nodes = {"n1"},
                       .flags = {"MAINT"}};
  };
  Job whole = job(1, "prod", 4, 8), half = job(2, "prod", 2, 8);
  whole.request.time_limit_s = half.request.time_limit_s = 1800;
  const auto nodes_of = [&](uint32_t id) {
    const Suggestion* s = site.suggested(id);
    return s == nullptr ? std::string() : s->nodes;
  };
  site.poll(10, {whole, kept(3600, 3 * 3600)});
  EXPECT_EQ(nodes_of(1), "n[1-4]") << "it would be over by then";
  site.poll(1801, {});
  EXPECT_EQ(nodes_of(1), "") << "not any more";
  site.poll(1810, {half});
  EXPECT_EQ(nodes_of(2), "n[3-4]") << "of one leaf";
  Job own = whole;
  own.reservation = "maint";
  site.poll(1820, {own});
  EXPECT_EQ(nodes_of(1), "n[1-4]") << "it is kept for this one";
  site.poll(1830, {whole, kept(4 * 3600, 5 * 3600)});
  EXPECT_EQ(nodes_of(1), "n[1-4]") << "moved away";
  site.poll(4 * 3600 - 60, {});
  EXPECT_EQ(nodes_of(1), "");
  site.restart();
  site.poll(4 * 3600 - 50, {});
  EXPECT_EQ(nodes_of(1), "") << "as if there had been no restart";
  site.poll(5 * 3600, {});
  EXPECT_EQ(nodes_of(1), "n[1-4]") << "it is over";
}

TEST(Allocator, EnoughDevicesAndNotTogether) {
  Site site;
  std::vector<What> facts;
  for (uint32_t i = 1; i <= 4; ++i)
    facts.push_back(started(job(10 + i, "prod", 1, 1), 5, {"n" + std::to_string(i)}));
  facts.push_back(job(1, "res", 1, 8));
  site.poll(10, facts);
  ASSERT_NE(site.suggested(1), nullptr);
  EXPECT_EQ(site.suggested(1)->kind, SuggestionKind::make_room) << "one device would be moved";
  ASSERT_NE(site.state().allocation, nullptr);
  const auto& own = site.state().allocation->plan.own;
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].cause, policy::Cause::shape);
  EXPECT_EQ(own[0].at, instant_of_seconds(kStart + 5 + 3600)) << "the first node that is whole";
}

TEST(Allocator, TakesBackForWhoIsEntitled) {
  Site site;
  std::vector<What> facts;
  for (uint32_t i = 1; i <= 4; ++i) {
    facts.push_back(started(job(10 + i, "prod", 1, 8), 5, {"n" + std::to_string(i)}));
    std::get<Job>(facts.back()).request.time_limit_s = 86'400;
  }
  facts.push_back(job(1, "res", 2, 8));
  const auto decisions = site.poll(3000, facts);
  ASSERT_NE(site.suggested(1), nullptr);
  ASSERT_EQ(site.suggested(1)->victims.size(), 2u);
  const Suggestion& taken_back = site.state().suggested.now.at(site.suggested(1)->victims[0]);
  EXPECT_EQ(taken_back.rule, "own");
  EXPECT_EQ(taken_back.lost_device_seconds, 8 * (3000 - 5)) << "since its start, nothing was saved";
  int64_t taken = 0;
  for (const Decision& d : decisions) taken += d.kind == DecisionKind::take_back_suggested;
  EXPECT_EQ(taken, 2);
  EXPECT_TRUE(site.poll(3060, {}).empty()) << "what is said already is not said again";
}

// They end in ten minutes at the latest, and have run for fifty.
TEST(Allocator, WaitsForWhatEndsSoonAndRemembersSinceWhen) {
  Site site;
  std::vector<What> facts;
  for (uint32_t i = 1; i <= 4; ++i)
    facts.push_back(started(job(10 + i, "prod", 1, 8), 5, {"n" + std::to_string(i)}));
  facts.push_back(job(1, "res", 2, 8));
  site.poll(3000, facts);
  EXPECT_EQ(site.suggested(1), nullptr);
  site.poll(3030, {});
  site.restart();
  const WorkloadId id = *site.state().queues.find("1");
  EXPECT_EQ(site.state().suggested.claims.at(work_id(id)), instant_of_seconds(kStart + 3000));
  site.poll(3060, {});
  const auto verdict = verdict_on(site.state(), site.state().workloads.at(id));
  ASSERT_TRUE(verdict && verdict->patience);
  EXPECT_EQ(verdict->patience->ends, policy::devices(16));
  EXPECT_EQ(verdict->patience->by, instant_of_seconds(kStart + 3605));
  EXPECT_EQ(verdict->patience->lost_device_seconds, 16 * (3060 - 5));
  EXPECT_EQ(verdict->patience->saved_device_seconds, 16 * (3605 - 3060));
}

TEST(Allocator, ASuggestionIsScoredByTheStart) {
  Site site;
  const Job waits = job(1, "prod", 1, 8);
  site.poll(100, {waits});
  ASSERT_NE(site.suggested(1), nullptr);
  site.poll(160, {});
  EXPECT_EQ(site.suggested(1)->since, instant_of_seconds(kStart + 100));
  site.poll(400, {started(waits, 390, {"n2"})});
  EXPECT_EQ(site.suggested(1), nullptr);
  const ScoreCard& card = site.state().suggested.card;
  EXPECT_EQ(card.started, 1);
  EXPECT_EQ(card.sooner_s, 290);
  EXPECT_EQ(card.sooner_device_s, 290 * 8);
  EXPECT_EQ(card.without_victims, 1);
  ASSERT_EQ(card.last.size(), 1u);
  EXPECT_EQ(card.last[0].workload, "1");
}

TEST(Allocator, TasksOfAnArrayStartTogether) {
  Site site;
  Job array = job(1, "prod", 1, 2);
  array.array = {.id = 1, .waiting = "0-9", .waiting_count = 10};
  site.poll(10, {started(job(9, "prod", 3, 8), 5, {"n1", "n2", "n3"}), array});
  ASSERT_NE(site.suggested(1), nullptr);
  EXPECT_EQ(site.suggested(1)->tasks, 4);
  EXPECT_EQ(site.suggested(1)->nodes, "n4");
  EXPECT_EQ(site.suggested(1)->devices, 8);
}

// `--nodes=1-3`, `--gpus-per-node=8`: as many as are free, since that ends first.
TEST(Allocator, StartsInAFormThatItAccepts) {
  Site site;
  Job ranged = job(1, "prod", 1, 8);
  ranged.request.nodes_max = 3;
  ranged.request.tasks = 1;
  const auto decisions = site.poll(10, {started(job(9, "res", 2, 8), 5, {"n1", "n2"}), ranged});
  ASSERT_NE(site.suggested(1), nullptr);
  EXPECT_EQ(site.suggested(1)->devices, 16);
  EXPECT_EQ(site.suggested(1)->nodes, "n[3-4]");
  const auto start = std::ranges::find(decisions, DecisionKind::start_suggested, &Decision::kind);
  ASSERT_NE(start, decisions.end());
  EXPECT_EQ(start->reason,
            "1 would start now on n[3-4] with 16 devices in place of 8, likely to end by " +
                to_rfc3339(instant_of_seconds(kStart + 10 + 1800)) + " and not by " +
                to_rfc3339(instant_of_seconds(kStart + 10 + 3600)));
  Job fixed = job(2, "prod", 1, 8);
  fixed.request.nodes_max = 3;
  fixed.request.tasks = 3;  // as Slurm fills it in from -n
  site.poll(20, {ended(started(job(9, "res", 2, 8), 5, {}), 20), ended(ranged, 20), fixed});
  ASSERT_NE(site.suggested(2), nullptr);
  EXPECT_EQ(site.suggested(2)->devices, 8);
}

constexpr std::string_view kRules = R"(org acme v2
lang 1
class batch { rank 10 }
team acme {
  own 32 h100
  default class batch
  team product  { own 16 h100  budget 20 h100 h per 7d hard  members slurm account "prod" }
  team research { own 16 h100  members slurm account "res" }
}
devices h100 { h100 }
reclaim idle { kinds never-used  requeue after 30m  most 8 gpu per 10m }
)";

OrganisationStated stated(std::string_view text) {
  return {.files = {{"acme.policy", std::string(text)}}, .tables = {}, .zones = {}, .groups = {}};
}

// Eight devices for three hours are 24 of 20.
TEST(Allocator, AHardBudgetThatIsSpentDefers) {
  Site site;
  const Job first = started(job(9, "prod", 1, 8), 5, {"n1"});
  site.poll(10, {stated(kRules), first, job(1, "prod", 1, 8)});
  EXPECT_NE(site.suggested(1), nullptr);
  site.poll(3 * 3600, {});
  EXPECT_EQ(site.suggested(1), nullptr);
  const auto workload = site.state().queues.find("1");
  ASSERT_TRUE(workload);
  const auto verdict = verdict_on(site.state(), site.state().workloads.at(*workload));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->cause, policy::Cause::budget);
}

// Nobody is over what it owns; one of them does nothing with it.
TEST(Allocator, WhatIsIdleForLongIsTakenByTheLadder) {
  Site site;
  std::vector<What> facts{stated(kRules)};
  for (uint32_t i = 1; i <= 4; ++i)
    facts.push_back(
        started(job(10 + i, i < 3 ? "prod" : "res", 1, 8), 5, {"n" + std::to_string(i)}));
  facts.push_back(job(1, "prod", 1, 8));
  site.poll(10, facts);
  site.watch_n2_idle(10, 1500);
  EXPECT_EQ(site.suggested(1), nullptr) << "an idle hold, and not for half an hour";
  site.watch_n2_idle(1510, 2400);
  ASSERT_NE(site.suggested(1), nullptr);
  ASSERT_EQ(site.suggested(1)->victims.size(), 1u);
  const WorkloadId victim = site.suggested(1)->victims[0];
  EXPECT_EQ(site.state().workloads.at(victim).job.id, 12u);
  EXPECT_EQ(site.state().suggested.now.at(victim).rule, "idle");
  EXPECT_EQ(site.state().suggested.now.at(victim).lost_device_seconds, 5 * 8)
      << "until the first look, before which nobody knows what it did";
}

// The file has a rung to requeue and none to cancel.
TEST(Allocator, WhatMayNotBeRequeuedIsNotTakenByThatRung) {
  Site site;
  std::vector<What> facts{stated(kRules)};
  for (uint32_t i = 1; i <= 4; ++i) {
    facts.push_back(
        started(job(10 + i, i < 3 ? "prod" : "res", 1, 8), 5, {"n" + std::to_string(i)}));
    std::get<Job>(facts.back()).may_requeue = false;
  }
  facts.push_back(job(1, "prod", 1, 8));
  site.poll(10, facts);
  site.watch_n2_idle(10, 2400);
  EXPECT_EQ(site.suggested(1), nullptr);
}

// Half of it is on a node that nobody stated: what it does there is not known.
TEST(Allocator, WhatIsSeenInPartIsNotIdle) {
  Site site;
  std::vector<What> facts{stated(kRules)};
  for (uint32_t i = 1; i <= 4; ++i) {
    Job one = started(job(10 + i, i < 3 ? "prod" : "res", 1, 8), 5, {"n" + std::to_string(i)});
    if (i == 2) {
      one = started(job(12, "prod", 2, 8), 5, {"n2", "n9"});
      one.request.devices.total = 16;
    }
    facts.push_back(one);
  }
  facts.push_back(job(1, "prod", 1, 8));
  site.poll(10, facts);
  site.watch_n2_idle(10, 2400);
  for (const auto& [id, suggestion] : site.state().suggested.now)
    EXPECT_NE(suggestion.rule, "idle") << site.state().workloads.at(id).job.label;
}

// An instance is a seventh of a device, waiting as well as held.
TEST(Allocator, InstancesThatAreAskedForAreParts) {
  Site site;
  std::vector<What> facts;
  for (const char* name : {"n1", "n2", "n3", "n4"})
    facts.push_back(Node{.name = name,
                         .state = NodeState::idle,
                         .devices = {{"h100_1g.10gb", std::string_view(name) == "n1" ? 7 : 0}},
                         .cpus = 64,
                         .memory_mb = 512'000});
  for (uint32_t id = 1; id <= 4; ++id) {
    facts.push_back(job(id, "prod", 1, 1));
    std::get<Job>(facts.back()).request.devices.model = "h100_1g.10gb";
  }
  site.poll(10, facts);
  for (uint32_t id = 1; id <= 4; ++id) EXPECT_NE(site.suggested(id), nullptr) << id;
}

// A run that was thrown away is left alone until it has done that again.
TEST(Allocator, WhatWasRequeuedIsSparedForAsLong) {
  Site site;
  std::vector<What> facts;
  std::vector<Job> jobs;
  for (uint32_t i = 1; i <= 4; ++i)
    facts.push_back(started(job(10 + i, "prod", 1, 8), 5, {"n" + std::to_string(i)}));
  site.poll(10, facts);
  facts.clear();
  for (uint32_t i = 1; i <= 4; ++i) {
    Job again = job(10 + i, "prod", 1, 8);
    again.requeued = true;
    again.restarts = 1;
    facts.push_back(again);
  }
  site.poll(1000, facts);
  facts.clear();
  for (uint32_t i = 1; i <= 4; ++i) {
    Job again = started(job(10 + i, "prod", 1, 8), 1010, {"n" + std::to_string(i)});
    again.restarts = 1;
    facts.push_back(again);
  }
  facts.push_back(job(1, "res", 1, 8));
  site.poll(1020, facts);
  EXPECT_EQ(site.suggested(1), nullptr) << "a quarter of an hour was lost a moment ago";
  site.poll(1010 + 1000, {});
  EXPECT_NE(site.suggested(1), nullptr);
}

// Whatever happens, what is kept from look to look gives what a fresh start gives.
TEST(Allocator, DoesNotDependOnWhatItLookedAtBefore) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    Site one, other;
    std::map<uint32_t, Job> jobs;
    uint32_t next = 1;
    for (int64_t at = 10; at < 400; at += 10) {
      std::vector<What> facts;
      for (auto& [id, j] : jobs) {
        if (j.state == JobState::running && rng.below(8) == 0) {
          j = ended(j, at);
          facts.push_back(j);
        }
      }
      for (uint64_t i = rng.below(3); i > 0; --i, ++next) {
        jobs[next] = job(next, rng.below(2) == 0 ? "prod" : "res",
                         1 + static_cast<int32_t>(rng.below(2)), 1 << rng.below(4));
        facts.push_back(jobs[next]);
      }
      for (auto& [id, j] : jobs) {  // a scheduler that follows one suggestion in two
        const Suggestion* start = one.suggested(id);
        if (start == nullptr || start->kind != SuggestionKind::start || !start->victims.empty() ||
            j.state != JobState::pending || rng.below(2) == 0)
          continue;
        std::vector<std::string> nodes;
        for (const auto& [w, workload] : one.state().workloads) {
          if (workload.job.id != id) continue;
          const auto names = expand_hostlist(start->nodes);
          nodes = *names;
        }
        std::vector<NodeShare> held;
        for (const std::string& name : nodes) {
          const FleetNode& node = one.state().fleet.node(*one.state().fleet.find(name));
          NodeShare share{.node = name, .device_count = j.request.devices.per_node};
          for (const DeviceIndex d : node.devices)
            if (one.state().devices[d].holder == 0 &&
                std::ssize(share.devices) < share.device_count)
              share.devices.push_back(one.state().fleet.device(d).index);
          held.push_back(share);
        }
        j = started(j, at, {});
        j.held = held;
        facts.push_back(j);
        break;
      }
      one.poll(at, facts);
      other.restart();
      other.poll(at, facts);
      ASSERT_EQ(one.digest(), other.digest()) << "seed " << seed << " at " << at;
    }
    EXPECT_GT(one.state().suggested.card.started, 0);
  }
}

}  // namespace
}  // namespace fairlead
