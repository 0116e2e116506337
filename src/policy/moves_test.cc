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

// Nodes that are alike: each goes where the least room suffices, the lower node among equals.
Pack best_fit(const std::vector<NodeOfWork>& nodes) {
  return [&nodes](MovePlan& plan) {
    std::vector<int32_t> free;
    for (const NodeOfWork& n : nodes) free.push_back(n.free);
    free[plan.node] = 0;
    for (Move& move : plan.moves) {
      std::optional<size_t> best;
      for (size_t n = 0; n < free.size(); ++n)
        if (free[n] >= move.devices && (!best || free[n] < free[*best])) best = n;
      if (!best) return false;
      free[*best] -= move.devices;
      move.to = *best;
    }
    return true;
  };
}
std::optional<MovePlan> moves_for(const std::vector<NodeOfWork>& nodes, int32_t devices) {
  return cheapest_moves(nodes, devices, best_fit(nodes));
}

TEST(Moves, TwoMovesOfThreeDevicesMakeRoomForFour) {
  const auto plan =
      moves_for({node_of(10, {4, 2, 1}), node_of(20, {4, 2}), node_of(30, {4, 2, 1})}, 4);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->node, 0u);
  EXPECT_EQ(plan->moves,
            (std::vector<Move>{{.work = 11, .to = 1, .devices = 2, .lost_device_seconds = 2 * 3600},
                               {.work = 12, .to = 2, .devices = 1, .lost_device_seconds = 3600}}));
  EXPECT_EQ(plan->devices, 3);
  EXPECT_EQ(plan->lost_device_seconds, 3 * 3600);
}

TEST(Moves, NothingIsMovedWhereThereIsRoom) {
  const auto plan = moves_for({node_of(10, {8}), node_of(20, {4})}, 4);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->moves.empty());
  EXPECT_EQ(plan->node, 1u);
}

TEST(Moves, NothingWhereTooLittleIsFree) {
  EXPECT_FALSE(moves_for({node_of(10, {4, 3}), node_of(20, {4, 2})}, 4));
}

TEST(Moves, WhatWasSavedIsCheaperThanWhatIsSmall) {
  std::vector<NodeOfWork> nodes{node_of(10, {4, 2}), node_of(20, {4, 1})};
  EXPECT_EQ(moves_for(nodes, 4)->moves.at(0).work, 21u) << "one device, an hour";
  nodes[0].movable[1].lost_device_seconds = 10;
  EXPECT_EQ(moves_for(nodes, 4)->moves.at(0).work, 11u) << "two, saved a moment ago";
}

// The order of prices is the order of trying, so what is told first is the cheapest of all.
TEST(Moves, ACheaperOneWithoutRoomIsPassedOver) {
  const std::vector<NodeOfWork> nodes{node_of(10, {5, 1}), node_of(20, {4, 3})};
  std::vector<int64_t> tried;
  const auto plan = cheapest_moves(nodes, 4, [&](MovePlan& p) {
    tried.push_back(p.lost_device_seconds);
    return p.moves.at(0).work == 10;
  });
  EXPECT_TRUE(std::ranges::is_sorted(tried));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->lost_device_seconds, 5 * 3600);
  EXPECT_EQ(plan->moves.size(), 1u) << "the other may stay";
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
    const auto plan = moves_for(nodes, wanted);
    if (!plan) continue;
    told += plan->moves.empty() ? 0 : 1;
    int64_t lost = 0;
    for (const Move& move : plan->moves) {
      auto& stands = nodes[plan->node].movable;
      const auto who = std::ranges::find(stands, move.work, &Resident::id);
      ASSERT_NE(who, stands.end());
      ASSERT_EQ(who->devices, move.devices);
      lost += who->lost_device_seconds;
      stands.erase(who);
      nodes[plan->node].free += move.devices;
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
