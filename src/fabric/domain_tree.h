// The switches of a site as numbered domains, level by level.
//
// Level 0 has the leaves, the last level one root. The children of a domain have consecutive
// numbers, so whatever lies below a domain is an interval of leaves. A site without switches is one
// leaf, which is the root as well.
//
// Leaves need not lie equally deep: a branch that is shorter is filled up with domains of one
// child, which hold the same nodes as that child and so are never the lowest that hold a gang.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/fleet.h"

namespace fairlead {

class DomainTree {
 public:
  struct Range {
    uint32_t first = 0, end = 0;  // [first, end)
    bool operator==(const Range&) const = default;
  };

  DomainTree() : DomainTree(std::vector<std::vector<uint32_t>>{}) {}
  // above[l][d]: the domain of level l + 1 over domain d of level l. Requires: each above[l] begins
  // with 0 and goes up in steps of at most one, and the last level has one domain.
  explicit DomainTree(std::vector<std::vector<uint32_t>> above);
  // `leaves` leaves, `per_domain[l]` domains of level l below each of level l + 1, and a root.
  static DomainTree regular(uint32_t leaves, const std::vector<uint32_t>& per_domain);

  int levels() const { return static_cast<int>(count_.size()); }
  uint32_t count(int level) const { return count_[static_cast<size_t>(level)]; }
  uint32_t leaves() const { return count_[0]; }
  uint32_t above(int level, uint32_t domain) const {
    return above_[static_cast<size_t>(level)][domain];
  }
  Range children(int level, uint32_t domain) const;  // at level - 1. Requires: level > 0.
  Range leaves_below(int level, uint32_t domain) const;

  bool operator==(const DomainTree&) const = default;

 private:
  std::vector<std::vector<uint32_t>> above_;
  std::vector<std::vector<uint32_t>> first_child_;  // [level - 1][domain], and one more at the end
  std::vector<uint32_t> count_;
};

// The tree of a fleet, with its names.
struct FleetTree {
  DomainTree tree;
  std::vector<std::vector<std::string>> names;  // by level and domain; empty: no switch
  std::vector<uint32_t> leaf_of;                // by node
};

// Nodes below no switch share a leaf of their own, and whatever has no common switch is joined by a
// root without a name. A switch with two parents stays with the first, a circle is cut where it
// closes, a node of several leaves belongs to the first.
FleetTree domain_tree_of(const Fleet& fleet);

}  // namespace fairlead
