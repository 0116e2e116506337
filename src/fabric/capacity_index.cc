#include "fabric/capacity_index.h"

#include <utility>

#include "base/check.h"

namespace fairlead {
namespace {

constexpr uint32_t kBucketsMax = 64;  // leaves with more whole nodes share the last one

void set_bit(uint64_t* set, uint32_t i) { set[i / 64] |= uint64_t{1} << i % 64; }
void clear_bit(uint64_t* set, uint32_t i) { set[i / 64] &= ~(uint64_t{1} << i % 64); }

template <class T>
size_t bytes_of(const std::vector<T>& v) {
  return v.size() * sizeof(T);
}

}  // namespace

CapacityIndex::CapacityIndex(DomainTree tree, std::vector<CapacityNode> nodes,
                             const SliceTable* slices)
    : tree_(std::move(tree)), slices_(slices) {
  std::ranges::sort(nodes, [](const CapacityNode& a, const CapacityNode& b) {
    return a.leaf != b.leaf ? a.leaf < b.leaf : a.node < b.node;
  });
  lay_out(nodes);
  size_t at = 0;
  for (int level = 0; level < tree_.levels(); ++level) {
    hosts_at_.push_back(at);
    at += static_cast<size_t>(widest_) * tree_.count(level);
  }
  counts_ = recount();
}

// Requires: nodes are in order.
void CapacityIndex::lay_out(const std::vector<CapacityNode>& nodes) {
  std::vector<uint32_t> in_leaf(tree_.leaves(), 0);
  bool even = true, sides = false;
  for (const CapacityNode& n : nodes) {
    CHECK(n.leaf < tree_.leaves() && n.devices > 0 && n.devices <= kDevicesPerNodeMax);
    ++in_leaf[n.leaf];
    widest_ = std::max(widest_, n.devices);
    even = even && n.devices == nodes[0].devices;
    sides = sides || n.cpus != 0 || n.memory_mb != 0;
    if (n.node >= position_of_.size()) position_of_.resize(n.node + 1, kNoNode);
  }
  for (uint32_t leaf = 0; leaf < tree_.leaves(); ++leaf) {
    block_of_leaf_.push_back(static_cast<uint32_t>(leaf_of_block_.size()));
    leaf_of_block_.resize(leaf_of_block_.size() + (in_leaf[leaf] + kBlockNodes - 1) / kBlockNodes,
                          leaf);
    if (tree_.leaves() > 1) buckets_ = std::max(buckets_, std::min(in_leaf[leaf] + 1, kBucketsMax));
  }
  block_of_leaf_.push_back(static_cast<uint32_t>(leaf_of_block_.size()));
  words_ = (leaf_of_block_.size() + 63) / 64;

  const size_t positions = leaf_of_block_.size() * kBlockNodes;
  free_.resize(positions, 0);
  nodes_.resize(positions, kNoNode);
  if (!even) sizes_.resize(positions, 0);
  if (sides) cpus_.resize(positions, 0), memory_mb_.resize(positions, 0);
  std::vector<uint32_t> placed(tree_.leaves(), 0);
  for (const CapacityNode& n : nodes) {
    const Position at = block_of_leaf_[n.leaf] * kBlockNodes + placed[n.leaf]++;
    CHECK(position_of_[n.node] == kNoNode);
    position_of_[n.node] = at;
    nodes_[at] = n.node;
    free_[at] = static_cast<uint8_t>(n.devices);
    if (!even) sizes_[at] = static_cast<uint8_t>(n.devices);
    if (sides) cpus_[at] = n.cpus, memory_mb_[at] = n.memory_mb;
  }
}

CapacityCounts CapacityIndex::recount() const {
  CapacityCounts c;
  const auto per_block = static_cast<size_t>(widest_) + 1;
  c.masks.resize(blocks() * per_block, 0);
  c.with.resize(per_block * words_, 0);
  c.by_whole.resize(buckets_ * words_, 0);
  c.leaves_by_whole.resize(buckets_, 0);
  c.whole.resize(tree_.leaves(), 0);
  c.hosts.resize(hosts_at_.back() + static_cast<size_t>(widest_), 0);  // the last level has a root
  for (Position at = 0; at < nodes_.size(); ++at) {
    if (nodes_[at] == kNoNode) continue;
    const uint32_t block = at / kBlockNodes;
    const int32_t free = free_[at];
    c.masks[block * per_block + static_cast<size_t>(free)] |= 1U << at % kBlockNodes;
    if (free > 0) set_bit(&c.with[static_cast<size_t>(free) * words_], block);
    if (free == size(at)) ++c.whole[leaf(at)];
    uint32_t domain = leaf(at);
    for (int level = 0; level < tree_.levels(); ++level) {
      uint32_t* hosts = &c.hosts[host_counters(level, domain)];
      for (int32_t k = 0; k < free; ++k) ++hosts[k];
      if (level + 1 < tree_.levels()) domain = tree_.above(level, domain);
    }
  }
  for (uint32_t leaf = 0; leaf < tree_.leaves(); ++leaf) {
    const uint32_t b = bucket(c.whole[leaf]);
    ++c.leaves_by_whole[b];
    for (uint32_t block = block_of_leaf_[leaf]; block < block_of_leaf_[leaf + 1]; ++block)
      set_bit(&c.by_whole[b * words_], block);
  }
  return c;
}

void CapacityIndex::show(Position at, int32_t now) {
  const int32_t was = free_[at];
  if (was == now) return;
  free_[at] = static_cast<uint8_t>(now);

  const uint32_t block = at / kBlockNodes;
  const uint32_t bit = 1U << at % kBlockNodes;
  uint32_t* masks = &counts_.masks[block * (static_cast<size_t>(widest_) + 1)];
  masks[was] &= ~bit;
  masks[now] |= bit;
  if (was > 0 && masks[was] == 0)
    clear_bit(&counts_.with[static_cast<size_t>(was) * words_], block);
  if (now > 0) set_bit(&counts_.with[static_cast<size_t>(now) * words_], block);

  const uint32_t leaf = leaf_of_block_[block];
  const uint32_t step = now > was ? 1 : UINT32_MAX;
  const auto low = static_cast<size_t>(std::min(was, now));
  const auto high = static_cast<size_t>(std::max(was, now));
  const int levels = tree_.levels();
  uint32_t domain = leaf;
  for (int level = 0;; ++level) {
    uint32_t* hosts = &counts_.hosts[host_counters(level, domain)];
    for (size_t k = low; k < high; ++k) hosts[k] += step;
    if (level + 1 == levels) break;
    domain = tree_.above(level, domain);
  }
  const int32_t whole = size(at);
  if ((was == whole) != (now == whole)) count_whole(leaf, now == whole);
}

void CapacityIndex::count_whole(uint32_t leaf, bool more) {
  uint32_t& whole = counts_.whole[leaf];
  const uint32_t from = bucket(whole);
  whole += more ? 1 : UINT32_MAX;
  const uint32_t to = bucket(whole);
  if (from == to) return;
  --counts_.leaves_by_whole[from];
  ++counts_.leaves_by_whole[to];
  for (uint32_t block = block_of_leaf_[leaf]; block < block_of_leaf_[leaf + 1]; ++block) {
    clear_bit(&counts_.by_whole[from * words_], block);
    set_bit(&counts_.by_whole[to * words_], block);
  }
}

int32_t CapacityIndex::actual(Position at) const {
  if (hidden_.empty()) return free_[at];
  const auto hidden = hidden_.find(at);
  return hidden == hidden_.end() ? free_[at] : hidden->second;
}

void CapacityIndex::set_actual(Position at, int32_t value) {
  CHECK(value >= 0 && value <= size(at));
  const auto hidden = hidden_.empty() ? hidden_.end() : hidden_.find(at);
  if (hidden == hidden_.end())
    show(at, value);
  else
    hidden->second = value;
}

void CapacityIndex::set_in_service(Position at, bool in_service) {
  CHECK(at < nodes_.size() && nodes_[at] != kNoNode);
  if (in_service == this->in_service(at)) return;
  const int32_t value = actual(at);
  if (in_service)
    hidden_.erase(at);
  else
    hidden_[at] = value;
  show(at, in_service ? value : 0);
}

void CapacityIndex::set_free(Position at, int32_t devices) {
  CHECK(devices + static_cast<int32_t>(divided_.on(at).size()) <= size(at));
  set_actual(at, devices);
}

void CapacityIndex::set_sides(Position at, int32_t cpus, int64_t memory_mb) {
  if (cpus_.empty()) {  // until now no node had any
    cpus_.resize(free_.size(), 0);
    memory_mb_.resize(free_.size(), 0);
  }
  cpus_[at] = cpus;
  memory_mb_[at] = memory_mb;
}

void CapacityIndex::change_sides(const Grant& grant, const Gang& gang, int32_t sign) {
  if (cpus_.empty()) return;
  if (gang.cpus != 0) cpus_[grant.at] += sign * grant.workers * gang.cpus;
  if (gang.memory_mb != 0) memory_mb_[grant.at] += int64_t{sign} * grant.workers * gang.memory_mb;
}

void CapacityIndex::take(const Grant& grant, const Gang& gang) {
  if (gang.asks_part())
    take_part(grant, gang);
  else
    set_actual(grant.at, actual(grant.at) - grant.workers * gang.devices);
  change_sides(grant, gang, -1);
}

void CapacityIndex::give_back(const Grant& grant, const Gang& gang) {
  if (gang.asks_part()) {
    give_back_part(grant, gang);
  } else {
    const int32_t free = actual(grant.at) + grant.workers * gang.devices;
    CHECK(divided_.empty() ||
          free + static_cast<int32_t>(divided_.on(grant.at).size()) <= size(grant.at));
    set_actual(grant.at, free);
  }
  change_sides(grant, gang, 1);
}

void CapacityIndex::take(const Placement& placement, const Gang& gang) {
  for (const Grant& grant : placement.grants) take(grant, gang);
}

void CapacityIndex::give_back(const Placement& placement, const Gang& gang) {
  for (auto grant = placement.grants.rbegin(); grant != placement.grants.rend(); ++grant)
    give_back(*grant, gang);
}

std::optional<Position> CapacityIndex::position(NodeIndex node) const {
  if (node >= position_of_.size() || position_of_[node] == kNoNode) return std::nullopt;
  return position_of_[node];
}

NodeMask CapacityIndex::mask_of(std::span<const NodeIndex> nodes) const {
  NodeMask mask(blocks());
  for (const NodeIndex node : nodes) {
    if (const auto at = position(node)) mask.set(*at);
  }
  return mask;
}

uint32_t CapacityIndex::nodes_with(int32_t free) const {
  const int top = tree_.levels() - 1;
  return hosts(top, 0, free) - (free < widest_ ? hosts(top, 0, free + 1) : 0);
}

int64_t CapacityIndex::devices_free() const {
  int64_t sum = 0;
  for (int32_t k = 1; k <= widest_; ++k) sum += hosts(tree_.levels() - 1, 0, k);
  return sum;
}

CapacityIndex::Bytes CapacityIndex::bytes() const {
  return {.index = bytes_of(free_) + bytes_of(sizes_) + bytes_of(leaf_of_block_) +
                   bytes_of(block_of_leaf_) + bytes_of(counts_.masks) + bytes_of(counts_.with) +
                   bytes_of(counts_.by_whole) + bytes_of(counts_.leaves_by_whole) +
                   bytes_of(counts_.whole) + bytes_of(counts_.hosts),
          .names = bytes_of(nodes_) + bytes_of(position_of_),
          .sides = bytes_of(cpus_) + bytes_of(memory_mb_)};
}

}  // namespace fairlead
