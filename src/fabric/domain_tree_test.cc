#include "fabric/domain_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace fairlead {
namespace {

struct TreeRow {
  std::string_view name;
  std::vector<Switch> switches;
  std::string_view want;  // levels from the root down; each domain with its name and its nodes
};

std::string shown(const FleetTree& t) {
  std::string text;
  for (int level = t.tree.levels() - 1; level >= 0; --level) {
    if (!text.empty()) text += " / ";
    for (uint32_t d = 0; d < t.tree.count(level); ++d) {
      const DomainTree::Range leaves = t.tree.leaves_below(level, d);
      text += fmt::format("{}{}(", d == 0 ? "" : " ", t.names[static_cast<size_t>(level)][d]);
      for (size_t n = 0; n < t.leaf_of.size(); ++n) {
        if (t.leaf_of[n] >= leaves.first && t.leaf_of[n] < leaves.end) text += std::to_string(n);
      }
      text += ")";
    }
  }
  return text;
}

TEST(DomainTree, OfAFleet) {
  const TreeRow rows[] = {
      {.name = "no switches: one leaf", .want = "(0123)"},
      {.name = "leaves below one switch",
       .switches = {{.name = "top", .level = 1, .switches = {"a", "b"}},
                    {.name = "a", .nodes = {"n0", "n1"}},
                    {.name = "b", .nodes = {"n2", "n3"}}},
       .want = "top(0123) / a(01) b(23)"},
      {.name = "leaves that no switch joins get a root without a name",
       .switches = {{.name = "a", .nodes = {"n0", "n1"}}, {.name = "b", .nodes = {"n2", "n3"}}},
       .want = "(0123) / a(01) b(23)"},
      {.name = "nodes below no switch have a leaf of their own",
       .switches = {{.name = "a", .nodes = {"n0", "n1"}}, {.name = "b", .nodes = {"n3"}}},
       .want = "(0123) / a(01) b(3) (2)"},
      {.name = "a branch that is shorter is filled up",
       .switches = {{.name = "core", .level = 2, .switches = {"pod", "c"}},
                    {.name = "pod", .level = 1, .switches = {"a", "b"}},
                    {.name = "a", .nodes = {"n0"}},
                    {.name = "b", .nodes = {"n1"}},
                    {.name = "c", .nodes = {"n2", "n3"}}},
       .want = "core(0123) / pod(01) c(23) / a(0) b(1) c(23)"},
      {.name = "a node of two leaves belongs to the first, a switch of two parents, too",
       .switches = {{.name = "x", .level = 1, .switches = {"a", "b"}},
                    {.name = "y", .level = 1, .switches = {"b"}},
                    {.name = "a", .nodes = {"n0", "n1"}},
                    {.name = "b", .nodes = {"n1", "n2", "n3", "n9"}}},
       .want = "(0123) / x(0123) y() / a(01) b(23) y()"},
      {.name = "a circle is cut where it closes",
       .switches = {{.name = "x", .level = 1, .switches = {"y"}},
                    {.name = "y", .level = 1, .switches = {"x", "a"}},
                    {.name = "a", .nodes = {"n0", "n1", "n2", "n3"}}},
       .want = "x(0123) / y(0123) / a(0123)"},
  };
  for (const TreeRow& row : rows) {
    SCOPED_TRACE(row.name);
    Fleet fleet;
    NameTable names;
    for (const char* name : {"n0", "n1", "n2", "n3"}) fleet.state({.name = name}, {1}, names);
    fleet.set_switches(row.switches);
    EXPECT_EQ(shown(domain_tree_of(fleet)), row.want);
  }
}

TEST(DomainTree, Regular) {
  const DomainTree tree = DomainTree::regular(7, {3, 2});
  EXPECT_EQ(tree.levels(), 4);
  EXPECT_EQ(tree.count(1), 3u);
  EXPECT_EQ(tree.leaves_below(2, 1), (DomainTree::Range{6, 7}));
  EXPECT_EQ(tree.children(3, 0), (DomainTree::Range{0, 2}));
  EXPECT_EQ(DomainTree().levels(), 1);
}

}  // namespace
}  // namespace fairlead
