#include "views/fabric_path.h"

#include <gtest/gtest.h>

#include "views/node_report.h"

namespace fairlead {
namespace {

Fabric two_pods() {
  Fabric f{.site = "alpha"};
  for (const char* name : {"n1", "n2", "n3", "n4", "n9"}) f.nodes.push_back({.node = name});
  f.switches = {{.name = "spine", .level = 1, .nodes = "n[1-4]"},
                {.name = "leaf1", .level = 0, .nodes = "n[1-2]"},
                {.name = "leaf2", .level = 0, .nodes = "n[3-4]"}};
  return f;
}

struct PathRow {
  std::string_view name, from, to, want;
  int64_t want_hops = 0;
};

TEST(FabricPath, GoesUpToWhereBothMeetAndDown) {
  const PathRow rows[] = {
      {"under one leaf", "n1", "n2", "n1 leaf1 n2", 2},
      {"under one spine", "n1", "n4", "n1 leaf1 spine leaf2 n4", 4},
      {"the way back", "n4", "n1", "n4 leaf2 spine leaf1 n1", 4},
      {"to itself", "n1", "n1", "n1", 0},
      {"to one that no switch is said to hold", "n1", "n9", "n1 n9", 0},
  };
  for (const PathRow& row : rows) {
    SCOPED_TRACE(row.name);
    const auto path = path_between(two_pods(), row.from, row.to);
    ASSERT_TRUE(path);
    std::string text;
    for (const PathStop& s : path->stops) text += (text.empty() ? "" : " ") + s.name;
    EXPECT_EQ(text, row.want);
    EXPECT_EQ(path->hops, row.want_hops);
    EXPECT_EQ(path->joined, row.to != "n9");
  }
}

TEST(FabricPath, ANodeThatIsNotThere) {
  const auto path = path_between(two_pods(), "n1", "n22");
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, "node-unknown");
}

TEST(NodeReport, NamesEachHolderOnce) {
  Fabric f;
  f.nodes.push_back({.node = "n1",
                     .gpus_total = 3,
                     .devices = {{.workload = "7"}, {.workload = "7"}, {.workload = ""}}});
  const NodeReport report = by_node(f);
  EXPECT_EQ(report.nodes[0].workloads, std::vector<std::string>{"7"});
  EXPECT_EQ(report.nodes[0].gpus_total, 3);
}

}  // namespace
}  // namespace fairlead
