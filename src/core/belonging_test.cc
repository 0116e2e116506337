#include "core/belonging.h"

#include <gtest/gtest.h>

#include "core/test_restart.h"

namespace fairlead {
namespace {

constexpr int64_t kStart = 7200;  // the second at which the books open

constexpr std::string_view kAcme = R"(org acme v1
lang 1
class batch { rank 10 }
class spot  { rank 1 }
team acme {
  own 8 h100
  team product {
    own     8 h100
    classes batch
    members slurm account "prod-*"
    default class batch
    team search { members slurm account "prod-search" }
  }
  team research { members group "science" }
}
devices h100 { h100 }
)";

OrganisationStated stated(std::string_view text) {
  return {.files = {{"acme.policy", std::string(text)}},
          .tables = {},
          .zones = {},
          .groups = {{"science", {"ana"}}}};
}

Job job(uint32_t id, JobState state, std::string account = "prod-search", int64_t start = 0) {
  Job j{.id = id,
        .label = std::to_string(id),
        .user = "bob",
        .account = std::move(account),
        .qos = "batch",
        .partition = "all"};
  j.state = state;
  j.submit = instant_of_seconds(kStart);
  j.start = start == 0 ? Instant{} : instant_of_seconds(kStart + start);
  j.request.devices = {.model = "h100", .per_node = 4, .total = 4};
  if (holds_devices(state)) j.held = {{.node = "n1", .devices = {0, 1, 2, 3}, .device_count = 4}};
  return j;
}

class Site {
 public:
  Site() : engine_("alpha", {}) {
    poll(0, {Partition{.name = "all", .nodes = {"n1"}}, Qos{.name = "batch"},
             Node{.name = "n1", .state = NodeState::idle, .devices = {{"h100", 8}}}});
  }
  void poll(int64_t at, const std::vector<What>& records, bool full = false) {
    step(at, PollBegan{.full = full});
    for (const What& record : records) step(at, record);
    step(at, PollEnded{});
  }
  void step(int64_t at, What what) {
    engine_.step({.at = instant_of_seconds(kStart + at), .what = std::move(what)});
    EXPECT_EQ(engine_.recount(), "");
  }
  const State& state() const { return engine_.state(); }
  const Workload& only() const {
    EXPECT_EQ(state().workloads.size(), 1u);
    return state().workloads.begin()->second;
  }
  std::string team() const { return state().names.name(only().team); }
  std::string klass() const { return state().names.name(only().klass); }
  void restart() { engine_ = restarted(engine_); }
  // Milli-device-seconds that are booked under a team until now.
  int64_t booked(std::string_view team) const {
    int64_t sum = 0;
    const auto id = state().names.find(team);
    state().ledger.for_each(0, floor_seconds(state().now),
                            [&](const Account& a, int64_t, int64_t ms) {
                              if (id && a.team == *id && is_held(a.column)) sum += ms;
                            });
    return sum;
  }

