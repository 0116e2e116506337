#include "views/teams_view.h"

#include <gtest/gtest.h>

#include "core/belonging.h"
#include "core/engine.h"
#include "core/team_books.h"
#include "views/report.h"

namespace fairlead {
namespace {

constexpr int64_t kStart = 1'767'600'000;  // 08:00 of a Monday, UTC

constexpr const char* kAcme = R"(org acme v1
lang 1
class batch { rank 10 }
team acme {
  own       24 H100
  half-life 1d
  team product {
    own     8 H100
    lend    4 H100
    borrow  8 H100
    weight  2
    members slurm account "prod"
    team search { members slurm account "search" }
  }
  team research {
    own     16 H100
    budget  10 H100 h per 30d hard
    members slurm account "research"
  }
}
)";

Job job(uint32_t id, std::string account, int32_t gpus, bool runs) {
  Job j{.id = id,
        .label = std::to_string(id),
        .user = "ana",
        .account = std::move(account),
        .qos = "batch",
        .partition = "all"};
  j.state = runs ? JobState::running : JobState::pending;
  j.submit = instant_of_seconds(kStart);
  if (runs) j.start = instant_of_seconds(kStart);
  j.request.devices = {.model = "h100", .per_node = gpus, .total = gpus};
  return j;
}

// Three nodes of eight h100 and two cards that are in no class.
Engine engine_of(std::vector<Job> jobs) {
  Engine engine("alpha", {});
  const auto step = [&](int64_t at, What what) {
    engine.step({.at = instant_of_seconds(kStart + at), .what = std::move(what)});
  };
  step(0, PollBegan{.full = true});
  for (const char* name : {"n1", "n2", "n3"})
    step(0, Node{.name = name, .state = NodeState::idle, .devices = {{"h100", 8}}});
  step(0, Node{.name = "n4", .state = NodeState::idle, .devices = {{"t4x", 2}}});
  step(0, Partition{.name = "all", .nodes = {"n1", "n2", "n3"}});
  step(0, Qos{.name = "batch"});
  step(0,
       OrganisationStated{.files = {{"a.policy", kAcme}}, .tables = {}, .zones = {}, .groups = {}});
  int node = 1;
  for (Job& j : jobs) {
    if (holds_devices(j.state))
      j.held = {{.node = "n" + std::to_string(node++), .device_count = j.request.devices.total}};
    step(0, j);
  }
  step(0, PollEnded{});
  step(7200, PollBegan{});
  step(7200, PollEnded{});
  return engine;
}

TEST(Teams, StateWhatEachOwnsHoldsAndWaitsFor) {
  Job array = job(4, "search", 2, false);
  array.array = {.id = 4, .waiting = "0-2", .waiting_count = 3};
  const Engine engine = engine_of({job(1, "prod", 8, true), job(2, "search", 4, true),
                                   job(3, "guests", 2, true), array, job(5, "reserch", 8, false)});
  const TeamList list = teams_of(engine.state());
  EXPECT_EQ(list.organisation, "acme");
  std::vector<std::string> names;
  for (const TeamDeviceRow& row : list.teams) names.push_back(row.team);
  EXPECT_EQ(names, (std::vector<std::string>{"acme", "product", "product/search", "research",
                                             "(unassigned)"}));
  const TeamDeviceRow& root = list.teams[0];
  EXPECT_EQ(root.limit_milli, 24'000);
  EXPECT_EQ(root.used_milli, 14'000) << "what is nobody's is taken from everybody";
  EXPECT_EQ(root.running, 2) << "and is told apart";
  const TeamDeviceRow& product = list.teams[1];
  EXPECT_EQ(product.own_milli, 8'000);
  EXPECT_EQ(product.lend_milli, 4'000);
  EXPECT_EQ(product.limit_milli, 16'000);
  EXPECT_EQ(product.used_milli, 12'000);
  EXPECT_EQ(product.borrowed_milli, 4'000);
  EXPECT_EQ(product.headroom_milli, 4'000);
  EXPECT_EQ(product.running, 2);
  EXPECT_EQ(product.waiting, 3);
  EXPECT_EQ(product.waiting_milli, 6'000);
  EXPECT_EQ(product.weight, 2);
  const TeamDeviceRow& search = list.teams[2];
  EXPECT_EQ(search.depth, 2);
  EXPECT_EQ(search.limit_milli, std::nullopt);
  EXPECT_EQ(search.parent, "product");
  EXPECT_EQ(list.teams[3].budget, "10 H100 h per 30d hard");
  EXPECT_EQ(list.teams[3].budget_used_ppm, 0);
  EXPECT_EQ(list.teams[4].used_milli, 2'000);
  EXPECT_EQ(list.teams[4].waiting_milli, 8'000);
  ASSERT_EQ(list.unassigned.size(), 2u);
  EXPECT_EQ(list.unassigned[0].account, "reserch");
  EXPECT_EQ(list.unassigned[1].account, "guests");
  ASSERT_EQ(list.misconfigured.size(), 1u);
  EXPECT_EQ(list.misconfigured[0].nearest, "research");
  EXPECT_EQ(list.misconfigured[0].gpus, 8);
  ASSERT_EQ(list.notes.size(), 1u);
  EXPECT_EQ(list.notes[0], "2 GPUs of model 't4x' are in no device class: name it in `devices`");
}

TEST(Teams, UsageFadesAndIsSharedBetweenSiblings) {
  const Engine engine = engine_of({job(1, "prod", 6, true), job(2, "research", 2, true)});
  const TeamList list = teams_of(engine.state());
  // Two hours of six devices, faded by a half-life of a day: less than 43,200, more than 40,000.
  EXPECT_LT(list.teams[1].usage_gpu_seconds, 43'200);
  EXPECT_GT(list.teams[1].usage_gpu_seconds, 40'000);
  EXPECT_EQ(list.teams[1].share_ppm, 750'000);
  EXPECT_EQ(list.teams[3].share_ppm, 250'000);
  EXPECT_EQ(list.teams[0].share_ppm, 1'000'000);
  EXPECT_EQ(list.teams[3].budget_used_ppm, 400'000);
  EXPECT_EQ(list.teams[3].budget_used, "4 of 10 H100 h per 30d hard");
}

TEST(Teams, AReportTellsWhatTheyHoldBesideWhatTheyOwn) {
  const Engine engine = engine_of({job(1, "prod", 6, true), job(2, "research", 2, true)});
  const TeamList list = teams_of(engine.state());
  const Report report = report_of(engine.state(), {});
  ASSERT_FALSE(report.teams.empty());
  for (const TeamRow& row : report.teams) {
    int64_t own = 0, used = 0;
    for (const TeamDeviceRow& share : list.teams) {
      if (share.team != row.team) continue;
      own += share.own_milli / 1000;
      used += share.used_milli / 1000;
    }
    EXPECT_EQ(row.own_gpus, own) << row.team;
    EXPECT_EQ(row.held_gpus, used) << row.team;
  }
  EXPECT_EQ(report_of(Engine("alpha", {}).state(), {}).teams.size(), 0u);
}

TEST(Teams, WithoutAnOrganisationThereAreNoRows) {
  const TeamList list = teams_of(Engine("alpha", {}).state());
  EXPECT_TRUE(list.teams.empty());
  ASSERT_EQ(list.notes.size(), 1u);
}

TEST(DeviceClasses, AreFoundByTheSchedulersWord) {
  policy::Organisation org;
  org.devices = {{.name = "A100", .models = {"A100-40G", "A100-80G"}},
                 {.name = "H100", .models = {"H100"}}};
  EXPECT_EQ(device_class_of(org, "h100"), 1u);
  EXPECT_EQ(device_class_of(org, "a100"), 0u) << "by the name of the class";
  EXPECT_EQ(device_class_of(org, "a100-80g"), 0u);
  EXPECT_EQ(device_class_of(org, "v100"), std::nullopt);
  EXPECT_EQ(device_class_of(org, ""), std::nullopt) << "either could be meant";
  EXPECT_EQ(device_class_of(org, "h100_80gb_hbm3"), 1u) << "what it begins with";
  EXPECT_EQ(device_class_of(org, "nvidia_a100-sxm4-80gb"), 0u);
  EXPECT_EQ(device_class_of(org, "h1000"), std::nullopt) << "another name";
  EXPECT_EQ(device_class_of(org, "a100_3g.20gb"), 0u) << "an instance is of its device's class";
  EXPECT_EQ(device_class_of(org, "h100_1g.10gb+me"), 1u);
  EXPECT_EQ(device_class_of(org, "1g.10gb"), std::nullopt) << "of either";
  org.devices.pop_back();
  EXPECT_EQ(device_class_of(org, ""), 0u);
  EXPECT_EQ(device_class_of(org, "1g.10gb"), 0u);
}

}  // namespace
}  // namespace fairlead
