#include <gtest/gtest.h>

#include "contest/match.h"

namespace fairlead::contest {
namespace {

struct FleetRow {
  std::string_view name, text, want;
};
constexpr FleetRow kFleetRows[] = {
    {"nodes times devices", "32 x 8 H100", "32 x 8 H100"},
    {"several parts", "32 x 8 H100, 16 x 4 A100", "32 x 8 H100, 16 x 4 A100"},
    {"without blanks", "32x8 H100", "32 x 8 H100"},
    {"as a test of an organisation says it", "4 nodes of 8 H100", "4 x 8 H100"},
    {"without a model", "2 x 4", "2 x 4"},
    {"a file of lines", "# ours\n32 x 8 H100  # new\n\n16 x 4 A100\n", "32 x 8 H100, 16 x 4 A100"},
    {"a table", "nodes,gpus,model\n32,8,H100\n16,4,A100\n", "32 x 8 H100, 16 x 4 A100"},
};

TEST(FleetText, IsRead) {
  for (const FleetRow& row : kFleetRows) {
    SCOPED_TRACE(row.name);
    const auto fleet = read_fleet(row.text, "fleet");
    ASSERT_TRUE(fleet) << fairlead::to_text(fleet.error());
    EXPECT_EQ(to_text(*fleet), row.want);
  }
}

TEST(FleetText, WhatIsNoneIsRefusedWithItsLine) {
  for (const std::string_view text : {"", "H100", "0 x 8 H100", "-3 x 8 H100", "3 x 99999 H100",
                                      "3 x x H100", "9999999999 x 8", "1e3 x 8 H100"}) {
    SCOPED_TRACE(text);
    const auto fleet = read_fleet(text, "fleet");
    ASSERT_FALSE(fleet);
    EXPECT_EQ(fleet.error().code, "fleet-bad");
  }
  const auto second = read_fleet("32 x 8 H100\nseven\n", "fleet.txt");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().place.line, 2);
}

}  // namespace
}  // namespace fairlead::contest
