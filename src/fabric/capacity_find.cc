// Where whole devices fit.
#include <bit>
#include <utility>

#include "base/check.h"
#include "fabric/capacity_index.h"

namespace fairlead {

bool CapacityIndex::find(const Gang& gang, Placement& out) const {
  CHECK(gang.workers > 0 && gang.devices > 0);
  out.grants.clear();
  out.level = kOneNode;
  if (gang.asks_part()) return find_part(gang, out);
  const int64_t devices = int64_t{gang.workers} * gang.devices;
  if (devices <= widest_ && (gang.workers == 1 || !gang.apart)) {
    const auto at = tightest(static_cast<int32_t>(devices), gang.workers, gang);
    if (at) {
      out.grants.push_back({.at = *at, .workers = gang.workers});
      return true;
    }
  }
  const int top = std::min(gang.level_max, tree_.levels() - 1);
  if (gang.workers == 1 || slots(tree_.levels() - 1, 0, gang) < gang.workers) return false;
  for (int level = 0; level <= top; ++level) {
    if (const auto domain = domain_for(level, gang)) {
      fill(level, *domain, gang.workers, gang, out);
      out.level = level;
      return true;
    }
  }
  return false;
}

// --- one node

// The node with fewest free that has `devices`; of several the one whose leaf has fewest whole
// nodes; of these the first.
std::optional<Position> CapacityIndex::tightest(int32_t devices, int32_t workers,
                                                const Gang& gang) const {
  const size_t per_block = static_cast<size_t>(widest_) + 1;
  // The last bucket has leaves of different counts where leaves are larger than it.
  const uint32_t exact = buckets_ == 1 ? 1 : buckets_ - 1;
  for (int32_t free = devices; free <= widest_; ++free) {
    if (nodes_with(free) == 0) continue;
    const uint64_t* with = &counts_.with[static_cast<size_t>(free) * words_];
    for (uint32_t b = 0; b < exact; ++b) {
      if (counts_.leaves_by_whole[b] == 0) continue;
      const uint64_t* leaves = &counts_.by_whole[b * words_];
      for (size_t word = 0; word < words_; ++word) {
        for (uint64_t set = with[word] & leaves[word]; set != 0; set &= set - 1) {
          const auto block = static_cast<uint32_t>(word * 64 + std::countr_zero(set));
          const uint32_t nodes = counts_.masks[block * per_block + static_cast<size_t>(free)];
          if (const auto at = first_in(block, nodes, workers, gang)) return at;
        }
      }
    }
    if (buckets_ > 1 && counts_.leaves_by_whole[buckets_ - 1] > 0) {
      if (const auto at = among_roomy(free, workers, gang)) return at;
    }
  }
  return std::nullopt;
}

// The same among the leaves of the last bucket.
std::optional<Position> CapacityIndex::among_roomy(int32_t free, int32_t workers,
                                                   const Gang& gang) const {
  const size_t per_block = static_cast<size_t>(widest_) + 1;
  const uint64_t* with = &counts_.with[static_cast<size_t>(free) * words_];
  const uint64_t* leaves = &counts_.by_whole[(buckets_ - 1) * words_];
  std::optional<Position> best;
  uint32_t best_whole = UINT32_MAX;
  for (size_t word = 0; word < words_; ++word) {
    for (uint64_t set = with[word] & leaves[word]; set != 0; set &= set - 1) {
      const auto block = static_cast<uint32_t>(word * 64 + std::countr_zero(set));
      const uint32_t whole = counts_.whole[leaf_of_block_[block]];
      if (whole >= best_whole) continue;
      const uint32_t nodes = counts_.masks[block * per_block + static_cast<size_t>(free)];
      if (const auto at = first_in(block, nodes, workers, gang)) best = at, best_whole = whole;
    }
  }
  return best;
}

std::optional<Position> CapacityIndex::first_in(uint32_t block, uint32_t candidates,
                                                int32_t workers, const Gang& gang) const {
  if (gang.only != nullptr) candidates &= gang.only->block(block);
  for (; candidates != 0; candidates &= candidates - 1) {
    const Position at = block * kBlockNodes + static_cast<uint32_t>(std::countr_zero(candidates));
    if (sides_hold(at, workers, gang)) return at;
  }
  return std::nullopt;
}

bool CapacityIndex::sides_hold(Position at, int64_t workers, const Gang& gang) const {
  if (gang.cpus == 0 && gang.memory_mb == 0) return true;
  return workers_by_sides(at, gang) >= workers;
}

int64_t CapacityIndex::workers_by_sides(Position at, const Gang& gang) const {
  int64_t most = std::numeric_limits<int64_t>::max();
  if (gang.cpus > 0) most = std::max(0, cpus_free(at)) / gang.cpus;
  if (gang.memory_mb > 0)
    most = std::min(most, std::max<int64_t>(0, memory_free_mb(at)) / gang.memory_mb);
  return most;
}

// --- how many fit

int64_t CapacityIndex::slots(int level, uint32_t domain, const Gang& gang) const {
  if (gang.devices > widest_) return 0;
  if (gang.apart) return hosts(level, domain, gang.devices);
  int64_t sum = 0;
  for (int32_t k = gang.devices; k <= widest_; k += gang.devices) sum += hosts(level, domain, k);
  return sum;
}

int64_t CapacityIndex::workers_on(Position at, const Gang& gang) const {
  if (gang.only != nullptr && !gang.only->has(at)) return 0;
  int64_t workers = gang.asks_part() ? parts_on(at, gang) : free_[at] / gang.devices;
  workers = std::min(workers, workers_by_sides(at, gang));
  return gang.apart ? std::min<int64_t>(workers, 1) : workers;
}

int64_t CapacityIndex::workers_below(int level, uint32_t domain, const Gang& gang) const {
  if (gang.plain()) return slots(level, domain, gang);
  const DomainTree::Range leaves = tree_.leaves_below(level, domain);
  const DomainTree::Range blocks = blocks_of(leaves.first, leaves.end);
  if (!gang.asks_part())
    return slots(level, domain, gang) == 0 ? 0 : workers_of_candidates(blocks, gang);
  int64_t sum = 0;
  for (Position at = blocks.first * kBlockNodes; at < blocks.end * kBlockNodes; ++at) {
    if (nodes_[at] != kNoNode) sum += workers_on(at, gang);
  }
  return sum;
}

// Only nodes with enough free are looked at, and only blocks that have such a node.
int64_t CapacityIndex::workers_of_candidates(DomainTree::Range blocks, const Gang& gang) const {
  const size_t per_block = static_cast<size_t>(widest_) + 1;
  const bool has_sides = gang.cpus > 0 || gang.memory_mb > 0;
  int64_t sum = 0;
  for (uint32_t first = blocks.first; first < blocks.end; first = (first / 64 + 1) * 64) {
    uint64_t set = 0;
    for (int32_t free = gang.devices; free <= widest_; ++free)
      set |= counts_.with[static_cast<size_t>(free) * words_ + first / 64];
    set &= ~uint64_t{0} << first % 64;
    const uint32_t end = (first / 64 + 1) * 64;
    if (end > blocks.end) set &= ~uint64_t{0} >> (end - blocks.end);
    for (; set != 0; set &= set - 1) {
      const uint32_t block = first / 64 * 64 + static_cast<uint32_t>(std::countr_zero(set));
      uint32_t nodes = 0;
      for (int32_t free = gang.devices; free <= widest_; ++free)
        nodes |= counts_.masks[block * per_block + static_cast<size_t>(free)];
      if (gang.only != nullptr) nodes &= gang.only->block(block);
      if (gang.apart && !has_sides) {
        sum += std::popcount(nodes);
        continue;
      }
      for (; nodes != 0; nodes &= nodes - 1)
        sum +=
            workers_on(block * kBlockNodes + static_cast<uint32_t>(std::countr_zero(nodes)), gang);
    }
  }
  return sum;
}

int64_t CapacityIndex::workers_most(int level, const Gang& gang) const {
  int64_t most = 0;
  for (uint32_t domain = 0; domain < tree_.count(level); ++domain)
    most = std::max(most, workers_below(level, domain, gang));
  return most;
}

// --- which domain

// The leaf with fewest whole nodes, and at least `nodes` of them. Only where every node is as wide
// as the widest: there these are its slots for whole nodes.
std::optional<uint32_t> CapacityIndex::leaf_by_whole(uint32_t nodes) const {
  for (uint32_t b = nodes; b + 1 < buckets_; ++b) {
    if (counts_.leaves_by_whole[b] == 0) continue;
    for (size_t word = 0; word < words_; ++word) {
      const uint64_t set = counts_.by_whole[b * words_ + word];
      if (set != 0) return leaf_of_block_[word * 64 + static_cast<size_t>(std::countr_zero(set))];
    }
  }
  std::optional<uint32_t> best;
  if (counts_.leaves_by_whole[buckets_ - 1] == 0) return best;
  for (uint32_t leaf = 0; leaf < tree_.leaves(); ++leaf) {
    const uint32_t whole = counts_.whole[leaf];
    if (whole >= nodes && (!best || whole < counts_.whole[*best])) best = leaf;
  }
  return best;
}

std::optional<uint32_t> CapacityIndex::domain_for(int level, const Gang& gang) const {
  if (level == 0 && gang.plain() && sizes_.empty() && gang.devices == widest_)
    return leaf_by_whole(static_cast<uint32_t>(gang.workers));
  struct Rank {
    int64_t children, slots;
    uint32_t whole;
    auto operator<=>(const Rank&) const = default;
  };
  std::optional<uint32_t> best;
  Rank best_rank{};
  for (uint32_t domain = 0; domain < tree_.count(level); ++domain) {
    const int64_t fit =
        gang.asks_part() ? workers_below(level, domain, gang) : slots(level, domain, gang);
    if (fit < gang.workers) continue;
    if (!gang.plain() && workers_below(level, domain, gang) < gang.workers) continue;
    const Rank rank{.children = level == 0 ? 0 : children_used(level, domain, gang),
                    .slots = fit,
                    .whole = level == 0 ? counts_.whole[domain] : 0};
    if (!best || rank < best_rank) best = domain, best_rank = rank;
  }
  return best;
}

// How many children of a domain the gang takes, largest first.
int32_t CapacityIndex::children_used(int level, uint32_t domain, const Gang& gang) const {
  const DomainTree::Range children = tree_.children(level, domain);
  std::vector<int64_t> workers;
  for (uint32_t c = children.first; c < children.end; ++c)
    workers.push_back(workers_below(level - 1, c, gang));
  std::ranges::sort(workers, std::greater<>());
  int64_t rest = gang.workers;
  int32_t used = 0;
  for (; rest > 0; ++used) rest -= workers[static_cast<size_t>(used)];
  return used;
}

// --- which nodes of it

void CapacityIndex::fill(int level, uint32_t domain, int64_t workers, const Gang& gang,
                         Placement& out) const {
  if (level == 0) return fill_leaf(domain, workers, gang, out);
  const DomainTree::Range children = tree_.children(level, domain);
  std::vector<std::pair<int64_t, uint32_t>> by_workers;  // most first
  for (uint32_t c = children.first; c < children.end; ++c)
    by_workers.emplace_back(-workers_below(level - 1, c, gang), c);
  std::ranges::sort(by_workers);
  for (size_t i = 0; workers > 0; ++i) {
    CHECK(i < by_workers.size());
    size_t pick = i;
    if (-by_workers[i].first >= workers) {  // the tightest that suffices is the last
      while (pick + 1 < by_workers.size() && -by_workers[pick + 1].first >= workers) ++pick;
      while (pick > i && by_workers[pick - 1].first == by_workers[pick].first) --pick;
    }
    const int64_t some = std::min(workers, -by_workers[pick].first);
    fill(level - 1, by_workers[pick].second, some, gang, out);
    workers -= some;
  }
}

// The tightest nodes first.
void CapacityIndex::fill_leaf(uint32_t leaf, int64_t workers, const Gang& gang,
                              Placement& out) const {
  const DomainTree::Range blocks = blocks_of(leaf, leaf + 1);
  if (gang.asks_part())
    return fill_parts(blocks.first * kBlockNodes, blocks.end * kBlockNodes, workers, gang, out);
  const size_t per_block = static_cast<size_t>(widest_) + 1;
  for (int32_t free = gang.devices; free <= widest_ && workers > 0; ++free) {
    for (uint32_t block = blocks.first; block < blocks.end && workers > 0; ++block) {
      uint32_t nodes = counts_.masks[block * per_block + static_cast<size_t>(free)];
      for (; nodes != 0 && workers > 0; nodes &= nodes - 1) {
        const Position at = block * kBlockNodes + static_cast<uint32_t>(std::countr_zero(nodes));
        const int64_t some = std::min(workers, workers_on(at, gang));
        if (some == 0) continue;
        out.grants.push_back({.at = at, .workers = static_cast<int32_t>(some)});
        workers -= some;
      }
    }
  }
  CHECK(workers == 0);
}

}  // namespace fairlead
