#include "fabric/fleet.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

Node node(std::string name, std::vector<DeviceGroup> groups, NodeState state = NodeState::idle) {
  return {.name = std::move(name), .state = state, .devices = std::move(groups)};
}

TEST(Fleet, NumbersDevicesByTheirPlaceOnTheNode) {
  Fleet fleet;
  NameTable names;
  const FleetChange change = fleet.state(node("n1", {{"h100", 2}, {"a100", 1}}), {1}, names);
  EXPECT_EQ(change.added.size(), 3u);
  EXPECT_EQ(names.name(fleet.device(*fleet.device_at(change.node, 2)).model), "a100");
  EXPECT_EQ(fleet.device_at(change.node, 3), std::nullopt);
  EXPECT_EQ(fleet.present_devices(), 3);
}

TEST(Fleet, ANodeThatLosesADeviceLosesTheLastOne) {
  Fleet fleet;
  NameTable names;
  fleet.state(node("n1", {{"h100", 8}}), {1}, names);
  const FleetChange change = fleet.state(node("n1", {{"h100", 7}}), {2}, names);
  ASSERT_EQ(change.removed.size(), 1u);
  EXPECT_EQ(fleet.device(change.removed[0]).index, 7);
  EXPECT_EQ(fleet.present_devices(), 7);
}

TEST(Fleet, ANodeComesBackUnderItsNumber) {
  Fleet fleet;
  NameTable names;
  const NodeIndex first = fleet.state(node("r1", {{"h100", 8}}), {1}, names).node;
  fleet.state(node("r10", {{"h100", 8}}), {1}, names);
  ASSERT_TRUE(fleet.remove("r1").has_value());
  EXPECT_FALSE(fleet.remove("r1").has_value());
  EXPECT_EQ(fleet.present_devices(), 8);
  EXPECT_EQ(fleet.state(node("r1", {{"h100", 8}}), {2}, names).node, first);
  EXPECT_EQ(fleet.present_devices(), 16);
}

TEST(Fleet, AStateThatSaysNothingKeepsWhatWasKnown) {
  Fleet fleet;
  NameTable names;
  fleet.state(node("n1", {}), {1}, names);
  fleet.state(node("n1", {}, NodeState::unknown), {2}, names);
  EXPECT_TRUE(fleet.node(0).usable);
  fleet.state(node("n1", {}, NodeState::down), {3}, names);
  fleet.state(node("n1", {}, NodeState::unknown), {4}, names);
  EXPECT_FALSE(fleet.node(0).usable);
}

TEST(Fleet, ABrokenCountDoesNotTakeTheMemory) {
  Fleet fleet;
  NameTable names;
  fleet.state(node("n1", {{"h100", 2'000'000'000}, {"a100", -5}}), {1}, names);
  EXPECT_LE(fleet.present_devices(), 1024);
}

TEST(Fleet, KnowsAMigInstanceByItsModel) {
  for (const char* model : {"1g.10gb", "a100_3g.20gb", "nvidia_a100_1g.5gb", "h100_1g.10gb+me"})
    EXPECT_TRUE(is_slice_model(model)) << model;
  for (const char* model : {"", "h100", "gb200", "a100-80gb", "g.5gb", "1g.gb"})
    EXPECT_FALSE(is_slice_model(model)) << model;
}

}  // namespace
}  // namespace fairlead
