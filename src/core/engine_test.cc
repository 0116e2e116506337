#include "core/engine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/snapshot.h"

namespace fairlead {
namespace {

constexpr int64_t kStart = 7200;  // the second at which the books open

EngineRules quick_rules() {
  EngineRules rules;
  rules.evidence.idle_hold_after = seconds(60);
  rules.evidence.stale_after = seconds(30);
  rules.source_grace = seconds(3600);
  return rules;
}

// Two nodes of eight h100, polled at whole seconds after kStart.
class Site {
 public:
  Site() : engine_("alpha", quick_rules()) {
    full_poll(0, {node("n1"), node("n2"), Partition{.name = "all", .nodes = {"n1", "n2"}}});
  }
  static Node node(std::string name, NodeState state = NodeState::idle) {
    return {.name = std::move(name),
            .state = state,
            .devices = {{"h100", 8}},
            .cpus = 64,
            .memory_mb = 1000};
  }
  static Job job(uint32_t id, JobState state, int64_t start = 0, int64_t end = 0) {
    Job j{.id = id,
          .label = std::to_string(id),
          .user = "ana",
          .account = "research",
          .qos = "batch",
          .partition = "all"};
    j.state = state;
    j.submit = instant_of_seconds(kStart - 100);
    if (start != 0) j.start = instant_of_seconds(kStart + start);
    if (end != 0) j.end = instant_of_seconds(kStart + end);
    j.request = {.devices = {.model = "h100", .per_node = 8, .total = 8}, .nodes_min = 1};
    return j;
  }
  static Job running(uint32_t id, std::string on, int64_t start,
                     std::vector<int32_t> devices = {0, 1, 2, 3, 4, 5, 6, 7}) {
    Job j = job(id, JobState::running, start);
    j.held = {{.node = std::move(on), .devices = std::move(devices)}};
    j.held[0].device_count = static_cast<int32_t>(j.held[0].devices.size());
    return j;
  }
  std::vector<Decision> step(int64_t second, What what) {
    auto decisions =
        engine_.step({.at = instant_of_seconds(kStart + second), .what = std::move(what)});
    EXPECT_EQ(engine_.recount(), "");
    return decisions;
  }
  std::vector<Decision> poll(int64_t second, std::vector<What> records, bool full = false) {
    std::vector<Decision> all;
    step(second, PollBegan{.full = full});
    for (What& record : records) {
      for (Decision& d : step(second, std::move(record))) all.push_back(std::move(d));
    }
    for (Decision& d : step(second, PollEnded{})) all.push_back(std::move(d));
    return all;
  }
  std::vector<Decision> full_poll(int64_t second, std::vector<What> records) {
    return poll(second, std::move(records), true);
  }
  std::vector<Decision> look(int64_t second, std::string node, int64_t ppm,
                             int64_t memory_mib = 60'000) {
    Samples samples;
    for (int32_t i = 0; i < 8; ++i) {
      samples.samples.push_back({.node = node,
                                 .index = i,
                                 .at = instant_of_seconds(kStart + second),
                                 .utilisation_ppm = ppm,
                                 .memory_used_mib = memory_mib});
    }
    step(second, samples);
    return step(second, PollEnded{.source = Source::telemetry});
  }
  ByColumn seconds_until(int64_t second) {
    step(second, Tick{});
    ByColumn sum;
    engine_.state().ledger.for_each(
        0, kStart + second, [&](const Account& a, int64_t, int64_t ms) { sum[a.column] += ms; });
    for (size_t c = 0; c < kColumns; ++c) sum[static_cast<Column>(c)] /= kMilli;
    return sum;
  }
  Engine& engine() { return engine_; }

