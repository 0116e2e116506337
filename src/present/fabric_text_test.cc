#include "present/fabric_text.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

const Instant kNow = *parse_rfc3339("2026-11-30T10:00:00Z");

NodeView node(std::string name, std::string leaf, std::vector<Column> columns) {
  NodeView n{.node = std::move(name),
             .state = "mixed",
             .models = std::to_string(columns.size()) + "xh100",
             .leaf = std::move(leaf),
             .gpus_total = static_cast<int64_t>(columns.size()),
             .cpus = 64,
             .cpus_used = 8,
             .memory_mb = 512 * 1024,
             .seen = kNow - seconds(5)};
  for (const Column c : columns) {
    ++n.gpus[c];
    n.devices.push_back(
        {.index = static_cast<int32_t>(n.devices.size()), .model = "h100", .column = c});
  }
  return n;
}

Fabric fabric() {
  Fabric f{.site = "alpha", .as_of = kNow};
  f.nodes = {node("n1", "leaf0", {Column::useful, Column::held_idle}),
             node("n2", "leaf0", {Column::free, Column::stranded}),
             node("n3", "leaf1", {Column::down, Column::down}), node("n9", "", {Column::free})};
  f.nodes[2].state = "idle+drain";
  f.nodes[2].reason = "bad fan";
  f.switches = {
      {.name = "spine",
       .level = 1,
       .nodes = "n[1-3]",
       .gpus_total = 6,
       .gpus_free = 2,
       .nodes_whole_free = 1},
      {.name = "leaf0", .nodes = "n[1-2]", .gpus_total = 4, .gpus_free = 2, .nodes_whole_free = 1},
      {.name = "leaf1", .nodes = "n3", .gpus_total = 2}};
  return f;
}

TEST(FabricText, OneLineForEachNode) {
  const std::string text = fabric_text(fabric());
  EXPECT_TRUE(
      text.starts_with("node  leaf   GPUs    devices  free  CPUs  memory GiB  seen  state\n"
                       "n1    leaf0  2xh100  █▒          0  8/64       0/512    5s  mixed\n"))
      << text;
  EXPECT_NE(text.find("idle+drain: bad fan"), text.npos);
}

TEST(FabricText, SwitchesAsATree) {
  const std::string text = fabric_tree(fabric());
  EXPECT_TRUE(
      text.starts_with("spine  2 of 6 GPUs free, 1 node whole\n"
                       "  leaf0  2 of 4 GPUs free, 1 node whole\n"
                       "    n1  █▒  0 of 2 free\n"
                       "    n2  ·/  2 of 2 free\n"
                       "  leaf1  0 of 2 GPUs free, 0 nodes whole\n"
                       "    n3  __  0 of 2 free  idle+drain: bad fan\n"
                       "(under no switch)\n"
                       "  n9  ·  1 of 1 free\n"))
      << text;
}

TEST(FabricText, AnEmptyFleetSaysSo) {
  EXPECT_NE(fabric_text({}).find("No node is known"), std::string::npos);
}

TEST(FabricTable, HoldsOneCellForEachColumn) {
  const Table table = fabric_table(fabric());
  ASSERT_EQ(table.rows.size(), 4u);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
}

}  // namespace
}  // namespace fairlead
