// Room by moves of others, through the engine: what is told, of whom, and that it holds.
#include <gtest/gtest.h>

#include <functional>

#include "base/rng.h"
#include "core/test_nodes.h"

namespace fairlead {
namespace {

using Site = SiteOfEights;

// Of 8: 4 + 2 + 1, 4 + 2, 4 + 2 + 1.
Site three_nodes() {
  Site site(3);
  site.run(11, "n1", 4), site.run(12, "n1", 2), site.run(13, "n1", 1);
  site.run(21, "n2", 4), site.run(22, "n2", 2);
  site.run(31, "n3", 4), site.run(32, "n3", 2), site.run(33, "n3", 1);
  return site;
}

std::vector<std::string> told(const Site& site, const Suggestion& suggestion) {
  std::vector<std::string> lines;
  for (const SuggestedMove& m : suggestion.moves)
    lines.push_back(std::to_string(site.number_of(m.workload)) + " " + m.from + " " + m.to + " " +
                    std::to_string(m.devices));
  return lines;
}

TEST(Moves, TwoMovesOfThreeDevicesMakeRoomForFour) {
  Site site = three_nodes();
  site.wait(1, 1, 4);
  const auto decisions = site.poll(10);
  const Suggestion* made = site.suggested(1);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(told(site, *made), (std::vector<std::string>{"12 n1 n2 2", "13 n1 n3 1"}));
  EXPECT_EQ(made->nodes, "n1");
  EXPECT_EQ(made->devices, 4);
  EXPECT_EQ(made->lost_device_seconds, 3 * (10 - 5));
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::make_room_suggested);
  EXPECT_EQ(decisions[0].reason,
            "1 would start now on n1 if others were moved: 12 (2 devices) from n1 to n2, 13 (1 "
            "devices) from n1 to n3; 15 device-seconds again");

  EXPECT_TRUE(site.poll(20).empty()) << "what is said already is not said again";
  ASSERT_NE(site.suggested(1), nullptr);
  EXPECT_EQ(site.suggested(1)->since, at_second(10));
  EXPECT_EQ(site.suggested(1)->lost_device_seconds, 3 * (20 - 5)) << "and costs more by now";

  site.move(12, "n2", 30), site.move(13, "n3", 30);
  site.poll(30);
  const Suggestion* start = site.suggested(1, SuggestionKind::start);
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->nodes, "n1");
  EXPECT_TRUE(start->victims.empty());
}

// Two of the three nodes are cleared for one gang, and nothing is put where it is to stand.
TEST(Moves, AGangHasRoomMadeOnSeveralNodes) {
  Site site(4);
  site.run(11, "n1", 4), site.run(12, "n1", 2);
  site.run(21, "n2", 4), site.run(22, "n2", 2);
  site.run(31, "n3", 4);
  site.run(41, "n4", 4);
  site.wait(1, 2, 4);
  site.wait(2, 4, 4);
  site.poll(10);
  EXPECT_NE(site.suggested(1, SuggestionKind::start), nullptr) << "there is room for it";

  Site full(4);
  full.run(11, "n1", 4), full.run(12, "n1", 2);
  full.run(21, "n2", 4), full.run(22, "n2", 2);
  full.run(31, "n3", 4), full.run(32, "n3", 2);
  full.run(41, "n4", 6);
  full.wait(1, 2, 4);
  full.poll(10);
  const Suggestion* made = full.suggested(1);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(told(full, *made), (std::vector<std::string>{"12 n1 n2 2", "32 n3 n4 2"}));
  EXPECT_EQ(made->nodes, "n[1,3]");
}