 private:
  Engine engine_;
};

TEST(Engine, TheBooksOpenWithTheFleetAndNotWithAPollThatFailed) {
  Engine engine("lab", quick_rules());
  const auto step = [&](int64_t second, What what) {
    engine.step({.at = instant_of_seconds(kStart + second), .what = std::move(what)});
  };
  step(0, PollBegan{.full = true});
  step(0, PollEnded{.ok = false, .detail = "refused"});
  step(9, PollBegan{.full = true});
  step(9, Node{.name = "n1", .state = NodeState::idle, .devices = {{"h100", 8}}});
  step(9, PollEnded{});
  step(19, Tick{});
  int64_t sum = 0;
  const Ledger& ledger = engine.state().ledger;
  ledger.for_each(0, kStart + 19, [&](const Account&, int64_t, int64_t ms) { sum += ms; });
  EXPECT_EQ(ledger.data().opened, kStart + 9);
  EXPECT_EQ(sum, 8 * 10 * kMilli);
  EXPECT_EQ(engine.recount(), "");
}

TEST(Engine, AFreeFleetIsFree) {
  Site site;
  EXPECT_EQ(site.seconds_until(100), (ByColumn{.free = 16 * 100}));
}

TEST(Engine, AHeldDeviceWithoutASampleIsNotMeasurable) {
  Site site;
  site.poll(20, {Site::running(1, "n1", 10)});
  EXPECT_EQ(site.seconds_until(100),
            (ByColumn{.held_unmeasured = 8 * 90, .free = 16 * 100 - 8 * 90}));
}

TEST(Engine, LooksDecideBetweenUsefulAndIdle) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  site.look(20, "n1", 900'000);
  site.look(40, "n1", 0);
  site.look(60, "n1", 900'000);
  // 10 s before the first look, 20 + 30 s of work (then the look is stale), 20 s of idleness.
  EXPECT_EQ(site.seconds_until(100), (ByColumn{.useful = 8 * 50,
                                               .held_idle = 8 * 20,
                                               .held_unmeasured = 8 * 20,
                                               .free = 1600 - 8 * 90}));
}

TEST(Engine, ALookOfTheFutureCountsAsOfNow) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  Samples lie;
  for (int32_t i = 0; i < 8; ++i)
    lie.samples.push_back(
        {.node = "n1", .index = i, .at = {INT64_MAX}, .utilisation_ppm = 900'000});
  site.step(20, lie);
  site.look(30, "n1", 0);
  EXPECT_EQ(site.seconds_until(40), (ByColumn{.useful = 8 * 10,
                                              .held_idle = 8 * 10,
                                              .held_unmeasured = 8 * 10,
                                              .free = 16 * 40 - 8 * 30}));
}

TEST(Engine, ARunBetweenTwoLooksIsBookedWhenItIsSeen) {
  Site site;
  Job ended = Site::job(1, JobState::completed, 10, 30);
  ended.held = {{.node = "n1", .device_count = 8}};
  site.poll(50, {ended});
  EXPECT_EQ(site.seconds_until(100), (ByColumn{.held_unmeasured = 8 * 20, .free = 1600 - 8 * 20}));
}

TEST(Engine, AnEndIsBookedAtItsOwnSecond) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  Job ended = Site::job(1, JobState::completed, 10, 42);
  site.poll(50, {ended});
  site.poll(60, {ended});  // stated again: nothing more
  EXPECT_EQ(site.seconds_until(100).held(), 8 * 32);
}

TEST(Engine, AnEvictionMakesTheWorkLost) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  site.look(10, "n1", 900'000);
  site.look(35, "n1", 900'000);
  Job requeued = Site::job(1, JobState::pending);
  requeued.restarts = 1;
  requeued.submit = instant_of_seconds(kStart + 40);
  const auto decisions = site.poll(50, {requeued});
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::work_lost);
  EXPECT_EQ(decisions[0].device_seconds, 8 * 30);
  EXPECT_EQ(site.seconds_until(100).lost, 8 * 30);
  EXPECT_EQ(site.engine().state().workloads.size(), 1u);
}

TEST(Engine, LostWorkIsMovedInTheHourInWhichItWasDone) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  for (int64_t t = 10; t < 7300; t += 25) site.look(t, "n1", 900'000);
  Job failed = Site::job(1, JobState::node_fail, 10, 7250);
  site.poll(7300, {failed});
  ByColumn first_hour;
  site.engine().state().ledger.for_each(
      kStart, kStart + 3600,
      [&](const Account& a, int64_t, int64_t ms) { first_hour[a.column] += ms / kMilli; });
  EXPECT_EQ(first_hour.lost, 8 * 3590);
  EXPECT_EQ(first_hour.useful, 0);
  EXPECT_EQ(site.seconds_until(7300).lost, 8 * 7240);
}

TEST(Engine, ANodeThatIsDownHoldsNothing) {
  Site site;
  site.poll(10, {Site::node("n2", NodeState::down)});
  EXPECT_EQ(site.seconds_until(30), (ByColumn{.free = 16 * 10 + 8 * 20, .down = 8 * 20}));
}

TEST(Engine, FreeDevicesThatNoWaitingShapeFitsAreStranded) {
  Site site;
  Job gang = Site::job(2, JobState::pending);
  gang.request = {.devices = {.model = "h100", .per_node = 8, .total = 16}, .nodes_min = 2};
  site.poll(10, {Site::running(1, "n1", 10, {0}), gang});
  EXPECT_EQ(site.seconds_until(20).stranded, 15 * 10);
  Job small = Site::job(3, JobState::pending);
  small.request.devices = {.per_node = 8, .total = 8};
  site.poll(20, {small});  // fits on n2, so n2 is free; n1 has seven left
  EXPECT_EQ(site.seconds_until(30).stranded, 15 * 10 + 7 * 10);
}

TEST(Engine, AVanishedJobIsSaidAndItsDevicesComeBack) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  const auto decisions = site.full_poll(
      60, {Site::node("n1"), Site::node("n2"), Partition{.name = "all", .nodes = {"n1", "n2"}}});
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::workload_vanished);
  EXPECT_EQ(site.seconds_until(100).held(), 8 * 50);
}

TEST(Engine, AFullPollDropsWhatIsGoneWhileTheClockStandsBehind) {
  Site site;
  site.poll(5000, {Site::running(1, "n1", 10)});  // our clock was an hour ahead, and is right again
  for (const int64_t second : {100, 200}) {
    site.full_poll(second, {Site::node("n1"), Partition{.name = "all", .nodes = {"n1"}}});
    EXPECT_TRUE(site.engine().state().workloads.empty());
    EXPECT_EQ(site.engine().state().fleet.present_devices(), 8);
  }
}

TEST(Engine, AReusedIdIsAnotherWorkload) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  Job other = Site::running(1, "n2", 20);
  other.submit = instant_of_seconds(kStart + 15);
  other.user = "bob";
  const auto decisions = site.poll(30, {other});
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::workload_vanished);
  EXPECT_EQ(site.engine().state().workloads.begin()->second.job.user, "bob");
  EXPECT_EQ(site.engine().state().past.size(), 1u);
}

