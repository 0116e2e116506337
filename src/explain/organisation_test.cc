// What the rules of the organisation say of a job that waits, and what the planner would do.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/test_nodes.h"
#include "explain/test_site.h"

namespace fairlead {
namespace {

using enum BlockerCode;

OrganisationStated organisation(std::string_view borrow) {
  return {.files = {{"acme.policy", R"(org acme v7
lang 1
class batch { rank 10 most 40 per workload }
team acme {
  own 64 h100
  default class batch
  team vision { own 24 h100 borrow )" + std::string(borrow) +
                                        R"( h100 members slurm account "vision" }
  team other { own 8 h100 }
}
devices h100 { h100 }
)"}},
          .tables = {},
          .zones = {},
          .groups = {}};
}

std::vector<BlockerCode> codes(const Explanation& x) {
  std::vector<BlockerCode> found;
  for (const Blocker& b : x.blockers) found.push_back(b.code);
  return found;
}

// In test_site.h: account vision holds 12 of 64; four of eight nodes are whole, n4 and n5 to n7.
std::vector<What> without_slurms_limits(std::string_view borrow) {
  Association research{.id = 2, .parent = 1, .account = "research"};
  return {research, organisation(borrow)};
}

TEST(Organisation, AllAtOnceTheIncurableFirst) {
  Job job = waiting(50, "BadConstraints", gang(4, 8));
  job.request.features = "roce";
  job.request.switches = 1;
  auto x = explain(without_slurms_limits("12"), job);
  EXPECT_EQ(codes(x), (std::vector{FEATURES_NO_NODE, TEAM_LIMIT, TOPOLOGY_FRAGMENTED}));
  EXPECT_EQ(x.blockers[1].short_by, 8);
  EXPECT_TRUE(x.blockers[1].by_policy);
  EXPECT_TRUE(x.can_never_start);
  EXPECT_TRUE(x.scheduler_agrees);
  // One is cleared, whichever: exactly the others.
  job.request.features.clear();
  job.reason = "Resources";
  EXPECT_EQ(codes(explain(without_slurms_limits("12"), job)),
            (std::vector{TEAM_LIMIT, TOPOLOGY_FRAGMENTED}));
  job.request.features = "roce";
  job.reason = "BadConstraints";
  EXPECT_EQ(codes(explain(without_slurms_limits("40"), job)),
            (std::vector{FEATURES_NO_NODE, TOPOLOGY_FRAGMENTED}));
  job.request.switches = 2;
  EXPECT_EQ(codes(explain(without_slurms_limits("12"), job)),
            (std::vector{FEATURES_NO_NODE, TEAM_LIMIT}));
}

TEST(Organisation, ALimitNamesWhoHoldsAndACureThatCures) {
  const auto x = explain(without_slurms_limits("0"), waiting(50, "Resources", gang(2, 8)));
  ASSERT_EQ(codes(x), (std::vector{TEAM_LIMIT, NOT_YET_EXAMINED})) << "the scheduler may start it";
  const Blocker& b = x.blockers[0];
  EXPECT_EQ(b.object, "team vision");
  EXPECT_EQ(b.limit, 24);
  EXPECT_EQ(b.used, 12);
  EXPECT_EQ(b.short_by, 4);
  EXPECT_EQ(b.holders.size(), 3u);
  EXPECT_EQ(b.cure, "at most 12 devices");
  EXPECT_EQ(x.policy.verdict, "defer");
  const auto cured = explain(without_slurms_limits("0"), waiting(50, "Resources", gang(1, 8)));
  EXPECT_EQ(cured.policy.verdict, "start");
  EXPECT_FALSE(cured.policy.nodes.empty());
}

TEST(Organisation, OneWorkloadOfAClass) {
  const auto x = explain(without_slurms_limits("999"), waiting(50, "Resources", gang(6, 8)));
  ASSERT_FALSE(x.blockers.empty());
  EXPECT_EQ(x.blockers[0].code, CLASS_LIMIT);
  EXPECT_EQ(x.blockers[0].short_by, 8);
  EXPECT_FALSE(x.can_never_start) << "the scheduler may start it";
  EXPECT_EQ(x.policy.because, "the limit of its class, short by 8");
}

// Seven nodes serve; three of them hold four devices until 13,300 at the latest.
TEST(Organisation, AStartIsToldWhereItCanBeForeseen) {
  const auto now = explain(without_slurms_limits("40"), waiting(50, "Resources", gang(1, 8)));
  EXPECT_EQ(now.start.p50, instant_of_seconds(kNow));
  EXPECT_EQ(now.start.unknown, "");
  const auto later = explain(without_slurms_limits("40"), waiting(50, "Resources", gang(5, 8)));
  EXPECT_EQ(later.start.p50, instant_of_seconds(kNow - 300 + 3600));
  EXPECT_EQ(later.start.p90, later.start.p50);
  EXPECT_FALSE(later.start.by_history) << "no run is over of which it could be told";
  EXPECT_EQ(later.start.held_ppm, -1) << "nothing was kept or broken yet";
}

TEST(Organisation, AStartThatCannotBeForeseenSaysWhy) {
  const auto reason = [](const std::vector<What>& extra, const Job& job) {
    const StartTold start = explain(extra, job).start;
    EXPECT_FALSE(start.p50.known());
    return start.unknown;
  };
  const Job large = waiting(50, "Resources", gang(6, 8));
  EXPECT_EQ(reason(without_slurms_limits("999"), large),
            "it would not start in what is foreseen of the runs");
  Job held = waiting(50, "JobHeldUser", gang(1, 8));
  held.priority = 0;
  EXPECT_EQ(reason(without_slurms_limits("40"), held), "it waits for something else first");
  EXPECT_EQ(reason({}, large), "no organisation is known, so there is no order to go by");
}

// Its limits are told, and nothing is suggested.
TEST(Organisation, WhoOnlyObservesSuggestsNothing) {
  std::vector<What> facts = without_slurms_limits("12");
  std::get<OrganisationStated>(facts.back()).stage = Stage::observe;
  const auto limited = explain(facts, waiting(50, "None", gang(4, 8)));
  EXPECT_EQ(codes(limited), (std::vector{TEAM_LIMIT, NOT_YET_EXAMINED}));
  EXPECT_EQ(limited.policy.verdict, "");
  const auto small = explain(facts, waiting(50, "None", gang(1, 8)));
  EXPECT_EQ(small.policy.verdict, "");
  EXPECT_EQ(small.policy.nodes, "");
}

// Eight devices for three hours, at $2.50.
TEST(Organisation, ABudgetThatIsSpentSaysTheSum) {
  SiteOfEights site(2);
  site.add(OrganisationStated{.files = {{"acme.policy", R"(org acme v1
lang 1
price h100 $2.50/h
class batch { rank 10 }
team acme {
  own 16 h100
  default class batch
  team product { own 16 h100  budget $50 per 7d hard  members slurm account "prod" }
}
devices h100 { h100 }
)"}},
                              .tables = {},
                              .zones = {},
                              .groups = {}});
  site.run(10, "n1", 8, 0);
  site.wait(1, 1, 8);
  site.poll(0);
  site.poll(3 * 3600);
  const Explanation x = Explainer(site.state()).explain("1").value();
  const auto b = std::ranges::find(x.blockers, BUDGET_SPENT, &Blocker::code);
  ASSERT_NE(b, x.blockers.end());
  EXPECT_EQ(b->message, "the budget of team product is spent: $60 of $50 per 7d hard");
}

TEST(Organisation, WithoutOneNothingIsSaid) {
  const auto x = explain({}, waiting(50, "None", gang(1, 8)));
  EXPECT_EQ(x.policy, VerdictTold{});
}

}  // namespace
}  // namespace fairlead
