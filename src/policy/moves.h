// Room for who waits by moving others: enough devices are free, and on no node together.
//
// A node is chosen, some that stand on it go to free devices elsewhere, and the claimant has room.
// Among all such plans the one that loses the fewest device-seconds is found (a move is a requeue:
// what was done since the last checkpoint is done again); of equals the one with fewer devices
// moved, then fewer moves, then the lower node. Nothing is done by it: it is priced, to be
// proposed.
//
// Nodes of one class of devices; each that stands there stands on one node. Who may not be moved
// is not stated as movable. Search: the sets of those on a node, at most kMovedMax of them, each
// packed elsewhere by best fit, the largest first; so a plan that is told can be done, and one that
// needs a cleverer packing may be missed. Cost: O(nodes * 2^kMovedMax * kMovedMax * nodes).
#pragma once

#include <optional>
#include <vector>

#include "policy/work.h"

namespace fairlead::policy {

constexpr size_t kMovedMax = 8;  // chosen: considered on one node, the cheapest first

struct Resident {
  WorkId id = 0;
  int32_t devices = 0;
  int64_t lost_device_seconds = 0;  // by moving it
};
struct NodeOfWork {
  int32_t free = 0;
  std::vector<Resident> movable;
};

struct Move {
  WorkId work = 0;
  size_t from = 0, to = 0;  // indices of nodes
  int32_t devices = 0;
  bool operator==(const Move&) const = default;
};
struct MovePlan {
  size_t node = 0;  // where there is room then
  std::vector<Move> moves;
  int32_t devices = 0;  // that are moved
  int64_t lost_device_seconds = 0;
  bool operator==(const MovePlan&) const = default;
};

// Nothing: no such moves make room for `devices` on one node. No moves: there is room.
std::optional<MovePlan> cheapest_moves(const std::vector<NodeOfWork>& nodes, int32_t devices);

}  // namespace fairlead::policy
