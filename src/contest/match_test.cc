#include "contest/match.h"

#include <gtest/gtest.h>

#include "contest/contest.h"
#include "contest/testing.h"

namespace fairlead::contest {
namespace {

History read(std::string text) {
  auto history = read_history({{"jobs.csv", std::move(text)}});
  EXPECT_TRUE(history) << fairlead::to_text(history.error());
  return history ? std::move(*history) : History{};
}

std::vector<FleetPart> fleet_of(std::string_view text) { return *read_fleet(text, "fleet"); }

constexpr const char* kJobs =
    "job,user,team,class,submit,start,end,gpus,nodes,model,state,time_limit\n"
    "a,ana,llm,batch,0,60,660,16,2,H100,completed,900\n"
    "b,bob,ads,prod,10,70,170,4,1,H100,failed,\n"
    "c,bob,ads,prod,20,,40,4,1,H100,cancelled,\n"
    "d,eve,llm,batch,30,90,91,0,1,,completed,\n";

bool noted(const Match& match, std::string_view text) {
  return std::ranges::any_of(match.notes,
                             [&](const std::string& n) { return n.find(text) != n.npos; });
}

TEST(Match, TakesWhatRanAndSaysWhatItLeftOut) {
  const auto match = match_of(read(kJobs), {.fleet = fleet_of("4 x 8 H100")});
  ASSERT_TRUE(match) << fairlead::to_text(match.error());
  ASSERT_EQ(match->jobs.size(), 2u);
  const Job& a = match->jobs[0];
  EXPECT_EQ(a.length, 600);
  EXPECT_EQ(a.limit, 900);
  EXPECT_EQ(a.gang, (Gang{.device = 0, .full = 2, .each = 8, .rest = 0}));
  EXPECT_EQ(match->organisation.teams[a.team].name, "llm");
  EXPECT_EQ(match->organisation.classes[a.klass].name, "batch");
  EXPECT_EQ(match->jobs[1].limit, 100);  // it states none
  EXPECT_TRUE(match->native);
  EXPECT_FALSE(match->own_entitlement);
  EXPECT_TRUE(noted(*match, "1 workload: left out, never began"));
  EXPECT_TRUE(noted(*match, "1 workload: left out, asked for no devices"));
  EXPECT_TRUE(noted(*match, "1 workload: without a time limit"));
  EXPECT_TRUE(noted(*match, "fleet: 4 x 8 H100"));
}

TEST(Match, AFleetThatNobodyStatesIsDeducedAndSaidSo) {
  const auto match = match_of(read(kJobs), {});
  ASSERT_TRUE(match);
  EXPECT_EQ(match->fleet,
            (std::vector<NodeGroup>{{.nodes = 3, .each = 8, .device = 0}}));  // peak: 20
  EXPECT_TRUE(noted(*match, "deduced from the history's peak use; --fleet states another"));
  const auto sacct = read_history(
      {{"dump",
        "JobID|User|Account|State|Submit|Start|End|NNodes|AllocTRES|NodeList\n"
        "1|ana|llm|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|2|"
        "gres/gpu:h100=8|n[1-2]\n"
        "2|ana|llm|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|1|"
        "gres/gpu:h100=1|n7\n"}});
  ASSERT_TRUE(sacct) << fairlead::to_text(sacct.error());
  const auto named = match_of(*sacct, {});
  ASSERT_TRUE(named);
  EXPECT_EQ(named->fleet, (std::vector<NodeGroup>{{.nodes = 3, .each = 4, .device = 0}}));
}

TEST(Match, AFleetOfTheHistorysOwnIsTaken) {
  const auto history = read_history(
      {{"pods",
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_"
        "time,scheduled_time\n"
        "p0,1000,1,2,1000,,LS,Succeeded,0,100,0\n"
        "p1,1000,1,1,400,,LS,Succeeded,0,100,0\n"
        "p2,1000,1,1,600,,BE,Succeeded,0,200,50\n"
        "p3,1000,1,1,1000,T4,BE,Succeeded,10,90,20\n"},
       {"nodes", "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,1,4,P100\nn1,64000,1,2,T4\n"}});
  ASSERT_TRUE(history) << fairlead::to_text(history.error());
  const auto match = match_of(*history, {});
  ASSERT_TRUE(match) << fairlead::to_text(match.error());
  EXPECT_EQ(match->fleet, (std::vector<NodeGroup>{{.nodes = 1, .each = 4, .device = 0},
                                                  {.nodes = 1, .each = 2, .device = 1}}));
  EXPECT_EQ(match->jobs.size(), 3u);  // of two shares of a device their holder stands in
  EXPECT_TRUE(noted(*match, "fleet: 1 x 4 P100, 1 x 2 T4, as the history states it"));
}

TEST(Match, WorkBelongsToTheTeamThatClaimsIt) {
  MatchOptions options{
      .organisation = testing::organisation_of(
          "org acme v1\nlang 1\nclass prod { rank 9 }\nclass slow { rank 1 }\n"
          "team acme { own 32 H100\n"
          " team x { own 8 H100\n members slurm account \"l*\"\n default class slow }\n"
          "}\n"),
      .zones = {},
      .fleet = fleet_of("4 x 8 H100")};
  const auto match = match_of(read(kJobs), options);
  ASSERT_TRUE(match) << fairlead::to_text(match.error());
  EXPECT_EQ(match->organisation.teams[match->jobs[0].team].name, "x");
  EXPECT_EQ(match->organisation.classes[match->jobs[0].klass].name, "slow");  // it has no `batch`
  EXPECT_EQ(match->jobs[1].team, policy::kRoot);
  EXPECT_EQ(match->organisation.classes[match->jobs[1].klass].name, "prod");
  EXPECT_TRUE(noted(*match, "1 workload: of no member of the organisation"));
}

TEST(Match, WhatCannotBePlayedIsRefused) {
  const auto none = match_of(read("job,submit,start,end,gpus\na,0,,,4\n"), {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "contest-no-jobs");
  const auto small = match_of(read(kJobs), {.fleet = fleet_of("1 x 2 H100")});
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().code, "contest-fleet");
  MatchOptions foreign{.organisation = testing::organisation_of(testing::kPlain),
                       .zones = {},
                       .fleet = fleet_of("4 x 8 B999")};
  const auto other = match_of(read(kJobs), foreign);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "contest-fleet");
  EXPECT_NE(other.error().message.find("B999"), std::string::npos);
}

TEST(Match, TheHistorysOwnOutcomeIsWhatItStates) {
  const auto match = match_of(read(kJobs), {.fleet = fleet_of("4 x 8 H100")});
  ASSERT_TRUE(match);
  const auto scores = play_contest(*match, {.rules = {"native", "fifo"}});
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0].all.wait_us.mean, 60 * kMicrosPerSecond);
  EXPECT_FALSE(scores[0].fragmentation_ppm);
  EXPECT_EQ(scores[1].all.wait_us.mean, 0);
}

}  // namespace
}  // namespace fairlead::contest
