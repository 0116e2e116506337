#include "fabric/slices.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

struct SliceRow {
  std::string_view model;
  std::string_view profile;
  int32_t want_room;  // on an empty device
};

TEST(Slices, AsManyAsTheGuideSays) {
  const SliceRow rows[] = {
      {"A100-40G", "1g.5gb", 7},   {"A100-40G", "1g.10gb", 4}, {"A100-40G", "2g.10gb", 3},
      {"A100-40G", "3g.20gb", 2},  {"A100-40G", "4g.20gb", 1}, {"A100-40G", "7g.40gb", 1},
      {"A100-80G", "1g.10gb", 7},  {"H100-80G", "1g.20gb", 4}, {"H100-94G", "3g.47gb", 2},
      {"H200-141G", "2g.35gb", 3}, {"A30", "1g.6gb", 4},       {"A30", "2g.12gb", 2},
      {"A30", "4g.24gb", 1},
  };
  for (const SliceRow& row : rows) {
    SCOPED_TRACE(row.profile);
    const SliceTable* table = slice_table(row.model);
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->room(0, table->find(row.profile).value()), row.want_room);
  }
  EXPECT_EQ(slice_table("T4"), nullptr);
  EXPECT_EQ(slice_table("A100"), nullptr);  // 40 or 80 GB?
  EXPECT_EQ(slice_table("A30")->find("1g.10gb"), std::nullopt);
}

// In whatever order slices come and go, a state is one that the rules allow: the compute of what
// stands on a device is never more than it has.
TEST(Slices, NeverMoreComputeThanThereIs) {
  for (const std::string_view model : {"A30", "A100-40G", "H200"}) {
    const SliceTable& table = *slice_table(model);
    const int32_t whole = model == "A30" ? 4 : 7;
    const auto profiles = static_cast<int32_t>(table.profiles().size());
    // Depth-first over all sets of places.
    std::vector<std::pair<uint8_t, int32_t>> open{{uint8_t{0}, 0}};
    while (!open.empty()) {
      const auto [used, compute] = open.back();
      open.pop_back();
      ASSERT_LE(compute, whole);
      for (int32_t p = 0; p < profiles; ++p) {
        for (int32_t at = 0; at < 8; ++at) {
          if ((table.profiles()[static_cast<size_t>(p)].starts >> at & 1) == 0) continue;
          const uint8_t mask = table.mask(p, at);
          if ((mask & used) != 0 || (used >> at) != 0) continue;  // in rising order: each set once
          open.emplace_back(static_cast<uint8_t>(used | mask),
                            compute + table.profiles()[static_cast<size_t>(p)].compute);
        }
      }
    }
  }
}

TEST(Slices, APlaceIsChosenThatLeavesMost) {
  const SliceTable& table = *slice_table("A100-80G");
  for (int32_t p = 0; p < static_cast<int32_t>(table.profiles().size()); ++p) {
    for (int used = 0; used < 256; ++used) {
      const auto state = static_cast<uint8_t>(used);
      const auto start = table.start(state, p);
      EXPECT_EQ(start.has_value(), table.room(state, p) > 0);
      if (!start) continue;
      const auto left = [&](int32_t at) { return table.places_left(state | table.mask(p, at)); };
      for (int32_t at = 0; at < 8; ++at) {
        if ((table.profiles()[static_cast<size_t>(p)].starts >> at & 1) == 0) continue;
        if ((table.mask(p, at) & state) == 0) {
          EXPECT_GE(left(*start), left(at));
        }
      }
    }
  }
}

}  // namespace
}  // namespace fairlead