TEST(Engine, WithoutTheSchedulerNothingIsMeasurableAndNothingIsDropped) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  site.look(10, "n1", 900'000);
  site.step(20, PollEnded{.ok = false, .detail = "slurmctld does not answer"});
  site.look(5000, "n1", 900'000);  // more than the grace later
  EXPECT_TRUE(site.engine().state().frozen);
  site.look(5020, "n1", 900'000);
  const ByColumn seconds = site.seconds_until(5020);
  EXPECT_EQ(seconds.held(), 8 * 5010);
  EXPECT_EQ(seconds.useful, 0);
  const auto decisions = site.poll(5030, {});
  EXPECT_EQ(decisions[0].kind, DecisionKind::source_back);
  EXPECT_FALSE(site.engine().state().frozen);
}

TEST(Engine, IdleHoldsAreToldOnce) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  site.look(20, "n1", 900'000);
  EXPECT_TRUE(site.look(40, "n1", 0).empty());
  EXPECT_TRUE(site.look(69, "n1", 0).empty());
  const auto opened = site.look(100, "n1", 0);
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_EQ(opened[0].idle_kind, IdleKind::used_then_idle);
  EXPECT_TRUE(site.look(120, "n1", 0).empty());
  EXPECT_EQ(site.look(140, "n1", 900'000)[0].kind, DecisionKind::idle_hold_closed);
}

TEST(Engine, AJobStatedBeforeItsNodeGetsItsDevicesLater) {
  Site site;
  site.poll(10, {Site::running(1, "n9", 10)});
  EXPECT_EQ(site.engine().state().unplaced_milli, 8 * kMilli);
  site.poll(20, {Site::node("n9")});
  EXPECT_EQ(site.engine().state().unplaced_milli, 0);
  EXPECT_EQ(site.engine().state().workloads.begin()->second.devices.size(), 8u);
}

TEST(Engine, AJobRequeuedAfterItsEndIsNotEndedAndItsRunIsBookedOnce) {
  Site site;
  const Job failed = Site::job(1, JobState::failed, 10, 20);
  site.poll(10, {Site::running(1, "n1", 10)});
  site.poll(20, {failed});
  Job again = Site::job(1, JobState::pending);
  again.restarts = 1;
  site.poll(30, {again});
  EXPECT_FALSE(site.engine().state().workloads.begin()->second.ended);
  site.poll(40, {failed});  // a look that came late
  EXPECT_EQ(site.seconds_until(50).held(), 8 * 10);
}

TEST(Engine, AJobPutBackInLineHoldsNothingWhileItsNodesAreCleaned) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 5)});
  Job cleaned = Site::job(1, JobState::completing, 5, 20);
  cleaned.requeued = true;
  cleaned.restarts = 1;
  cleaned.submit = instant_of_seconds(kStart + 21);
  site.poll(22, {cleaned});
  Job waits = Site::job(1, JobState::pending);
  waits.requeued = true;
  waits.restarts = 1;
  waits.submit = cleaned.submit;
  site.poll(24, {waits});
  const ByColumn sum = site.seconds_until(30);
  EXPECT_EQ(sum.lost, 8 * 15);
  EXPECT_EQ(sum.lost + sum.free, 16 * 30);
}

