#include "views/placement_view.h"

#include <gtest/gtest.h>

#include "explain/test_site.h"
#include "views/comparison.h"

namespace fairlead {
namespace {

OrganisationStated acme() {
  return {.files = {{"acme.policy", R"(org acme v7
lang 1
class batch { rank 10 }
team acme {
  own 64 h100
  default class batch
  team vision { own 64 h100 members slurm account "vision" }
}
devices h100 { h100 }
)"}},
          .tables = {},
          .zones = {},
          .groups = {}};
}

// In test_site.h: of n1 to n3 four devices are taken each, n4 is whole below the same switch; n5 to
// n7 are whole below another, and n8 is drained.
Engine site_with(const std::vector<Job>& jobs, bool has_organisation = true) {
  Engine engine("alpha", {});
  const auto step = [&](What what) {
    engine.step({.at = instant_of_seconds(kNow), .what = std::move(what)});
  };
  step(PollBegan{.full = true});
  for (const What& what : site()) step(what);
  if (has_organisation) step(acme());
  for (const Job& job : jobs) step(job);
  step(PollEnded{});
  return engine;
}

TEST(Placement, TheSwitchWithTheLeastToSpare) {
  const Engine engine = site_with({});
  const PlacementTold p = placement_of(engine, waiting(50, "None", gang(3, 4, "h100")));
  ASSERT_TRUE(p.fits);
  EXPECT_EQ(p.before, (RoomLeft{.devices = 44, .whole_nodes = 4, .loose = 12}));
  ASSERT_EQ(p.options.size(), 2u);
  EXPECT_EQ(p.options[0].nodes, "n[5-7]") << "three have room below leaf1, four below leaf0";
  EXPECT_EQ(p.options[0].left, (RoomLeft{.devices = 32, .whole_nodes = 1, .loose = 24}));
  EXPECT_EQ(
      p.options[0].because,
      "all of it under leaf1, which of those with room for it has the least to spare; 3 whole "
      "nodes are broken into");
  EXPECT_EQ(p.options[1].nodes, "n[1-3]") << "without the nodes of the first";
  EXPECT_EQ(p.options[1].because, "no worse by these numbers: more to spare below its switch");
  EXPECT_EQ(p.nodes, (std::vector<PlacementNode>{{"n5", 4, 8}, {"n6", 4, 8}, {"n7", 4, 8}}));
  EXPECT_EQ(p.verdict, "start");
}

TEST(Placement, OneWorkerFillsWhatIsTakenInPart) {
  const Engine engine = site_with({});
  const PlacementTold p = placement_of(engine, waiting(50, "None", gang(1, 4, "h100")));
  EXPECT_EQ(p.options[0].nodes, "n1");
  EXPECT_EQ(p.options[0].left, (RoomLeft{.devices = 40, .whole_nodes = 4, .loose = 8}));
  EXPECT_TRUE(p.options[0].because.ends_with("; it fills its nodes"));
}

TEST(Placement, SpansSwitchesOnlyWhereItMust) {
  const Engine engine = site_with({});
  const PlacementTold p = placement_of(engine, waiting(50, "None", gang(4, 8, "h100")));
  ASSERT_TRUE(p.fits);
  EXPECT_EQ(p.options[0].nodes, "n[4-7]");
  EXPECT_EQ(p.options[0].leaves, 2);
  EXPECT_EQ(p.options[0].because,
            "no lower switch than the root has room for all of it; it fills "
            "its nodes");
}

TEST(Placement, WhatFitsNowhereSaysWhatKeepsIt) {
  Job job = waiting(50, "Resources", gang(6, 8, "h100"));
  const Engine engine = site_with({job});
  const auto p = placement_of(engine, "50");
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->fits);
  EXPECT_TRUE(p->options.empty());
  ASSERT_EQ(p->keeps.size(), 2u);
  EXPECT_TRUE(p->keeps[0].starts_with("ASSOCIATION_LIMIT: ")) << p->keeps[0];
  EXPECT_TRUE(p->keeps[1].starts_with("CAPACITY: 44 devices are free")) << p->keeps[1];
  EXPECT_FALSE(placement_of(engine, "51")) << "nobody waits under this name";
  EXPECT_FALSE(placement_of(engine, "1")) << "it runs";
}

TEST(Placement, WithoutAnOrganisationItSaysSo) {
  const Engine engine = site_with({}, false);
  const PlacementTold p = placement_of(engine, waiting(50, "None", gang(1, 8)));
  EXPECT_FALSE(p.fits);
  EXPECT_TRUE(p.note.starts_with("no organisation is known")) << p.note;
}

TEST(Placement, AQuestionChangesNothing) {
  const Engine engine = site_with({waiting(50, "None", gang(2, 8, "h100"))});
  const PlacementTold before = *placement_of(engine, "50");
  for (int32_t n = 1; n < 8; ++n)
    (void)placement_of(engine, waiting(60, "None", gang(n, 8 - n, "h100")));
  EXPECT_EQ(*placement_of(engine, "50"), before);
}

TEST(Comparison, SuggestionsComePageByPage) {
  std::vector<Job> jobs;
  for (uint32_t id = 50; id < 57; ++id) jobs.push_back(waiting(id, "None", gang(1, 4, "h100")));
  const Engine engine = site_with(jobs);
  std::vector<std::string> seen;
  ComparisonFilter filter{.from = {}, .kind = {}, .team = {}, .most = 3};
  for (int page = 0; page < 3; ++page) {
    const Comparison c = comparison_of(engine.state(), filter);
    EXPECT_EQ(c.now.size(), page < 2 ? 3u : 1u);
    for (const SuggestionRow& row : c.now) seen.push_back(row.workload);
    filter.after = static_cast<size_t>(c.next_cursor);
    EXPECT_EQ(c.next_cursor == 0, page == 2);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"50", "51", "52", "53", "54", "55", "56"}));
  EXPECT_TRUE(comparison_of(engine.state(), {.kind = "take_back"}).now.empty());
  EXPECT_TRUE(comparison_of(engine.state(), {.team = "other"}).now.empty());
  EXPECT_EQ(comparison_of(engine.state(), {.team = "vision"}).now.size(), 7u);
}

}  // namespace
}  // namespace fairlead
