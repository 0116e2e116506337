#include "contest/board.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/rng.h"

namespace fairlead::contest {
namespace {

Board three_nodes() { return Board({{.nodes = 3, .each = 8, .device = 0}}, 1); }

TEST(Board, AGangTakesWholeNodesAndThenTheRest) {
  EXPECT_EQ(gang_of(0, 20, 8), (Gang{.device = 0, .full = 2, .each = 8, .rest = 4}));
  EXPECT_EQ(gang_of(0, 3, 8), (Gang{.device = 0, .full = 1, .each = 3, .rest = 0}));
  EXPECT_EQ(gang_on(0, 10, 4), (Gang{.device = 0, .full = 3, .each = 3, .rest = 1}));
}

TEST(Board, TheTightestNodeIsTaken) {
  Board board = three_nodes();
  const Gang five = gang_of(0, 5, 8), two = gang_of(0, 2, 8), four = gang_of(0, 4, 8);
  board.take(five, *board.places_for(five));
  EXPECT_EQ(board.places_for(two), Places{0});   // 3 are left there
  EXPECT_EQ(board.places_for(four), Places{1});  // the first of those with room
}

TEST(Board, OnePartOfAGangOnANode) {
  Board board({{.nodes = 2, .each = 8, .device = 0}}, 1);
  EXPECT_TRUE(board.fits({.device = 0, .full = 2, .each = 4, .rest = 0}));
  EXPECT_FALSE(board.fits({.device = 0, .full = 3, .each = 4, .rest = 0}));
  EXPECT_FALSE(board.fits({.device = 0, .full = 2, .each = 4, .rest = 1}));
}

TEST(Board, FreeDevicesThatAreTooFewOnTheirNode) {
  Board board = three_nodes();
  const Gang six = gang_of(0, 6, 8);
  board.take(six, {0});
  board.take(six, {1});
  EXPECT_EQ(board.free(0), 12);
  EXPECT_EQ(board.free_below(0, 4), 4);  // 2 and 2
  EXPECT_FALSE(board.fits(gang_of(0, 12, 8)));
}

// After any takes and returns: the counts are those of a recount, and `fits` tells what a try
// finds.
TEST(Board, IsWhatARecountFinds) {
  Rng rng(7);
  Board board({{.nodes = 70, .each = 8, .device = 0}, {.nodes = 9, .each = 4, .device = 1}}, 2);
  std::vector<std::pair<Gang, Places>> held;
  for (int step = 0; step < 20'000; ++step) {
    if (!held.empty() && rng.chance(450'000)) {
      const size_t i = rng.below(held.size());
      board.give_back(held[i].first, held[i].second);
      held.erase(held.begin() + static_cast<ptrdiff_t>(i));
    } else {
      const auto device = static_cast<DeviceId>(rng.below(2));
      const Gang gang = gang_of(device, rng.between(1, 24), device == 0 ? 8 : 4);
      const auto places = board.places_for(gang);
      ASSERT_EQ(places.has_value(), board.fits(gang));
      if (!places) continue;
      board.take(gang, *places);
      held.emplace_back(gang, *places);
    }
    int64_t taken = 0;
    for (const auto& [gang, places] : held) taken += gang.total();
    ASSERT_EQ(board.free(0) + board.free(1), 70 * 8 + 9 * 4 - taken);
  }
  for (const auto& [gang, places] : held) board.give_back(gang, places);
  EXPECT_EQ(board.free_below(0, 8) + board.free_below(1, 4), 0);
}

}  // namespace
}  // namespace fairlead::contest