TEST(Engine, ALookBetweenAStartAndItsStatementIsTheBeginningOfAStretch) {
  Site site;
  site.look(12, "n1", 0, 4);
  EXPECT_TRUE(site.poll(13, {Site::running(1, "n1", 10)}).empty());
  EXPECT_TRUE(site.look(60, "n1", 0, 4).empty());
  const auto opened = site.look(73, "n1", 0, 4);  // 60 s after the first look
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_EQ(opened[0].idle_kind, IdleKind::never_used);
}

TEST(Engine, ARequeueThatIsCountedBeforeItsNewSubmissionIsTheSameWorkload) {
  for (const JobState next : {JobState::pending, JobState::running}) {
    SCOPED_TRACE(enum_name(next));
    Site site;
    site.poll(10, {Site::running(1, "n1", 5)});
    Job cleaned = Site::job(1, JobState::completing, 5, 20);  // Slurm 22.05, up to some seconds
    cleaned.requeued = true;
    cleaned.restarts = 1;
    site.poll(22, {cleaned});
    Job again = next == JobState::running ? Site::running(1, "n1", 24) : Site::job(1, next);
    again.requeued = next == JobState::pending;
    again.restarts = 1;
    again.submit = instant_of_seconds(kStart + 23);
    EXPECT_TRUE(site.poll(25, {again}).empty());
    ASSERT_EQ(site.engine().state().workloads.size(), 1u);
    EXPECT_TRUE(site.engine().state().past.empty());
  }
}

TEST(Engine, ARequeueInTheSecondOfTheStartEndsTheRunThere) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  Job waits = Site::job(1, JobState::pending);
  waits.restarts = 1;
  waits.submit = instant_of_seconds(kStart + 10);
  site.poll(15, {waits});
  EXPECT_EQ(site.seconds_until(20).free, 16 * 20);
}

TEST(Engine, ARunBetweenTwoLooksIsOnTheNodesItNames) {
  Site site;
  site.poll(5, {});
  Job done = Site::job(1, JobState::completed, 10, 20);
  done.nodes = "n1";
  site.poll(30, {done});
  const ByColumn sum = site.seconds_until(30);
  EXPECT_EQ(sum.held_unmeasured, 8 * 10);
  EXPECT_EQ(sum.held_unmeasured + sum.free, 16 * 30);
}

TEST(Engine, AShrunkJobGivesBackWhatItLeft) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  site.poll(20, {Site::running(1, "n1", 10, {0, 1, 2, 3})});
  EXPECT_EQ(site.seconds_until(30).held(), 8 * 10 + 4 * 10);
}

TEST(Engine, AnEventFromABrokenClockIsRefused) {
  Site site;
  site.engine().step({.at = instant_of_seconds(kStart + 100 * 365 * 86400LL), .what = Tick{}});
  site.engine().step({.at = {-5}, .what = Tick{}});
  EXPECT_EQ(site.engine().state().events_refused, 2);
  EXPECT_EQ(site.seconds_until(10).total(), 160);
}

TEST(Engine, ASnapshotHasTheSameFuture) {
  Site site;
  site.poll(10, {Site::running(1, "n1", 10)});
  site.look(20, "n1", 900'000);
  StateParts parts;
  for_each_part(site.engine().state(), [&](const char* name, const auto& part) {
    for_each_member(parts, [&](const char* member, auto& into) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(into)>,
                                   std::remove_cvref_t<decltype(part)>>) {
        if (std::string_view(name) == member) into = part;
      }
    });
  });
  Engine copy(state_of(parts));
  EXPECT_EQ(copy.digest(), site.engine().digest());
  const Event next{.at = instant_of_seconds(kStart + 60),
                   .what = Site::job(1, JobState::preempted, 10, 55)};
  EXPECT_EQ(copy.step(next), site.engine().step(next));
  EXPECT_EQ(copy.digest(), site.engine().digest());
}

}  // namespace
}  // namespace fairlead
