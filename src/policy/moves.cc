#include "policy/moves.h"

#include <algorithm>
#include <tuple>

namespace fairlead::policy {
namespace {

using Price = std::tuple<int64_t, int32_t, size_t>;  // lost, devices, moves; then the lower node

Price price_of(const MovePlan& plan) {
  return {plan.lost_device_seconds, plan.devices, plan.moves.size()};
}

// Those that a set moves, the largest first, with what that costs.
MovePlan plan_of(const std::vector<Resident>& residents, uint32_t set, size_t node) {
  MovePlan plan{.node = node, .moves = {}};
  for (size_t i = 0; i < residents.size(); ++i) {
    if ((set >> i & 1) == 0) continue;
    const Resident& r = residents[i];
    plan.moves.push_back({.work = r.id, .from = node, .devices = r.devices});
    plan.devices += r.devices;
    plan.lost_device_seconds += r.lost_device_seconds;
  }
  std::ranges::sort(plan.moves, {}, [](const Move& m) { return std::pair(-m.devices, m.work); });
  return plan;
}

// Best fit: the least room that suffices, the lower node among equals.
bool pack(const std::vector<NodeOfWork>& nodes, MovePlan& plan) {
  std::vector<int32_t> free;
  for (const NodeOfWork& n : nodes) free.push_back(n.free);
  free[plan.node] = 0;
  for (Move& move : plan.moves) {
    std::optional<size_t> best;
    for (size_t n = 0; n < free.size(); ++n)
      if (free[n] >= move.devices && (!best || free[n] < free[*best])) best = n;
    if (!best) return false;
    free[*best] -= move.devices;
    move.to = *best;
  }
  return true;
}

std::vector<Resident> cheapest(std::vector<Resident> residents) {
  std::ranges::sort(residents, {}, [](const Resident& r) {
    return std::tuple(r.lost_device_seconds, r.devices, r.id);
  });
  if (residents.size() > kMovedMax) residents.resize(kMovedMax);
  return residents;
}

}  // namespace

std::optional<MovePlan> cheapest_moves(const std::vector<NodeOfWork>& nodes, int32_t devices) {
  std::optional<MovePlan> best;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const std::vector<Resident> residents = cheapest(nodes[n].movable);
    for (uint32_t set = 0; set < uint32_t{1} << residents.size(); ++set) {
      MovePlan plan = plan_of(residents, set, n);
      if (nodes[n].free + plan.devices < devices) continue;
      if (best && !(price_of(plan) < price_of(*best))) continue;
      if (pack(nodes, plan)) best = std::move(plan);
    }
  }
  return best;
}

}  // namespace fairlead::policy