TEST(Moves, WhoMayNotBeMovedStays) {
  const std::pair<std::string_view, std::function<void(Job&)>> changes[] = {
      {"", [](Job&) {}},
      {"its scheduler may not put it back in line", [](Job& j) { j.may_requeue = false; }},
      {"it runs in a reservation", [](Job& j) { j.reservation = "maint"; }},
      {"it has whole nodes", [](Job& j) { j.request.exclusive = true; }},
      {"it is a part of a larger job", [](Job& j) { j.het_id = j.id; }},
      {"it is suspended", [](Job& j) { j.state = JobState::suspended; }},
      {"its features are of this node alone", [](Job& j) { j.request.features = "ib"; }},
      {"it names its node", [](Job& j) { j.request.nodes_required = "n1"; }},
      {"its class may run for a while first", [](Job& j) { j.qos = "steady"; }},
      {"its class is never taken back", [](Job& j) { j.qos = "fixed"; }},
      {"its class is above the claimant's", [](Job& j) { j.qos = "urgent"; }},
      {"it needs more CPUs than are free elsewhere", [](Job& j) { j.held[0].cpus = 60; }},
  };
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    Site site(2);
    site.add(Site::node("n1", 16)), site.add(Site::node("n2", 8));
    site.run(11, "n1", 5).may_requeue = false;
    change(site.run(12, "n1", 2));
    site.run(21, "n2", 6).may_requeue = false;
    site.wait(1, 1, 3);
    site.poll(10);
    EXPECT_EQ(site.suggested(1) != nullptr, name.empty());
  }
}

TEST(Moves, ALossAboveTheWaitIsNotWorthIt) {
  for (const int64_t at : {60, 3000}) {
    Site site(2);
    site.run(11, "n1", 5).may_requeue = false;
    site.run(12, "n1", 2).request.time_limit_s = 7200;
    site.run(21, "n2", 6).may_requeue = false;  // ends after an hour
    site.wait(1, 1, 3);
    site.poll(at);
    EXPECT_EQ(site.suggested(1) != nullptr, at == 60)
        << "2 x " << at << " s are lost, to save 3 x " << 3605 - at << " s";
  }
}

// Whatever is told can be done, and then the planner starts the claimant.
TEST(Moves, OnceTheyAreDoneTheClaimantStarts) {
  int done = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const int nodes = 3 + static_cast<int>(rng.below(4));
    Site site(nodes);
    uint32_t next = 10;
    for (int n = 1; n <= nodes; ++n) {
      const std::string name = "n" + std::to_string(n);
      for (int32_t tries = 0; tries < 4; ++tries) {
        const auto devices = static_cast<int32_t>(1 + rng.below(4));
        if (devices > site.free_on(name) - 1) continue;
        Job& job = site.run(next++, name, devices, 5 - static_cast<int64_t>(rng.below(300)));
        job.may_requeue = rng.below(4) != 0;
        if (rng.below(6) == 0) job.request.features = name == "n1" ? "ib" : "eth";
      }
    }
    for (uint32_t id = 1; id <= 3; ++id) {
      Job& job = site.wait(id, 1 + static_cast<int32_t>(rng.below(2)),
                           static_cast<int32_t>(1 + rng.below(6)));
      if (rng.below(4) == 0) job.qos = "urgent";
    }
    site.poll(10);
    for (uint32_t id = 1; id <= 3; ++id) {
      if (site.suggested(id) == nullptr) continue;
      const Suggestion made = *site.suggested(id);
      int64_t lost = 0;
      for (const SuggestedMove& m : made.moves) {
        const Workload& moved = site.state().workloads.at(m.workload);
        ASSERT_EQ(moved.job.held[0].node, m.from);
        ASSERT_TRUE(moved.job.may_requeue);
        ASSERT_LE(m.devices, site.free_on(m.to)) << "in the order in which they are told";
        lost += m.lost_device_seconds;
        site.move(moved.job.id, m.to, 20);
      }
      ASSERT_EQ(lost, made.lost_device_seconds);
      site.poll(20);
      ASSERT_NE(site.suggested(id, SuggestionKind::start), nullptr);
      ASSERT_TRUE(site.suggested(id, SuggestionKind::start)->victims.empty());
      ++done;
      break;
    }
  }
  EXPECT_GT(done, 20);
}

}  // namespace
}  // namespace fairlead
