#include "core/team_books.h"

#include <gtest/gtest.h>

#include "core/allocator.h"
#include "core/engine.h"

namespace fairlead {
namespace {

constexpr int64_t kStart = 1'796'025'600;

TEST(DeviceClasses, AnInstanceCountsAsThePartThatNobodyElseCanUse) {
  const auto milli = [](std::string_view model) { return amount_of(model, 1).value; };
  EXPECT_EQ(milli("h100"), 1000);
  EXPECT_EQ(milli("h100_1g.10gb"), 143) << "a seventh";
  EXPECT_EQ(milli("h100_1g.20gb"), 250) << "a quarter of its memory";
  EXPECT_EQ(milli("h100_3g.40gb"), 500) << "half of its memory, more than three sevenths";
  EXPECT_EQ(milli("h100_4g.40gb"), 571);
  EXPECT_EQ(milli("a100_7g.40gb"), 1000);
  EXPECT_EQ(milli("a30_1g.6gb"), 250);
  EXPECT_EQ(amount_of("h100_1g.10gb", 7).value, 1001);
}

// Quotas count what an instance is of its device, held or asked for.
TEST(DeviceClasses, InstancesAreInTheQuotas) {
  Engine engine("alpha", {});
  const auto step = [&](What what) {
    engine.step({.at = instant_of_seconds(kStart), .what = std::move(what)});
  };
  step(PollBegan{.full = true});
  step(Partition{.name = "all", .nodes = {"m1"}});
  step(Node{.name = "m1",
            .state = NodeState::mixed,
            .devices = {{"h100", 2}, {"h100_1g.10gb", 7}},
            .cpus = 64,
            .memory_mb = 512'000});
  step(OrganisationStated{
      .files = {{"a.policy",
                 "org a v1\nlang 1\nclass any { rank 1 }\nteam a {\n  own 3 "
                 "h100\n  default class any\n  team b { own 1 h100 borrow 0 h100 "
                 "members slurm account \"b\" }\n}\ndevices h100 { h100 }\n"}},
      .tables = {},
      .zones = {},
      .groups = {}});
  Job j{.id = 1, .label = "1", .user = "ana", .account = "b", .partition = "all"};
  j.state = JobState::running;
  j.start = instant_of_seconds(kStart - 60);
  j.request.devices = {.model = "h100_1g.10gb", .per_node = 7, .total = 7};
  j.held = {{.node = "m1", .devices = {2, 3, 4, 5, 6, 7, 8}, .device_count = 7}};
  step(j);
  Job waits{.id = 2, .label = "2", .user = "ana", .account = "b", .partition = "all"};
  waits.state = JobState::pending;
  waits.priority = 1;
  waits.request.devices = {.model = "h100", .per_node = 1, .total = 1};
  step(waits);
  step(PollEnded{});
  const State& state = engine.state();
  EXPECT_EQ(capacity_of(state)[0].value, 2000 + 7 * 143);
  EXPECT_EQ(quota_of(state).used(1, 0).value, 7 * 143);
  const auto verdict = verdict_on(state, state.workloads.at(*state.queues.find("2")));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->cause, policy::Cause::team_limit) << "seven sevenths are held";
}

}  // namespace
}  // namespace fairlead
