#include "fabric/capacity_index.h"

#include <gtest/gtest.h>

#include "fabric/overlay.h"

namespace fairlead {
namespace {

// Leaves as lists of how many devices each of their nodes has free, of `size`.
struct Leaves {
  std::vector<std::vector<int32_t>> free;
  int32_t size = 8;
  std::vector<uint32_t> per_domain;  // leaves below a domain of level 1, …
};

CapacityIndex index_of(const Leaves& leaves) {
  std::vector<CapacityNode> nodes;
  for (uint32_t leaf = 0; leaf < leaves.free.size(); ++leaf) {
    for (size_t i = 0; i < leaves.free[leaf].size(); ++i)
      nodes.push_back({.node = static_cast<NodeIndex>(nodes.size()),
                       .leaf = leaf,
                       .devices = leaves.size,
                       .cpus = 64,
                       .memory_mb = 512'000});
  }
  CapacityIndex index(
      DomainTree::regular(static_cast<uint32_t>(leaves.free.size()), leaves.per_domain), nodes,
      slice_table("H100-80G"));
  NodeIndex node = 0;
  for (const std::vector<int32_t>& leaf : leaves.free) {
    for (const int32_t free : leaf) index.set_free(*index.position(node++), free);
  }
  return index;
}

// "1x8 on 0:3" as a text: nodes are numbered as they stand in the row.
std::string found(const CapacityIndex& index, const Gang& gang) {
  Placement placement;
  if (!index.find(gang, placement)) return "nowhere";
  std::string text = placement.level == kOneNode ? "" : "level " + std::to_string(placement.level);
  for (const Grant& grant : placement.grants) {
    if (!text.empty()) text += ' ';
    text += "n" + std::to_string(index.node(grant.at));
    if (grant.workers > 1) text += "x" + std::to_string(grant.workers);
    if (gang.asks_part()) text += "." + std::to_string(grant.device);
    if (gang.profile >= 0) text += "@" + std::to_string(grant.start);
  }
  return text;
}

struct FindRow {
  std::string_view name;
  Leaves leaves;
  Gang gang;
  std::string_view want;
};

TEST(CapacityIndex, Finds) {
  const FindRow rows[] = {
      {.name = "the node that is filled most tightly",
       .leaves = {.free = {{8, 3, 2, 5}}},
       .gang = {.devices = 2},
       .want = "n2"},
      {.name = "of equal ones the one in the leaf with fewest whole nodes",
       .leaves = {.free = {{8, 8, 1}, {8, 1, 1}, {8, 8, 1}}},
       .gang = {.devices = 1},
       .want = "n4"},
      {.name = "a whole node comes from the leaf with fewest of them",
       .leaves = {.free = {{8, 8, 8}, {8, 8, 0}, {8, 8, 8}}},
       .gang = {.devices = 8},
       .want = "n3"},
      {.name = "more than a node has",
       .leaves = {.free = {{8, 8}}},
       .gang = {.devices = 9},
       .want = "nowhere"},
      {.name = "enough devices, but not together",
       .leaves = {.free = {{7, 7}, {7, 7}}},
       .gang = {.devices = 8},
       .want = "nowhere"},
      {.name = "workers that fit on one node share it",
       .leaves = {.free = {{8, 6}, {4, 4}}},
       .gang = {.workers = 3, .devices = 2},
       .want = "n1x3"},
      {.name = "unless each must have a node of its own",
       .leaves = {.free = {{8, 6}, {4, 4, 1}}},
       .gang = {.workers = 2, .devices = 2, .apart = true},
       .want = "level 0 n2 n3"},
      {.name = "the leaf with fewest slots that suffice, its tightest nodes first",
       .leaves = {.free = {{8, 8, 8, 8}, {5, 4, 8, 0}, {4, 4, 0, 0}}},
       .gang = {.workers = 3, .devices = 4},
       .want = "level 0 n5 n4 n6"},
      {.name = "what is left over on two nodes is no worker",
       .leaves = {.free = {{3, 3}}},
       .gang = {.workers = 3, .devices = 2},
       .want = "nowhere"},
      {.name = "no leaf holds it: the pod that does, the largest leaf first, the tightest last",
       .leaves = {.free = {{8, 8, 8}, {8, 0, 0}, {8, 8, 0}, {8, 8, 8}, {8, 8, 8}, {8, 8, 8}},
                  .per_domain = {3}},
       .gang = {.workers = 4, .devices = 8},
       .want = "level 1 n0 n1 n2 n3"},
      {.name = "of leaves that suffice equally the first is the last to be filled",
       .leaves = {.free = {{8, 8, 8}, {8, 0, 0}, {8, 0, 0}}},
       .gang = {.workers = 4, .devices = 8},
       .want = "level 1 n0 n1 n2 n3"},
      {.name = "of pods the one that needs fewest leaves",
       .leaves = {.free = {{8, 8, 0}, {8, 8, 0}, {8, 8, 0}, {8, 8, 8}, {8, 8, 0}, {8, 8, 8}},
                  .per_domain = {3}},
       .gang = {.workers = 5, .devices = 8},
       .want = "level 1 n9 n10 n11 n12 n13"},
      {.name = "not above the level it allows",
       .leaves = {.free = {{8, 8}, {8, 8}}},
       .gang = {.workers = 3, .devices = 8, .level_max = 0},
       .want = "nowhere"},
      {.name = "CPUs are asked of the candidates",
       .leaves = {.free = {{2, 8}}},
       .gang = {.devices = 2, .cpus = 65},
       .want = "nowhere"},
      {.name = "and bound how many workers share a node",
       .leaves = {.free = {{8, 8}, {8, 8}}},
       .gang = {.workers = 4, .devices = 1, .cpus = 32},
       .want = "level 0 n0x2 n1x2"},
      {.name = "memory as well",
       .leaves = {.free = {{8, 8}}},
       .gang = {.workers = 2, .devices = 1, .memory_mb = 300'000},
       .want = "level 0 n0 n1"},
  };
  for (const FindRow& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(found(index_of(row.leaves), row.gang), row.want);
  }
}

TEST(CapacityIndex, TwoSinglesAndADouble) {
  CapacityIndex index = index_of({.free = {{2, 1, 1}}});
  Placement placement;
  const Gang one{.devices = 1};
  const Gang two{.devices = 2};
  EXPECT_EQ(found(index, one), "n1");
  ASSERT_TRUE(index.find(one, placement));
  index.take(placement, one);
  EXPECT_EQ(found(index, one), "n2");
  ASSERT_TRUE(index.find(one, placement));
  index.take(placement, one);
  EXPECT_EQ(found(index, two), "n0");
}

TEST(CapacityIndex, AMaskLimitsNodes) {
  const CapacityIndex index = index_of({.free = {{1, 4, 8}, {2, 8, 8}}});
  const NodeIndex nodes[] = {1, 4, 5, 77};
  const NodeMask mask = index.mask_of(nodes);
  EXPECT_EQ(found(index, {.devices = 1, .only = &mask}), "n1");
  EXPECT_EQ(found(index, {.workers = 2, .devices = 8, .only = &mask}), "level 0 n4 n5");
  EXPECT_EQ(found(index, {.workers = 3, .devices = 8, .only = &mask}), "nowhere");
  EXPECT_EQ(index.workers_below(1, 0, {.devices = 4, .only = &mask}), 5);
  EXPECT_EQ(index.workers_most(0, {.devices = 4, .only = &mask}), 4);
}

TEST(CapacityIndex, ANodeOutOfServiceTakesNothingAndGivesBack) {
  CapacityIndex index = index_of({.free = {{8, 8}}});
  const Gang gang{.devices = 4};
  const Grant grant{.at = *index.position(0)};
  index.take(grant, gang);
  index.set_in_service(grant.at, false);
  EXPECT_EQ(found(index, gang), "n1");
  EXPECT_EQ(index.devices_free(), 8);
  index.give_back(grant, gang);
  EXPECT_EQ(index.devices_free(), 8);
  index.set_in_service(grant.at, true);
  EXPECT_EQ(index.devices_free(), 16);
  EXPECT_EQ(index.counts(), index.recount());
}

TEST(CapacityIndex, HalvesAreAlwaysTwoPerDevice) {
  const Gang half{.share_milli = 500};
  const Gang batch{.workers = 16, .share_milli = 500};
  for (int round = 0; round < 100; ++round) {
    for (const bool at_once : {true, false}) {
      // Every node has room for some; a few devices are shared already.
      CapacityIndex index = index_of({.free = {{8, 3, 1, 8}, {5, 2, 8, 8}}});
      const Gang odd{.share_milli = 250 + round};
      index.take({.at = *index.position(static_cast<NodeIndex>(round % 8))}, odd);
      const int64_t before = index.devices_free();
      Placement placement;
      if (at_once) {
        ASSERT_TRUE(index.find(batch, placement));
        index.take(placement, batch);
      } else {
        for (int i = 0; i < 16; ++i) {
          ASSERT_TRUE(index.find(half, placement));
          index.take(placement, half);
        }
      }
      // One half may go beside the odd share; the other fifteen need eight devices.
      int halves = 0, alone = 0;
      for (NodeIndex node = 0; node < 8; ++node) {
        for (const DividedDevice& device : index.divided(*index.position(node))) {
          ASSERT_FALSE(device.sliced);
          if (device.state == 0) halves += 2;
          if (device.state == 500) ++alone;
        }
      }
      EXPECT_LE(alone, 1);
      EXPECT_GE(before - index.devices_free(), 7);
      EXPECT_LE(before - index.devices_free(), 8);
      EXPECT_GE(halves, 14);
      EXPECT_EQ(index.counts(), index.recount());
    }
  }
}

TEST(CapacityIndex, SixteenHalvesTakeEightDevices) {
  for (int round = 0; round < 100; ++round) {
    CapacityIndex index = index_of({.free = {{8, 8, 8, 8}}});
    const Gang batch{.workers = 16, .share_milli = 500};
    Placement placement;
    ASSERT_TRUE(index.find(batch, placement));
    index.take(placement, batch);
    ASSERT_EQ(placement.grants.size(), 8u);
    for (const Grant& grant : placement.grants) EXPECT_EQ(grant.workers, 2);
    EXPECT_EQ(index.devices_free(), 24);
    index.give_back(placement, batch);
    EXPECT_EQ(index, index_of({.free = {{8, 8, 8, 8}}}));
  }
}

struct PartRow {
  std::string_view name;
  std::vector<Gang> before;  // each takes what find() says
  Gang gang;
  std::string_view want;
};

Gang slice(std::string_view name, int32_t workers = 1) {
  return {.workers = workers, .profile = slice_table("H100-80G")->find(name).value()};
}

TEST(CapacityIndex, FindsParts) {
  const PartRow rows[] = {
      {.name = "a share opens a device where fewest are free",
       .gang = {.share_milli = 300},
       .want = "n1.0"},
      {.name = "the next one goes beside it",
       .before = {{.share_milli = 300}},
       .gang = {.share_milli = 700},
       .want = "n1.0"},
      {.name = "or opens another",
       .before = {{.share_milli = 301}},
       .gang = {.share_milli = 700},
       .want = "n1.1"},
      {.name = "the device that is filled most tightly",
       .before = {{.share_milli = 600}, {.share_milli = 500}, {.share_milli = 900}},
       .gang = {.share_milli = 400},
       .want = "n1.0"},
      {.name = "a shared device takes no whole worker",
       .before = {{.share_milli = 1}, {.devices = 8}},
       .gang = {.devices = 2},
       .want = "nowhere"},
      {.name = "the smallest slice goes where it spoils least",
       .gang = slice("1g.10gb"),
       .want = "n1.0@6"},
      {.name = "a half that begins at 4 leaves room for 4g",
       .gang = slice("3g.40gb"),
       .want = "n1.0@4"},
      {.name = "4g and 3g share a device",
       .before = {slice("3g.40gb")},
       .gang = slice("4g.40gb"),
       .want = "n1.0@0"},
      {.name = "no second 4g does",
       .before = {slice("4g.40gb")},
       .gang = slice("4g.40gb"),
       .want = "n1.1@0"},
      {.name = "of sliced devices the one that is filled most, where as much is spoilt",
       .before = {slice("4g.40gb"), slice("4g.40gb"), slice("1g.10gb")},
       .gang = slice("1g.10gb"),
       .want = "n1.0@4"},
      {.name = "many shares: devices of the tightest node first",
       .gang = {.workers = 9, .share_milli = 1000},
       .want = "level 0 n1.0 n1.1 n0.0 n0.1 n0.2 n0.3 n0.4 n0.5 n0.6"},
      {.name = "seven of the smallest, not eight",
       .before = {slice("1g.10gb", 7), {.devices = 8}, {.devices = 1}},
       .gang = slice("1g.10gb"),
       .want = "nowhere"},
      {.name = "a sliced device takes no share",
       .before = {slice("1g.10gb"), {.devices = 8}, {.devices = 1}},
       .gang = {.share_milli = 1},
       .want = "nowhere"},
  };
  for (const PartRow& row : rows) {
    SCOPED_TRACE(row.name);
    CapacityIndex index = index_of({.free = {{8, 2}}});
    for (const Gang& gang : row.before) {
      Placement placement;
      ASSERT_TRUE(index.find(gang, placement));
      index.take(placement, gang);
    }
    EXPECT_EQ(found(index, row.gang), row.want);
    EXPECT_EQ(index.counts(), index.recount());
  }
}

TEST(Overlay, LeavesTheIndexAsItWas) {
  CapacityIndex index = index_of({.free = {{8, 3, 5}, {8, 8, 0}}, .per_domain = {}});
  const Gang share{.share_milli = 400};
  const Grant taken{.at = *index.position(1)};
  index.take(taken, share);
  const CapacityIndex before = index;
  for (int i = 0; i < 1000; ++i) {
    CapacityIndex changed = before;
    const Gang gang{.workers = 1 + i % 3, .devices = 1 + i % 8};
    {
      Overlay overlay(index);
      overlay.give_back(taken, share);
      changed.give_back(taken, share);
      overlay.set_in_service(static_cast<Position>(i % 3), false);
      changed.set_in_service(static_cast<Position>(i % 3), false);
      Placement placement;
      if (overlay.index().find(gang, placement)) {
        overlay.take(placement, gang);
        changed.take(placement, gang);
      }
      EXPECT_EQ(index, changed);
      EXPECT_EQ(found(overlay.index(), share), found(changed, share));
      EXPECT_EQ(found(overlay.index(), {.devices = 8}), found(changed, {.devices = 8}));
    }
    ASSERT_EQ(index, before);
  }
}

TEST(Overlay, NestsAndTheInnerOneGoesFirst) {
  CapacityIndex index = index_of({.free = {{8, 4}, {2, 8}}});
  const CapacityIndex before = index;
  Overlay outer(index);
  outer.take(Grant{.at = *index.position(0)}, {.devices = 3});
  const CapacityIndex between = index;
  {
    Overlay inner(index);
    inner.take(Grant{.at = *index.position(0)}, slice("3g.40gb"));
    inner.give_back(Grant{.at = *index.position(0)}, {.devices = 3});
    inner.set_in_service(*index.position(3), false);
  }
  EXPECT_EQ(index, between);
  outer.undo();
  EXPECT_EQ(index, before);
}

TEST(Overlay, KeepsWhatItIsToldToKeep) {
  CapacityIndex index = index_of({.free = {{8}}});
  {
    Overlay overlay(index);
    overlay.take(Grant{.at = 0}, {.devices = 8});
    overlay.keep();
  }
  EXPECT_EQ(index.devices_free(), 0);
}

TEST(CapacityIndex, OfAFleetHasOneForEachModel) {
  Fleet fleet;
  NameTable names;
  const auto add = [&](const char* name, std::vector<DeviceGroup> devices, NodeState state) {
    fleet.state({.name = name,
                 .state = state,
                 .devices = std::move(devices),
                 .cpus = 64,
                 .memory_mb = 1000,
                 .cpus_used = 60},
                {1}, names);
  };
  add("n0", {{"h100", 8}}, NodeState::idle);
  add("n1", {{"h100", 4}, {"a10", 2}}, NodeState::mixed);
  add("n2", {{"h100", 8}}, NodeState::down);
  add("n3", {{"h100", 300}}, NodeState::idle);
  add("n4", {{"h100", 8}}, NodeState::idle);
  fleet.remove("n4");
  fleet.set_switches({{.name = "a", .nodes = {"n0", "n1"}}, {.name = "b", .nodes = {"n2", "n3"}}});
  const FleetTree tree = domain_tree_of(fleet);
  const CapacityIndex h100 = capacity_of(fleet, tree, "h100");
  EXPECT_EQ(h100.devices_free(), 8 + 4 + 255);
  EXPECT_EQ(found(h100, {.devices = 8}), "n0");
  EXPECT_EQ(found(h100, {.devices = 1, .cpus = 5}), "nowhere");
  EXPECT_EQ(h100.position(4), std::nullopt);
  EXPECT_EQ(capacity_of(fleet, tree, "a10").devices_free(), 2);
  EXPECT_EQ(capacity_of(fleet, tree, "").devices_free(), 8 + 6 + 255);
  EXPECT_EQ(capacity_of(fleet, tree, "b200").devices_free(), 0);
  EXPECT_EQ(found(capacity_of(fleet, tree, "b200"), {.devices = 1}), "nowhere");
}

TEST(CapacityIndex, IsSmall) {
  std::vector<CapacityNode> nodes;
  for (uint32_t n = 0; n < 16'384; ++n) nodes.push_back({.node = n, .leaf = n / 32, .devices = 8});
  const CapacityIndex index(DomainTree::regular(512, {16}), nodes);
  EXPECT_EQ(index.devices_free(), 131'072);
  EXPECT_LE(index.bytes().index, 64'000u);  // 131,072 devices; docs/benchmarks.md
}

// All CPUs of all nodes may be taken when the index is made.
TEST(CapacityIndex, SidesMayBeToldLater) {
  DomainTree tree;
  CapacityIndex index(tree, {{.node = 0, .leaf = 0, .devices = 8}});
  Gang gang{.workers = 1, .devices = 1, .cpus = 4};
  Placement out;
  EXPECT_FALSE(index.find(gang, out));
  index.set_sides(0, 8, 0);
  EXPECT_TRUE(index.find(gang, out));
}

}  // namespace
}  // namespace fairlead
