#include "contest/board.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace fairlead::contest {

Gang gang_of(DeviceId device, int64_t devices, int32_t node_size) {
  CHECK(devices > 0 && node_size > 0);
  if (devices <= node_size)
    return {.device = device, .full = 1, .each = static_cast<int32_t>(devices), .rest = 0};
  return {.device = device,
          .full = static_cast<int32_t>(devices / node_size),
          .each = node_size,
          .rest = static_cast<int32_t>(devices % node_size)};
}

Gang gang_on(DeviceId device, int64_t devices, int32_t nodes) {
  CHECK(devices > 0 && nodes > 0);
  const auto each = static_cast<int32_t>((devices + nodes - 1) / nodes);
  return gang_of(device, devices, each);
}

Board::Board(const std::vector<NodeGroup>& groups, size_t devices) : pools_(devices) {
  for (const NodeGroup& group : groups) {
    CHECK(group.device < devices && group.nodes >= 0 && group.each >= 0);
    Pool& pool = pools_[group.device];
    const auto begin = static_cast<NodeNumber>(free_.size());
    if (pool.end == 0) pool.first = begin;
    CHECK(pool.end == 0 || pool.end == begin);
    free_.resize(free_.size() + static_cast<size_t>(group.nodes), group.each);
    device_.resize(free_.size(), group.device);
    pool.end = static_cast<NodeNumber>(free_.size());
    pool.node_size = std::max(pool.node_size, group.each);
    pool.capacity += int64_t{group.nodes} * group.each;
  }
  sizes_ = free_;
  for (Pool& pool : pools_) {
    pool.free = pool.capacity;
    pool.count.resize(static_cast<size_t>(pool.node_size) + 1);
    pool.bits.resize(pool.count.size(), std::vector<uint64_t>((pool.end - pool.first + 63) / 64));
    for (NodeNumber n = pool.first; n < pool.end; ++n) {
      const auto f = static_cast<size_t>(free_[n]);
      ++pool.count[f];
      pool.bits[f][(n - pool.first) / 64] |= uint64_t{1} << (n - pool.first) % 64;
    }
  }
}

int64_t Board::nodes_with(const Pool& pool, int32_t part) const {
  int64_t nodes = 0;
  for (auto f = static_cast<size_t>(part); f < pool.count.size(); ++f) nodes += pool.count[f];
  return nodes;
}

bool Board::fits(const Gang& gang) const {
  const Pool& pool = pools_[gang.device];
  if (gang.total() > pool.free || nodes_with(pool, gang.each) < gang.full) return false;
  return gang.rest == 0 || nodes_with(pool, gang.rest) > gang.full;
}

NodeNumber Board::next(const Pool& pool, int32_t free, NodeNumber from) {
  const std::vector<uint64_t>& bits = pool.bits[static_cast<size_t>(free)];
  const size_t offset = from - pool.first;
  for (size_t word = offset / 64; word < bits.size(); ++word) {
    uint64_t here = bits[word];
    if (word == offset / 64) here &= ~uint64_t{0} << offset % 64;
    if (here != 0)
      return pool.first + static_cast<NodeNumber>(word * 64) +
             static_cast<NodeNumber>(std::countr_zero(here));
  }
  return pool.end;
}

std::optional<Places> Board::places_for(const Gang& gang) const {
  if (!fits(gang)) return std::nullopt;
  const Pool& pool = pools_[gang.device];
  Places places;
  places.reserve(static_cast<size_t>(gang.full) + (gang.rest > 0 ? 1 : 0));
  const auto choose = [&](int32_t part, size_t wanted) {
    for (int32_t f = part; f <= pool.node_size && places.size() < wanted; ++f) {
      if (pool.count[static_cast<size_t>(f)] == 0) continue;
      for (NodeNumber n = next(pool, f, pool.first); n < pool.end && places.size() < wanted;
           n = n + 1 < pool.end ? next(pool, f, n + 1) : pool.end) {
        if (part != gang.rest || gang.full == 0 || std::ranges::find(places, n) == places.end())
          places.push_back(n);
      }
    }
  };
  choose(gang.each, static_cast<size_t>(gang.full));
  if (gang.rest > 0) choose(gang.rest, static_cast<size_t>(gang.full) + 1);
  return places;
}

int64_t Board::free_below(DeviceId device, int32_t part) const {
  const Pool& pool = pools_[device];
  int64_t sum = 0;
  for (int32_t f = 1; f < part && f <= pool.node_size; ++f)
    sum += f * pool.count[static_cast<size_t>(f)];
  return sum;
}

void Board::set_free(NodeNumber node, int32_t free) {
  CHECK(free >= 0 && free <= sizes_[node]);
  Pool& pool = pools_[device_[node]];
  const auto before = static_cast<size_t>(free_[node]), after = static_cast<size_t>(free);
  if (before == after) return;
  const size_t word = (node - pool.first) / 64;
  const uint64_t bit = uint64_t{1} << (node - pool.first) % 64;
  --pool.count[before];
  ++pool.count[after];
  pool.bits[before][word] &= ~bit;
  pool.bits[after][word] |= bit;
  pool.free += free - free_[node];
  free_[node] = free;
}

void Board::take(const Gang& gang, const Places& places) {
  for (size_t i = 0; i < places.size(); ++i) {
    const int32_t part = i < static_cast<size_t>(gang.full) ? gang.each : gang.rest;
    set_free(places[i], free_[places[i]] - part);
  }
}

void Board::give_back(const Gang& gang, const Places& places) {
  for (size_t i = 0; i < places.size(); ++i) {
    const int32_t part = i < static_cast<size_t>(gang.full) ? gang.each : gang.rest;
    set_free(places[i], free_[places[i]] + part);
  }
}

}  // namespace fairlead::contest
