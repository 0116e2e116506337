// What importers write passes the check, is laid out, and states the numbers it was given.
#include <gtest/gtest.h>

#include <functional>

#include "imports/kueue.h"
#include "imports/slurm.h"
#include "policy/check.h"
#include "policy/layout.h"

namespace fairlead::imports {
namespace {

using policy::devices;
using policy::Milli;

policy::Organisation organisation_of(const std::string& text) {
  lang::Sources sources;
  sources.add("import.policy", text);
  const policy::Checked checked = policy::check_files(sources, {});
  for (const auto& problem : checked.problems)
    if (problem.severity == lang::Severity::error)
      ADD_FAILURE() << to_text(problem, sources) << text;
  EXPECT_EQ(lang::format(sources, 0, policy::format_rules()), text);
  return checked.organisation;
}

Association account(int64_t id, int64_t parent, std::string name, int64_t shares = 1) {
  Association a{.id = id, .parent = parent};
  a.account = std::move(name);
  a.shares = shares;
  return a;
}

SlurmSays small_site() {
  SlurmSays says{.cluster = "lab",
                 .associations = {account(1, 0, "root"), account(2, 1, "research", 30),
                                  account(3, 2, "vision", 50), account(4, 1, "product", 70)},
                 .qos = {{.name = "normal"},
                         {.name = "spot", .priority = 10},
                         {.name = "prod", .priority = 1000, .preempts = {"spot"}}},
                 .models = {{"h100", 16}},
                 .half_life_s = 86'400,
                 .priority_weights = {}};
  says.associations[2].limits.tres_group = {{"gres/gpu", 64}, {"cpu", 8}};
  says.associations[1].qos = {"normal", "spot"};
  says.associations[1].qos_default = "spot";
  return says;
}

TEST(FromSlurm, AccountsAreTeamsWithTheirNumbers) {
  const auto org = organisation_of(to_policy(draft_of(small_site())));
  ASSERT_EQ(org.devices.size(), 1u);
  EXPECT_EQ(org.devices[0].name, "H100");
  EXPECT_EQ(org.teams[0].limits[0].own, devices(16));
  EXPECT_EQ(org.teams[0].half_life, seconds(86'400));
  const policy::Team& vision = org.teams.at(*org.team("research/vision"));
  EXPECT_EQ(vision.limits[0].own + vision.limits[0].borrow, devices(64));
  EXPECT_EQ(vision.weight, 50);
  const policy::Team& research = org.teams.at(*org.team("research"));
  EXPECT_EQ(research.weight, 30);
  EXPECT_TRUE(research.limits[0].borrow.is_unlimited());
  EXPECT_EQ(research.classes.size(), 2u);
  EXPECT_EQ(org.classes.at(*research.default_class).name, "spot");
  EXPECT_EQ(org.members.size(), 4u);
}

TEST(FromSlurm, QosAreClasses) {
  const auto org = organisation_of(to_policy(draft_of(small_site())));
  const policy::Class& prod = org.classes.at(*org.klass("prod"));
  EXPECT_EQ(prod.rank, 1000);
  EXPECT_EQ(prod.preempts, (std::vector{*org.klass("spot")}));
  EXPECT_TRUE(prod.anywhere) << "as Slurm: whatever account the victim is of";
  EXPECT_EQ(org.classes.at(*org.klass("spot")).rank, 10);
}

struct TextRow {
  std::string_view name;
  std::function<void(SlurmSays&)> change;
  std::vector<std::string_view> want;  // each stands in the text
};

TEST(FromSlurm, WhatHasNoCounterpartIsSaid) {
  const TextRow rows[] = {
      {"other limits",
       [](SlurmSays& s) { s.associations[1].limits.jobs_group = 7; },
       {"# No counterpart: GrpJobs=7", "# No counterpart: GrpTRES cpu=8"}},
      {"a user's own share and limit",
       [](SlurmSays& s) {
         for (const char* user : {"ana", "bob", "cy"}) {
           Association a = account(10 + std::ssize(s.associations), 2, "research", 10);
           a.user = user;
           s.associations.push_back(a);
         }
         s.associations.back().shares = 3;
         s.associations.back().limits.tres_group = {{"gres/gpu", 4}};
       },
       {"of users: cy Fairshare=3, GrpTRES gres/gpu=4\n"}},
      {"a share that is its parent's",
       [](SlurmSays& s) { s.associations[3].shares = -1; },
       {"# Fairshare=parent has no counterpart"}},
      {"a circle of preemption",
       [](SlurmSays& s) {
         s.qos[1].preempts = {"prod"};
         s.qos[0].preempts = {"normal"};
       },
       {"spot: Preempt=prod would close a circle", "Preempt=normal would close a circle"}},
      {"priorities beyond a rank",
       [](SlurmSays& s) { s.qos[2].priority = 5'000'000; },
       {"rank 30", "# Priority=5000000"}},
      {"names that are none here",
       [](SlurmSays& s) {
         s.associations[3].account = "7 days \"x\"*";
         s.qos[1].name = "spot.1";
         s.associations[1].qos = {};
         s.associations[1].qos_default = "";
         s.qos[2].preempts = {};
       },
       {"team n-7-days-x {", "cannot be written as a member", "class spot-1",
        "QOS 'spot.1' is no name here"}},
      {"a name that would end its comment",
       [](SlurmSays& s) { s.associations[3].account = "x\nteam evil { }"; },
       {"Account 'x?team evil { }' cannot"}},
      {"no fleet", [](SlurmSays& s) { s.models.clear(); }, {"What there is was not read"}},
      {"several models and a limit over all",
       [](SlurmSays& s) { s.models["a100"] = 8; },
       {"devices gpu { A100, H100 }", "own       24 gpu", "borrow  64 gpu"}},
      {"no usage that fades", [](SlurmSays& s) { s.half_life_s = 0; }, {"PriorityDecayHalfLife=0"}},
      {"accounts that hang nowhere",
       [](SlurmSays& s) {
         for (Association& a : s.associations) a.parent = 0;
       },
       {"does not say which account is below which"}},
      {"nothing at all", [](SlurmSays& s) { s = {}; }, {"org slurm v1"}},
  };
  for (const TextRow& row : rows) {
    SCOPED_TRACE(row.name);
    SlurmSays says = small_site();
    row.change(says);
    const std::string text = to_policy(draft_of(says));
    organisation_of(text);
    for (const std::string_view want : row.want)
      EXPECT_TRUE(text.contains(want)) << want << "\n" << text;
  }
}

TEST(FromSlurm, LimitsOfModelsAreLimitsOfTheirClass) {
  SlurmSays says = small_site();
  says.models["a100"] = 8;
  says.associations[2].limits.tres_group = {{"gres/gpu:h100", 4}, {"gres/gpu:a100", 2}};
  const auto org = organisation_of(to_policy(draft_of(says)));
  const policy::Team& vision = org.teams.at(*org.team("research/vision"));
  EXPECT_EQ(vision.limits[*org.device("H100")].borrow, devices(4));
  EXPECT_EQ(vision.limits[*org.device("A100")].borrow, devices(2));
}

KueueQueue queue(std::string name, std::string cohort, std::string nominal) {
  return {.name = std::move(name),
          .cohort = std::move(cohort),
          .quotas = {{"h100", "nvidia.com/gpu", std::move(nominal), "", ""},
                     {"h100", "cpu", "64", "", ""}},
          .weight = {},
          .within_queue = {},
          .reclaim_within_cohort = {},
          .borrow_within_cohort = {},
          .others = {}};
}

TEST(FromKueue, QueuesAreTeamsOfTheirCohort) {
  KueueSays says{
      .queues = {queue("a", "ml", "32"), queue("b", "ml", "16"), queue("alone", "", "8")},
      .cohorts = {queue("ml", "", "4")},
      .local_queues = {{"lq", "team-a", "a"}, {"x", "shared", "a"}, {"y", "shared", "b"}},
      .products = {{"h100", "NVIDIA-H100-80GB-HBM3"}},
      .priorities = {{"high", 1000}, {"low", 1}}};
  says.queues[0].quotas[0].borrowing = "10";
  says.queues[0].quotas[0].lending = "20";
  says.queues[0].weight = "2";
  says.queues[1].within_queue = "LowerPriority";
  const std::string text = to_policy(draft_of(says));
  const auto org = organisation_of(text);
  ASSERT_EQ(org.devices.size(), 1u);
  EXPECT_EQ(org.devices[0].name, "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(org.teams[0].limits[0].own, devices(32 + 16 + 4 + 8));
  const auto limits = [&](const char* path) { return org.teams.at(*org.team(path)).limits[0]; };
  EXPECT_EQ(limits("ml"), (policy::Limits{devices(52), Milli{}, Milli{}}));
  EXPECT_EQ(limits("ml/a"), (policy::Limits{devices(32), devices(20), devices(10)}));
  EXPECT_EQ(limits("ml/b").borrow, Milli::unlimited());
  EXPECT_EQ(limits("alone"), (policy::Limits{devices(8), Milli{}, Milli{}}));
  EXPECT_EQ(org.teams.at(*org.team("ml/a")).weight, 2);
  ASSERT_EQ(org.members.size(), 1u);
  EXPECT_EQ(org.members[0].pattern, "team-a");
  EXPECT_EQ(org.classes.at(*org.klass("high")).preempts, (std::vector{*org.klass("low")}));
  EXPECT_TRUE(text.contains("cpu 64 of h100"));
  EXPECT_TRUE(text.contains("LocalQueue shared/x"));
}

TEST(FromKueue, OddOnesAreSaid) {
  KueueSays says{.queues = {queue("a", "one", "500m"), queue("a.b", "two", "2k")},
                 .cohorts = {queue("one", "two", ""), queue("two", "one", "")},
                 .local_queues = {},
                 .products = {},
                 .priorities = {{"system", 2'000'000'000}, {"x", -5}}};
  says.queues[1].weight = "500m";
  const std::string text = to_policy(draft_of(says));
  const auto org = organisation_of(text);
  EXPECT_TRUE(text.contains("nvidia.com/gpu 500m is no whole number"));
  EXPECT_TRUE(text.contains("weight 500 ")) << text;
  EXPECT_TRUE(org.klass("system"));
}

TEST(FromKueue, FlavorsOfOneProductAreOneClass) {
  KueueSays says{.queues = {queue("a", "", "8")},
                 .cohorts = {},
                 .local_queues = {},
                 .products = {{"h100", "H100"}, {"spot", "H100"}},
                 .priorities = {}};
  says.queues[0].quotas.push_back({"spot", "nvidia.com/gpu", "4", "", ""});
  const std::string text = to_policy(draft_of(says));
  EXPECT_EQ(organisation_of(text).teams[0].limits[0].own, devices(12));
  EXPECT_TRUE(text.contains("Flavors h100, spot are of one product"));
}

}  // namespace
}  // namespace fairlead::imports
