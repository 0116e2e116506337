// Where workers of one class of devices fit, kept up with every change.
//
// Each node of the class has a position: leaf by leaf, each leaf in blocks of 32. The index holds
//
//   free      by position: whole devices that are free; 0 where the node takes no work
//   masks     by block and f: which of its nodes have exactly f free
//   with      by f: the blocks that hold such a node
//   whole     by leaf: nodes of which every device is free; and the blocks of the leaves by it
//   hosts     by level, domain and k: nodes below it with at least k free
//
// A node with f free takes floor(f / g) workers of g devices, one for each j with f >= j * g, so
//
//   slots(domain, g) = sum over j >= 1 of hosts(domain, j * g)
//
// holds for every g. Invariant: all of it equals a recount from `free` alone.
//
// Cost: a change touches one block and one cache line of counters a level, and, where a node
// becomes whole or stops to be, a bit for each block of its leaf. Finding a node reads a few words
// for each free count; finding a leaf or a domain for a gang one to eight counters a domain. CPUs,
// memory and a mask are looked at on candidates only: a gang that asks for them is counted over the
// nodes with enough free of the domains that could hold it. Sizes: docs/benchmarks.md.
//
// What it answers, in this order: the node that is filled most tightly, in the leaf with the fewest
// whole nodes, the first; for a gang that no node holds the lowest level at which one domain has
// the slots; of the domains of that level the one that needs fewest children, then the one with the
// fewest slots, the first; and within it the largest children first and the tightest that suffices
// last.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fabric/divided.h"
#include "fabric/domain_tree.h"
#include "fabric/gang.h"
#include "fabric/slices.h"

namespace fairlead {

constexpr int32_t kDevicesPerNodeMax = 255;  // of one class: what is free is a byte

struct CapacityNode {
  NodeIndex node = 0;
  uint32_t leaf = 0;
  int32_t devices = 0;  // 1…kDevicesPerNodeMax, all free
  int32_t cpus = 0;     // free
  int64_t memory_mb = 0;
};

// What the index counts. `hosts` has level by level and domain by domain the counters of k = 1, 2,
// …, so that a change touches one cache line a level.
struct CapacityCounts {
  std::vector<uint32_t> masks;
  std::vector<uint64_t> with;
  std::vector<uint64_t> by_whole;
  std::vector<uint32_t> leaves_by_whole;
  std::vector<uint32_t> whole;
  std::vector<uint32_t> hosts;
  bool operator==(const CapacityCounts&) const = default;
};

class CapacityIndex {
 public:
  // Requires: the leaves and numbers of devices are in range, and no node comes twice. `slices`: of
  // the class's model, where it can be sliced.
  CapacityIndex(DomainTree tree, std::vector<CapacityNode> nodes,
                const SliceTable* slices = nullptr);

  // Where the whole gang fits now; false: nowhere. `out` keeps its room.
  bool find(const Gang& gang, Placement& out) const;
  // How many of its workers fit below one domain, and below the best domain of a level.
  int64_t workers_below(int level, uint32_t domain, const Gang& gang) const;
  int64_t workers_most(int level, const Gang& gang) const;
  int64_t workers_on(Position at, const Gang& gang) const;

  // Requires: it fits there, as find() has just said; or, to give back, that it was taken.
  void take(const Grant& grant, const Gang& gang);
  void give_back(const Grant& grant, const Gang& gang);
  void take(const Placement& placement, const Gang& gang);
  void give_back(const Placement& placement, const Gang& gang);
  // A node that is down or drained takes no work; what stands on it can still be given back.
  void set_in_service(Position at, bool in_service);
  void set_free(Position at, int32_t devices);  // what is free on it, as somebody else counted
  void set_sides(Position at, int32_t cpus, int64_t memory_mb);

  const DomainTree& tree() const { return tree_; }
  const SliceTable* slices() const { return slices_; }
  NodeIndex node(Position at) const { return nodes_[at]; }
  std::optional<Position> position(NodeIndex node) const;
  uint32_t leaf(Position at) const { return leaf_of_block_[at / kBlockNodes]; }
  int32_t size(Position at) const { return sizes_.empty() ? widest_ : sizes_[at]; }
  int32_t free(Position at) const { return free_[at]; }
  bool in_service(Position at) const { return hidden_.empty() || !hidden_.contains(at); }
  std::span<const DividedDevice> divided(Position at) const { return divided_.on(at); }
  uint8_t unused_number(Position at) const { return divided_.unused_number(at); }
  int32_t cpus_free(Position at) const { return cpus_.empty() ? 0 : cpus_[at]; }
  int64_t memory_free_mb(Position at) const { return memory_mb_.empty() ? 0 : memory_mb_[at]; }
  int64_t devices_free() const;  // whole ones, on nodes that take work
  size_t blocks() const { return leaf_of_block_.size(); }
  NodeMask mask_of(std::span<const NodeIndex> nodes) const;

