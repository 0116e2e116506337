#include "core/team_books.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "core/allocator.h"
#include "core/budgets.h"
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

// What is kept of hours that are over is what would be summed anew, whatever is told late.
TEST(TeamBooks, WhatIsKeptOfClosedHoursIsAsIfSummedAnew) {
  Engine engine("alpha", {});
  engine.step({.at = instant_of_seconds(kStart),
               .what = OrganisationStated{
                   .files = {{"a.policy",
                              "org a v1\nlang 1\nclass any { rank 1 }\nteam a {\n  own 8 h100\n  "
                              "half-life 1h\n  default class any\n  team b { own 4 h100  budget 40 "
                              "h100 h per 1d hard  members slurm account \"b\" }\n  team c { own 4 "
                              "h100 half-life 7h members slurm account \"c\" }\n}\ndevices h100 { "
                              "h100 }\n"}},
                   .tables = {},
                   .zones = {},
                   .groups = {}}});
  State state(engine.state());
  ASSERT_TRUE(state.organisation);
  const NameId model = state.names.intern("h100");
  const std::vector<NameId> teams{state.names.intern("a/b"), state.names.intern("a/c"),
                                  state.names.intern("b"), state.names.intern("nobody")};
  Rng rng(7);
  UsagesSoFar usages;
  BudgetsSoFar budgets;
  int64_t second = kStart;
  state.ledger.open(second);
  for (int step = 0; step < 400; ++step) {
    second += static_cast<int64_t>(rng.below(2000));
    state.ledger.advance(second);
    state.now = instant_of_seconds(second);
    const Account account{.model = model,
                          .team = teams[rng.below(teams.size())],
                          .column = rng.below(3) == 0 ? Column::held_idle : Column::useful};
    const bool is_late = rng.below(4) == 0;
    const int64_t at = second - (is_late ? static_cast<int64_t>(rng.below(9 * 3600)) : 0);
    state.ledger.post(account, 1000 * (1 + static_cast<int64_t>(rng.below(3))), at);
    if (rng.below(2) == 0)
      state.ledger.post(account, -1000, at + static_cast<int64_t>(rng.below(3600)));
    ASSERT_EQ(usages.until_now(state).direct, usages_of(state).direct) << step;
    ASSERT_EQ(usages.until_now(state).with_children, usages_of(state).with_children) << step;
    ASSERT_EQ(budgets.used(state), budgets_used(state)) << step;
  }
}

}  // namespace
}  // namespace fairlead
