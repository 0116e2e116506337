// Room for who waits by moving others: enough devices are free, and on no node together.
//
// A node is chosen, some that stand on it go to free devices elsewhere, and the claimant has room.
// Of all such plans the one is told that loses the fewest device-seconds (a move is a requeue: what
// was done since the last checkpoint is done again); of equals the one with fewer devices moved,
// then fewer moves, then the lower node. Nothing is done by it: it is priced, to be proposed.
//
// Nodes of one class of devices; each that stands there stands on one node. Who may not be moved is
// not stated as movable. Search: of each node the sets of its kMovedMax cheapest from which nobody
// could stay, all together in the order of their price, kPacksTried of them. Whether those of a set
// find room elsewhere is the caller's to say. Cost: O(nodes * 2^kMovedMax), and the packs.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "policy/work.h"

namespace fairlead::policy {

constexpr size_t kMovedMax = 8;   // chosen: considered on one node, the cheapest first
constexpr int kPacksTried = 256;  // chosen

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
  size_t to = 0;  // a node, by the number that who packs gives it
  int32_t devices = 0;
  int64_t lost_device_seconds = 0;
  bool operator==(const Move&) const = default;
};
struct MovePlan {
  size_t node = 0;  // index: where there is room then, and they come from
  std::vector<Move> moves;
  int32_t devices = 0;  // that are moved
  int64_t lost_device_seconds = 0;
  bool operator==(const MovePlan&) const = default;
};

// Says where each goes, the largest first; false: not all of them find room.
using Pack = std::function<bool(MovePlan&)>;

// Nothing: no such moves were found. No moves: there is room.
std::optional<MovePlan> cheapest_moves(const std::vector<NodeOfWork>& nodes, int32_t devices,
                                       const Pack& pack);

}  // namespace fairlead::policy
