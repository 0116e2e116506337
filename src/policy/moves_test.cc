#include "policy/moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/rng.h"

namespace fairlead::policy {
namespace {

// A node of eight by what stands on it; each has run for an hour.
NodeOfWork node_of(WorkId first, const std::vector<int32_t>& devices) {
  NodeOfWork node{.free = 8, .movable = {}};
  for (const int32_t d : devices) {
    node.movable.push_back({.id = first++, .devices = d, .lost_device_seconds = d * 3600});
    node.free -= d;
  }
  return node;
}

TEST(Moves, TwoMovesOfThreeDevicesMakeRoomForFour) {
  const auto plan =
      cheapest_moves({node_of(10, {4, 2, 1}), node_of(20, {4, 2}), node_of(30, {4, 2, 1})}, 4);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->moves, (std::vector<Move>{{.work = 11, .from = 0, .to = 1, .devices = 2},
                                            {.work = 12, .from = 0, .to = 2, .devices = 1}}));
  EXPECT_EQ(plan->devices, 3);
  EXPECT_EQ(plan->lost_device_seconds, 3 * 3600);
}

TEST(Moves, NothingIsMovedWhereThereIsRoom) {
  const auto plan = cheapest_moves({node_of(10, {8}), node_of(20, {4})}, 4);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->moves.empty());
  EXPECT_EQ(plan->node, 1u);
}

TEST(Moves, NothingWhereTooLittleIsFree) {
  EXPECT_FALSE(cheapest_moves({node_of(10, {4, 3}), node_of(20, {4, 2})}, 4));
}

TEST(Moves, WhatWasSavedIsCheaperThanWhatIsSmall) {
  std::vector<NodeOfWork> nodes{node_of(10, {4, 2}), node_of(20, {4, 1})};
  EXPECT_EQ(cheapest_moves(nodes, 4)->moves.at(0).work, 21u) << "one device, an hour";
  nodes[0].movable[1].lost_device_seconds = 10;
  EXPECT_EQ(cheapest_moves(nodes, 4)->moves.at(0).work, 11u) << "two, saved a moment ago";
}

// Whatever is told can be done, and makes room.
TEST(Moves, CanBeDone) {
  int told = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed);
    std::vector<NodeOfWork> nodes;
    WorkId next = 1;
    for (int n = 0; n < 6; ++n) {
      std::vector<int32_t> devices;
      int32_t left = 8 - static_cast<int32_t>(rng.below(3));
      while (left > 0) {
        const auto d = std::min(left, static_cast<int32_t>(1 + rng.below(4)));
        devices.push_back(d);
        left -= d;
      }
      nodes.push_back(node_of(next, devices));
      next += devices.size();
    }
    const int32_t wanted = static_cast<int32_t>(2 + rng.below(5));
    const auto plan = cheapest_moves(nodes, wanted);
    if (!plan) continue;
    told += plan->moves.empty() ? 0 : 1;
    int64_t lost = 0;
    for (const Move& move : plan->moves) {
      auto& stands = nodes[move.from].movable;
      const auto who = std::ranges::find(stands, move.work, &Resident::id);
      ASSERT_NE(who, stands.end());
      ASSERT_EQ(who->devices, move.devices);
      lost += who->lost_device_seconds;
      stands.erase(who);
      nodes[move.from].free += move.devices;
      nodes[move.to].free -= move.devices;
      ASSERT_NE(move.to, plan->node);
    }
    for (const NodeOfWork& n : nodes) ASSERT_GE(n.free, 0);
    ASSERT_GE(nodes[plan->node].free, wanted);
    ASSERT_EQ(lost, plan->lost_device_seconds);
  }
  EXPECT_GT(told, 50);
}

}  // namespace
}  // namespace fairlead::policy