  const CapacityCounts& counts() const { return counts_; }
  CapacityCounts recount() const;  // from what is free alone
  struct Bytes {
    size_t index = 0;  // free, masks, counters
    size_t names = 0;  // which node stands where
    size_t sides = 0;  // CPUs and memory
  };
  Bytes bytes() const;
  bool operator==(const CapacityIndex&) const = default;

 private:
  static constexpr uint32_t kNoNode = UINT32_MAX;

  // capacity_index.cc
  void lay_out(const std::vector<CapacityNode>& nodes);
  int32_t actual(Position at) const;  // free, whether or not the node takes work
  void set_actual(Position at, int32_t value);
  void show(Position at, int32_t now);
  void count_whole(uint32_t leaf, bool more);
  void change_sides(const Grant& grant, const Gang& gang, int32_t sign);
  uint32_t bucket(uint32_t whole) const { return std::min(whole, buckets_ - 1); }
  DomainTree::Range blocks_of(uint32_t first_leaf, uint32_t end_leaf) const {
    return {block_of_leaf_[first_leaf], block_of_leaf_[end_leaf]};
  }
  uint32_t nodes_with(int32_t free) const;  // exactly so many, on the whole site
  uint32_t hosts(int level, uint32_t domain, int32_t k) const {
    return counts_.hosts[host_counters(level, domain) + static_cast<size_t>(k - 1)];
  }
  size_t host_counters(int level, uint32_t domain) const {
    return hosts_at_[static_cast<size_t>(level)] + domain * static_cast<size_t>(widest_);
  }
  int64_t slots(int level, uint32_t domain, const Gang& gang) const;

  // capacity_find.cc
  std::optional<Position> tightest(int32_t devices, int32_t workers, const Gang& gang) const;
  std::optional<Position> first_in(uint32_t block, uint32_t candidates, int32_t workers,
                                   const Gang& gang) const;
  std::optional<Position> among_roomy(int32_t free, int32_t workers, const Gang& gang) const;
  std::optional<uint32_t> leaf_by_whole(uint32_t nodes) const;
  std::optional<uint32_t> domain_for(int level, const Gang& gang) const;
  int32_t children_used(int level, uint32_t domain, const Gang& gang) const;
  void fill(int level, uint32_t domain, int64_t workers, const Gang& gang, Placement& out) const;
  void fill_leaf(uint32_t leaf, int64_t workers, const Gang& gang, Placement& out) const;
  int64_t workers_of_candidates(DomainTree::Range blocks, const Gang& gang) const;
  bool sides_hold(Position at, int64_t workers, const Gang& gang) const;
  int64_t workers_by_sides(Position at, const Gang& gang) const;

  // capacity_parts.cc
  bool find_part(const Gang& gang, Placement& out) const;
  int64_t parts_on(Position at, const Gang& gang) const;
  std::optional<Grant> shared_part(const Gang& gang) const;
  std::optional<Grant> sliced_part(const Gang& gang) const;
  std::optional<Grant> new_part(const Gang& gang) const;
  bool may_stand(Position at, const Gang& gang) const;
  void fill_parts(Position first, Position end, int64_t workers, const Gang& gang,
                  Placement& out) const;
  void take_part(const Grant& grant, const Gang& gang);
  void give_back_part(const Grant& grant, const Gang& gang);

  DomainTree tree_;
  const SliceTable* slices_ = nullptr;
  int32_t widest_ = 1;
  uint32_t buckets_ = 1;
  size_t words_ = 0;  // of a set of blocks
  std::vector<uint8_t> free_;
  std::vector<uint8_t> sizes_;  // empty: every node is as wide as the widest
  std::vector<uint32_t> leaf_of_block_;
  std::vector<uint32_t> block_of_leaf_;  // first one, and one more at the end
  std::vector<size_t> hosts_at_;
  CapacityCounts counts_;

  DividedDevices divided_;
  std::map<Position, int32_t> hidden_;  // what is free on nodes that take no work
  std::vector<int32_t> cpus_;           // empty: no node states any
  std::vector<int64_t> memory_mb_;
  std::vector<NodeIndex> nodes_;  // by position; kNoNode: a gap at the end of a leaf
  std::vector<Position> position_of_;
};

// The devices of one model ("": of any) in a fleet, all of them free; nodes that take no work are
// out of service, and what others use of CPUs and memory is taken off. Of a node with more than
// kDevicesPerNodeMax only so many are seen.
CapacityIndex capacity_of(const Fleet& fleet, const FleetTree& tree, std::string_view model,
                          const SliceTable* slices = nullptr);

}  // namespace fairlead
