#include "fabric/domain_tree.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace fairlead {

DomainTree::DomainTree(std::vector<std::vector<uint32_t>> above) : above_(std::move(above)) {
  for (const std::vector<uint32_t>& up : above_) {
    CHECK(!up.empty() && up.front() == 0);
    count_.push_back(static_cast<uint32_t>(up.size()));
    std::vector<uint32_t> first{0};
    for (uint32_t d = 1; d < up.size(); ++d) {
      CHECK(up[d] == up[d - 1] || up[d] == up[d - 1] + 1);
      if (up[d] != up[d - 1]) first.push_back(d);
    }
    first.push_back(static_cast<uint32_t>(up.size()));
    first_child_.push_back(std::move(first));
  }
  count_.push_back(1);
  for (size_t level = 0; level < above_.size(); ++level)
    CHECK(above_[level].back() + 1 == count_[level + 1]);
}

DomainTree DomainTree::regular(uint32_t leaves, const std::vector<uint32_t>& per_domain) {
  std::vector<std::vector<uint32_t>> above;
  uint32_t count = leaves;
  const auto join = [&](uint32_t per) {
    std::vector<uint32_t> up;
    for (uint32_t d = 0; d < count; ++d) up.push_back(d / per);
    count = up.back() + 1;
    above.push_back(std::move(up));
  };
  for (const uint32_t per : per_domain) join(per);
  if (count > 1) join(count);
  return DomainTree(std::move(above));
}

DomainTree::Range DomainTree::children(int level, uint32_t domain) const {
  const std::vector<uint32_t>& first = first_child_[static_cast<size_t>(level) - 1];
  return {first[domain], first[domain + 1]};
}

DomainTree::Range DomainTree::leaves_below(int level, uint32_t domain) const {
  Range range{domain, domain + 1};
  for (int l = level; l > 0; --l) {
    const std::vector<uint32_t>& first = first_child_[static_cast<size_t>(l) - 1];
    range = {first[range.first], first[range.end]};
  }
  return range;
}

namespace {

constexpr uint32_t kNone = UINT32_MAX;

// A switch, the root that joins what has no common switch, or the leaf of nodes without one.
struct Vertex {
  std::string_view name;
  uint32_t parent = kNone;
  std::vector<uint32_t> children;
  int height = 0;  // 0: a leaf
};

bool is_above(const std::vector<Vertex>& forest, uint32_t high, uint32_t low) {
  for (uint32_t v = low; v != kNone; v = forest[v].parent) {
    if (v == high) return true;
  }
  return false;
}

std::vector<Vertex> forest_of(const std::vector<Switch>& switches) {
  std::vector<Vertex> forest(switches.size());
  std::map<std::string_view, uint32_t> by_name;
  for (uint32_t i = 0; i < switches.size(); ++i) {
    forest[i].name = switches[i].name;
    by_name.emplace(switches[i].name, i);
  }
  for (uint32_t i = 0; i < switches.size(); ++i) {
    for (const std::string& name : switches[i].switches) {
      const auto child = by_name.find(name);
      if (child == by_name.end() || forest[child->second].parent != kNone) continue;
      if (is_above(forest, child->second, i)) continue;
      forest[child->second].parent = i;
      forest[i].children.push_back(child->second);
    }
  }
  return forest;
}

// Adds what makes one tree of a forest; returns its root.
uint32_t joined(std::vector<Vertex>& forest, std::optional<uint32_t> stray) {
  std::vector<uint32_t> roots;
  for (uint32_t i = 0; i < forest.size(); ++i) {
    if (forest[i].parent == kNone && i != stray) roots.push_back(i);
  }
  if (stray) roots.push_back(*stray);
  if (roots.size() == 1) return roots[0];
  const uint32_t root = static_cast<uint32_t>(forest.size());
  for (const uint32_t r : roots) forest[r].parent = root;
  forest.push_back({.children = std::move(roots)});
  return root;
}

// Requires: each vertex but the root has a parent.
void set_heights(std::vector<Vertex>& forest, uint32_t root) {
  std::vector<uint32_t> order{root};  // parents before their children
  for (size_t i = 0; i < order.size(); ++i) {
    const std::vector<uint32_t>& children = forest[order[i]].children;
    order.insert(order.end(), children.begin(), children.end());
  }
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    if (forest[*v].parent == kNone) continue;
    Vertex& parent = forest[forest[*v].parent];
    parent.height = std::max(parent.height, forest[*v].height + 1);
  }
}

// The leaf of each node, as a vertex; kNone where no switch has it.
std::vector<uint32_t> vertices_of(const Fleet& fleet, const std::vector<Vertex>& forest) {
  std::vector<uint32_t> vertex_of(fleet.nodes().size(), kNone);
  for (uint32_t i = 0; i < forest.size(); ++i) {
    if (!forest[i].children.empty()) continue;
    for (const std::string& name : fleet.switches()[i].nodes) {
      const auto node = fleet.find(name);
      if (node && vertex_of[*node] == kNone) vertex_of[*node] = i;
    }
  }
  return vertex_of;
}

}  // namespace

FleetTree domain_tree_of(const Fleet& fleet) {
  std::vector<Vertex> forest = forest_of(fleet.switches());
  std::vector<uint32_t> vertex_of = vertices_of(fleet, forest);
  std::optional<uint32_t> stray;
  if (forest.empty() || std::ranges::count(vertex_of, kNone) > 0) {
    stray = static_cast<uint32_t>(forest.size());
    forest.emplace_back();
    std::ranges::replace(vertex_of, kNone, *stray);
  }
  const uint32_t root = joined(forest, stray);
  set_heights(forest, root);

  // From the root down, each level a list of vertices; one too low for it stands for itself.
  FleetTree result;
  std::vector<uint32_t> level{root};
  std::vector<std::vector<uint32_t>> above;
  for (int height = forest[root].height;; --height) {
    result.names.emplace_back();
    for (const uint32_t v : level) result.names.back().emplace_back(forest[v].name);
    if (height == 0) break;
    std::vector<uint32_t> below, up;
    for (uint32_t d = 0; d < level.size(); ++d) {
      const Vertex& v = forest[level[d]];
      if (v.height < height)
        below.push_back(level[d]);
      else
        below.insert(below.end(), v.children.begin(), v.children.end());
      up.resize(below.size(), d);
    }
    above.push_back(std::move(up));
    level = std::move(below);
  }
  std::ranges::reverse(above);
  std::ranges::reverse(result.names);
  std::vector<uint32_t> leaf(forest.size(), 0);
  for (uint32_t d = 0; d < level.size(); ++d) leaf[level[d]] = d;
  for (const uint32_t v : vertex_of) result.leaf_of.push_back(leaf[v]);
  result.tree = DomainTree(std::move(above));
  return result;
}

}  // namespace fairlead
