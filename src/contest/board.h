// Devices on their nodes, for whoever places gangs: how many are free where.
//
// A gang is `full` nodes of `each` devices and, where that does not divide, one more of `rest`.
// A node takes one part of a gang at most. The nodes are chosen by best fit: the least room that
// suffices, the lowest number among equals; so whole nodes stay whole as long as they can.
//
// Nodes of one device class are numbered in a row. For each count of free devices there is a set of
// nodes as bits: a question costs O(devices of a node), a choice O(nodes / 64).
//
// A plain value: copy it to try something out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policy/organisation.h"

namespace fairlead::contest {

using policy::DeviceId;
using NodeNumber = uint32_t;

struct Gang {
  DeviceId device = 0;
  int32_t full = 0, each = 0, rest = 0;
  int64_t total() const { return int64_t{full} * each + rest; }
  int32_t least_part() const { return rest > 0 ? rest : each; }
  auto operator<=>(const Gang&) const = default;
};

// Devices spread as a scheduler without more to go by does: whole nodes of `node_size`, then rest.
// Requires: devices, node_size > 0.
Gang gang_of(DeviceId device, int64_t devices, int32_t node_size);
// Devices on so many nodes, as evenly as it goes.
Gang gang_on(DeviceId device, int64_t devices, int32_t nodes);

struct NodeGroup {
  int32_t nodes = 0, each = 0;
  DeviceId device = 0;
  bool operator==(const NodeGroup&) const = default;
};

using Places = std::vector<NodeNumber>;  // `full` nodes, then that of the rest

class Board {
 public:
  // Requires: groups of one device class stand together, and `devices` classes there are.
  Board(const std::vector<NodeGroup>& groups, size_t devices);

  int64_t capacity(DeviceId device) const { return pools_[device].capacity; }
  int64_t free(DeviceId device) const { return pools_[device].free; }
  int32_t node_size(DeviceId device) const { return pools_[device].node_size; }
  size_t nodes() const { return free_.size(); }
  int32_t free_of(NodeNumber node) const { return free_[node]; }
  const std::vector<int32_t>& free_by_node() const { return free_; }
  int32_t size_of(NodeNumber node) const { return sizes_[node]; }
  NodeNumber first(DeviceId device) const { return pools_[device].first; }
  NodeNumber end(DeviceId device) const { return pools_[device].end; }

  bool fits(const Gang& gang) const;
  std::optional<Places> places_for(const Gang& gang) const;
  // Free devices on nodes that have less than `part` of them: of no use to who needs that many.
  int64_t free_below(DeviceId device, int32_t part) const;

  void take(const Gang& gang, const Places& places);
  void give_back(const Gang& gang, const Places& places);
  void set_free(NodeNumber node, int32_t free);

 private:
  struct Pool {
    NodeNumber first = 0, end = 0;
    int32_t node_size = 0;  // of the largest
    int64_t capacity = 0, free = 0;
    std::vector<int64_t> count;               // nodes with so many free
    std::vector<std::vector<uint64_t>> bits;  // by free: which
  };
  // The first node at or after `from` with so many free; `end` of the pool where there is none.
  static NodeNumber next(const Pool& pool, int32_t free, NodeNumber from);
  int64_t nodes_with(const Pool& pool, int32_t part) const;

  std::vector<Pool> pools_;  // by device
  std::vector<int32_t> free_, sizes_;
  std::vector<DeviceId> device_;  // by node
};

}  // namespace fairlead::contest