 private:
  Engine engine_;
};

TEST(Belonging, WithoutAnOrganisationTheTeamIsTheAccount) {
  Site site;
  site.poll(10, {job(1, JobState::pending)});
  EXPECT_EQ(site.team(), "prod-search");
  EXPECT_EQ(site.klass(), "batch");
  EXPECT_EQ(team_of(site.state(), site.only()), std::nullopt);
}

TEST(Belonging, WhatIsSeenBelongsWhereTheOrganisationSays) {
  struct Row {
    std::string_view name;
    Job job;
    std::string_view team, klass;
    std::vector<policy::Slip> slips = {};
  };
  using enum policy::SlipKind;
  Job by_group = job(1, JobState::pending, "guests");
  by_group.user = "ana";
  Job misspelt_partition = job(1, JobState::pending);
  misspelt_partition.partition = "al";
  Job misspelt_class = job(1, JobState::pending);
  misspelt_class.qos = "bacth";
  Job not_allowed = job(1, JobState::pending);
  not_allowed.qos = "spot";
  const Row rows[] = {
      {"the first line that matches", job(1, JobState::pending), "product", "batch"},
      {"a group", by_group, "research", "batch"},
      {"nothing", job(1, JobState::pending, "guests"), "(unassigned)", "batch"},
      {"an account that is misspelt",
       job(1, JobState::pending, "prod_search"),
       "(unassigned)",
       "batch",
       {{account, "prod_search", "prod-search"}}},
      {"a partition that is misspelt",
       misspelt_partition,
       "product",
       "batch",
       {{partition, "al", "all"}}},
      {"a class that is misspelt",
       misspelt_class,
       "product",
       "batch",
       {{class_unknown, "bacth", "batch"}}},
      {"a class that the team may not have",
       not_allowed,
       "product",
       "batch",
       {{class_not_allowed, "spot", "batch"}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Site site;
    site.step(5, stated(kAcme));
    site.poll(10, {row.job});
    EXPECT_EQ(site.team(), row.team);
    EXPECT_EQ(site.klass(), row.klass);
    EXPECT_EQ(site.only().slips, row.slips);
  }
}

TEST(Belonging, ItStaysThroughRequeueRestartAndAnotherOrganisation) {
  Site site;
  site.step(5, stated(kAcme));
  site.poll(10, {job(1, JobState::running, "prod-search", 8)});
  EXPECT_EQ(site.team(), "product");
  std::string other(kAcme);
  other.replace(other.find("\"prod-*\""), 8, "\"nobody\"");
  site.step(20, stated(other));
  EXPECT_EQ(site.team(), "product") << "it was seen before";
  Job again = job(1, JobState::pending);
  again.requeued = true;
  again.restarts = 1;
  again.submit = instant_of_seconds(kStart + 30);
  again.account = "guests";
  site.poll(30, {again});
  EXPECT_EQ(site.team(), "product") << "a requeue, and another label";
  site.restart();
  EXPECT_EQ(site.team(), "product");
  site.step(40, OrganisationStated{});
  EXPECT_EQ(site.team(), "product") << "no organisation any more";
  EXPECT_EQ(team_of(site.state(), site.only()), std::nullopt);
}

TEST(Belonging, AnOrganisationIsForWhatIsSeenLater) {
  Site site;
  site.step(5, stated(kAcme));
  std::string other(kAcme);
  other.replace(other.find("\"prod-*\""), 8, "\"nobody\"");
  site.step(20, stated(other));
  site.poll(30, {job(1, JobState::pending)});
  EXPECT_EQ(site.team(), "product/search");
}

TEST(Belonging, ATaskBelongsWhereItsArrayDoes) {
  Site site;
  site.step(5, stated(kAcme));
  Job waiting = job(7, JobState::pending);
  waiting.array = {.id = 7, .task = -1, .waiting = "1-9"};
  site.poll(10, {waiting});
  site.step(20, OrganisationStated{});
  site.step(21, stated("org other v1\nlang 1\nteam other { members slurm user \"bob\" }\n"));
  Job task = job(8, JobState::running, "prod-search", 25);
  task.array = {.id = 7, .task = 1};
  site.poll(30, {task});
  for (const auto& [id, workload] : site.state().workloads)
    EXPECT_EQ(site.state().names.name(workload.team), "product");
}

TEST(Belonging, TheFirstOrganisationDecidesOnWhatIsThereAndItsUseGoesWithIt) {
  Site site;
  site.poll(10, {job(1, JobState::running, "prod-search", 10)});
  site.step(3600 + 600, Tick{});
  const int64_t before = site.booked("prod-search");
  EXPECT_EQ(before, 4 * 1000 * (3600 + 600 - 10));
  site.step(3600 + 700, stated(kAcme));
  EXPECT_EQ(site.team(), "product");
  EXPECT_EQ(site.booked("prod-search"), 0);
  EXPECT_EQ(site.booked("product"), before + 4 * 1000 * 100);
  site.step(3600 + 800, Tick{});
  EXPECT_EQ(site.booked("product"), before + 4 * 1000 * 200);
}

TEST(Belonging, AnOrganisationWithErrorsChangesNothing) {
  Site site;
  site.step(5, stated(kAcme));
  site.step(6, stated("org acme v2\nlang 1\nteam acme { own 8 h10O }\n"));
  site.poll(10, {job(1, JobState::pending)});
  EXPECT_EQ(site.team(), "product");
  EXPECT_EQ(site.state().events_refused, 1);
}

}  // namespace
}  // namespace fairlead
