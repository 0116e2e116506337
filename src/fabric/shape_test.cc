#include "fabric/shape.h"

#include <gtest/gtest.h>

#include <limits>

namespace fairlead {
namespace {

TEST(Features, FollowTheSchedulersGrammar) {
  const std::vector<std::string> node = {"h100", "ib"};
  EXPECT_TRUE(features_match("", node));
  EXPECT_TRUE(features_match("h100&ib", node));
  EXPECT_FALSE(features_match("h100&roce", node));
  EXPECT_TRUE(features_match("a100|h100", node));
  EXPECT_TRUE(features_match("[a100|h100]", node));
  EXPECT_TRUE(features_match("(a100|h100)&ib", node));
  EXPECT_TRUE(features_match("h100*4&ib*2", node));
  EXPECT_FALSE(features_match("h10", node));
  EXPECT_FALSE(features_match("((((", node));
}

// Four nodes of eight h100 under two leaves; `free` devices are left on each.
struct World {
  Fleet fleet;
  NameTable names;
  std::vector<NodeRoom> rooms;
  std::vector<bool> members = std::vector<bool>(4, true);

  explicit World(std::vector<int32_t> free) {
    for (size_t i = 0; i < free.size(); ++i) {
      const Node node{.name = "n" + std::to_string(i),
                      .state = NodeState::mixed,
                      .devices = {{"h100", 8}},
                      .cpus = 64,
                      .memory_mb = 512'000,
                      .features = {"ib"}};
      const NodeIndex index = fleet.state(node, {1}, names).node;
      rooms.push_back({.node = index,
                       .devices_free = free[i],
                       .cpus_free = 64,
                       .memory_free_mb = 512'000,
                       .in_service = true});
    }
    fleet.set_switches(
        {{.name = "leaf0", .nodes = {"n0", "n1"}}, {.name = "leaf1", .nodes = {"n2", "n3"}}});
  }
  Fit fit(const Shape& shape) const { return fairlead::fit(shape, fleet, rooms, members); }
};

struct FitRow {
  std::string_view name;
  std::vector<int32_t> free = {8, 8, 8, 8};
  Shape shape;
  size_t want_could = 4;
  int32_t want_slots = 0;
  bool want_fits = false;
  bool want_switches = false;
};

TEST(Shape, Fits) {
  const FitRow rows[] = {
      {.name = "everything free",
       .shape = {.per_node = 8, .total = 32, .nodes = 4},
       .want_slots = 4,
       .want_fits = true,
       .want_switches = true},
      {.name = "one leaf cannot hold three nodes",
       .shape = {.per_node = 8, .total = 24, .nodes = 3, .switches = 1},
       .want_slots = 4,
       .want_fits = true},
      {.name = "enough devices, not together",
       .free = {4, 4, 4, 4},
       .shape = {.per_node = 8, .total = 16, .nodes = 2}},
      {.name = "devices anywhere",
       .free = {4, 4, 4, 4},
       .shape = {.total = 16},
       .want_slots = 16,
       .want_fits = true,
       .want_switches = true},
      {.name = "a model no node has",
       .shape = {.model = "b200", .per_node = 1, .total = 1},
       .want_could = 0},
      {.name = "a feature no node has",
       .shape = {.per_node = 1, .total = 1, .features = "roce"},
       .want_could = 0},
      {.name = "more than any node has", .shape = {.per_node = 9, .total = 9}, .want_could = 0},
      {.name = "excluded nodes",
       .shape = {.per_node = 8, .total = 8, .nodes_excluded = "n[0-2]"},
       .want_could = 1,
       .want_slots = 1,
       .want_fits = true,
       .want_switches = true},
      {.name = "required nodes",
       .shape = {.per_node = 8, .total = 16, .nodes = 2, .nodes_required = "n[0-1]"},
       .want_could = 2,
       .want_slots = 2,
       .want_fits = true,
       .want_switches = true},
  };
  for (const FitRow& row : rows) {
    SCOPED_TRACE(row.name);
    const Fit got = World(row.free).fit(row.shape);
    EXPECT_EQ(got.could.size(), row.want_could);
    EXPECT_EQ(got.slots, row.want_slots);
    EXPECT_EQ(got.fits_now, row.want_fits);
    EXPECT_EQ(got.fits_switches, row.want_switches);
  }
}

TEST(Shape, ANodeOutOfServiceCouldButDoesNot) {
  World world({8, 8, 8, 8});
  world.rooms[0].in_service = false;
  world.rooms[1].reserved = true;
  const Fit got = world.fit({.per_node = 8, .total = 32, .nodes = 4});
  EXPECT_EQ(got.could.size(), 4u);
  EXPECT_EQ(got.serves.size(), 3u);
  EXPECT_EQ(got.slots, 2);
}

TEST(Shape, SaysItselfShortly) {
  EXPECT_EQ(to_text(Shape{.model = "h100", .per_node = 8, .total = 32, .nodes = 4}), "4x8 h100");
  EXPECT_EQ(to_text(Shape{.total = 8}), "8");
  EXPECT_EQ(to_text(Shape{.nodes = 2}), "2 nodes, no devices");
}

TEST(Shape, AmountsThatMakeNoSenseAreNotStated) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  Job job;
  job.request = {.devices = {.per_node = -1, .total = -8},
                 .nodes_min = -3,
                 .cpus_per_node = -1,
                 .memory_per_node_mb = -1,
                 .switches = -1};
  EXPECT_EQ(shape_of(job), (Shape{.nodes = 1}));
  job.request = {.devices = {.per_node = kMost}, .nodes_min = kMost, .cpus_per_node = kMost};
  job.request.memory_per_cpu_mb = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(shape_of(job).total, kMost);
  EXPECT_GT(shape_of(job).memory_per_node_mb, 0);
}

}  // namespace
}  // namespace fairlead
