// Random walks of an index against a plain list of nodes that is searched whole: after every step
// all counters equal a recount, and every answer is the one that the search gives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/rng.h"
#include "fabric/capacity_index.h"
#include "fabric/overlay.h"

namespace fairlead {
namespace {

struct Held {
  Gang gang;
  Placement placement;
};

struct World {
  Rng rng;
  DomainTree tree;
  std::vector<CapacityNode> nodes;
  std::vector<uint32_t> leaf_of;
  CapacityIndex index;
  std::vector<Held> held;
  std::vector<NodeMask> masks;

  explicit World(uint64_t seed)
      : rng(seed), tree(random_tree()), index(tree, random_nodes(), table()) {
    for (int i = 0; i < 3; ++i) {
      std::vector<NodeIndex> some;
      for (const CapacityNode& n : nodes) {
        if (rng.chance(600'000)) some.push_back(n.node);
      }
      masks.push_back(index.mask_of(some));
    }
  }
  static const SliceTable* table() { return slice_table("A100-80G"); }

  DomainTree random_tree() {
    const auto leaves = static_cast<uint32_t>(rng.between(1, 9));
    std::vector<uint32_t> per;
    for (int64_t depth = rng.between(0, 3); depth > 0; --depth)
      per.push_back(static_cast<uint32_t>(rng.between(1, 3)));
    return DomainTree::regular(leaves, per);
  }

  // Leaves of 0…80 nodes of one size or of several, up to 20 devices; numbers in any order.
  std::vector<CapacityNode> random_nodes() {
    const auto widest = static_cast<int32_t>(rng.between(1, rng.chance(200'000) ? 20 : 8));
    const bool even = rng.chance(500'000);
    const int64_t leaf_most = rng.chance(300'000) ? 80 : 5;
    for (uint32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
      for (int64_t n = rng.between(0, leaf_most); n > 0; --n)
        nodes.push_back({.leaf = leaf,
                         .devices = even ? widest : static_cast<int32_t>(rng.between(1, widest)),
                         .cpus = static_cast<int32_t>(rng.between(1, 32)),
                         .memory_mb = rng.between(1, 100)});
    }
    if (nodes.empty()) nodes.push_back({.devices = widest, .cpus = 8, .memory_mb = 50});
    for (uint32_t i = 0; i < nodes.size(); ++i) nodes[i].node = i;
    for (size_t i = nodes.size() - 1; i > 0; --i)
      std::swap(nodes[i].node, nodes[rng.below(i + 1)].node);
    return nodes;
  }

  Gang random_gang() {
    Gang gang{.workers = rng.chance(600'000) ? 1 : static_cast<int32_t>(rng.between(1, 24)),
              .devices = static_cast<int32_t>(rng.between(1, 9)),
              .apart = rng.chance(200'000)};
    const uint64_t kind = rng.below(10);
    if (kind < 2) {
      gang.devices = 1;
      gang.share_milli = static_cast<int32_t>(rng.between(1, 1000));
    } else if (kind < 4) {
      gang.devices = 1;
      gang.profile = static_cast<int32_t>(rng.below(table()->profiles().size()));
    }
    if (rng.chance(300'000)) gang.cpus = static_cast<int32_t>(rng.between(1, 8));
    if (rng.chance(200'000)) gang.memory_mb = rng.between(1, 30);
    if (rng.chance(200'000)) gang.only = &masks[rng.below(masks.size())];
    if (rng.chance(200'000)) gang.level_max = static_cast<int32_t>(rng.between(0, 2));
    return gang;
  }
};

// --- the plain search

int64_t on_node(const CapacityIndex& index, Position at, const Gang& gang) {
  if (!index.in_service(at) || (gang.only != nullptr && !gang.only->has(at))) return 0;
  int64_t n = index.free(at) / gang.devices;
  if (gang.share_milli > 0) {
    n = int64_t{index.free(at)} * (1000 / gang.share_milli);
    for (const DividedDevice& d : index.divided(at)) n += d.sliced ? 0 : d.state / gang.share_milli;
  } else if (gang.profile >= 0) {
    const SliceProfile& p = index.slices()->profiles()[static_cast<size_t>(gang.profile)];
    const auto places = [&](int32_t used) {
      int32_t count = 0;
      for (int32_t s = 0; s < 8; ++s) {
        const int32_t mask = ((1 << p.parts) - 1) << s;
        if ((p.starts >> s & 1) != 0 && (used & mask) == 0) ++count;
      }
      return count;
    };
    n = int64_t{index.free(at)} * places(0);
    for (const DividedDevice& d : index.divided(at)) n += d.sliced ? places(d.state) : 0;
  }
  if (gang.cpus > 0) n = std::min<int64_t>(n, index.cpus_free(at) / gang.cpus);
  if (gang.memory_mb > 0) n = std::min(n, index.memory_free_mb(at) / gang.memory_mb);
  return gang.apart ? std::min<int64_t>(n, 1) : n;
}

struct Search {
  const World& world;
  const CapacityIndex& index;
  std::vector<Position> positions;  // ascending

  explicit Search(const World& w) : world(w), index(w.index) {
    for (const CapacityNode& n : w.nodes) positions.push_back(index.position(n.node).value());
    std::ranges::sort(positions);
  }
  uint32_t domain(Position at, int level) const {
    uint32_t d = index.leaf(at);
    for (int l = 0; l < level; ++l) d = world.tree.above(l, d);
    return d;
  }
  std::vector<int64_t> by_domain(int level, const Gang& gang) const {
    std::vector<int64_t> sums(world.tree.count(level), 0);
    for (const Position at : positions) sums[domain(at, level)] += on_node(index, at, gang);
    return sums;
  }
  // The level at which the gang fits, or nothing.
  std::optional<int> level(const Gang& gang) const {
    for (const Position at : positions) {
      if (on_node(index, at, gang) >= gang.workers) return kOneNode;
    }
    if (gang.workers == 1) return std::nullopt;
    for (int l = 0; l < world.tree.levels() && l <= gang.level_max; ++l) {
      for (const int64_t n : by_domain(l, gang)) {
        if (n >= gang.workers) return l;
      }
    }
    return std::nullopt;
  }
  // The first of the nodes that are filled most tightly by all workers together.
  Position tightest(const Gang& gang) const {
    std::vector<uint32_t> whole(world.tree.leaves(), 0);
    for (const Position at : positions) {
      if (index.free(at) == index.size(at)) ++whole[index.leaf(at)];
    }
    std::optional<std::tuple<int32_t, uint32_t, Position>> best;
    for (const Position at : positions) {
      if (on_node(index, at, gang) < gang.workers) continue;
      const std::tuple rank{index.free(at), whole[index.leaf(at)], at};
      if (!best || rank < *best) best = rank;
    }
    return std::get<2>(best.value());
  }
  // Fewest children that hold the gang within any one domain of the level.
  int64_t children_least(int level, const Gang& gang) const {
    const std::vector<int64_t> below = by_domain(level - 1, gang);
    int64_t least = INT64_MAX;
    for (uint32_t d = 0; d < world.tree.count(level); ++d) {
      const DomainTree::Range children = world.tree.children(level, d);
      std::vector<int64_t> sums(below.begin() + children.first, below.begin() + children.end);
      std::ranges::sort(sums, std::greater<>());
      int64_t sum = 0, used = 0;
      for (const int64_t s : sums) {
        if (sum >= gang.workers) break;
        sum += s;
        ++used;
      }
      if (sum >= gang.workers) least = std::min(least, used);
    }
    return least;
  }
};

void expect_answer_right(const World& world, const Gang& gang, bool found,
                         const Placement& placement) {
  const Search search(world);
  const std::optional<int> want = search.level(gang);
  ASSERT_EQ(found, want.has_value());
  if (!found) return;
  ASSERT_EQ(placement.level, *want);
  std::map<Position, int64_t> on;
  std::set<uint32_t> domains, children;
  int64_t workers = 0;
  for (const Grant& grant : placement.grants) {
    on[grant.at] += grant.workers;
    workers += grant.workers;
    if (*want >= 0) domains.insert(search.domain(grant.at, *want));
    if (*want > 0) children.insert(search.domain(grant.at, *want - 1));
  }
  ASSERT_EQ(workers, gang.workers);
  for (const auto& [at, count] : on) ASSERT_LE(count, on_node(world.index, at, gang));
  if (*want == kOneNode) {
    ASSERT_EQ(on.size(), 1u);
    if (!gang.asks_part()) {
      ASSERT_EQ(on.begin()->first, search.tightest(gang));
    }
  } else {
    ASSERT_EQ(domains.size(), 1u);
  }
  if (*want > 0) {
    ASSERT_EQ(static_cast<int64_t>(children.size()), search.children_least(*want, gang));
  }
}

// A single share goes to the device with least left that suffices, else to a new one.
void expect_part_tight(const World& world, const Gang& gang, const Placement& placement) {
  if (gang.share_milli == 0 || gang.workers != 1 || placement.grants.empty()) return;
  int32_t least = kMilliOfDevice + 1;
  const Search search(world);
  for (const Position at : search.positions) {
    if (on_node(world.index, at, gang) == 0) continue;
    for (const DividedDevice& d : world.index.divided(at)) {
      if (!d.sliced && d.state >= gang.share_milli) least = std::min<int32_t>(least, d.state);
    }
  }
  int32_t left = kMilliOfDevice + 1;
  for (const DividedDevice& d : world.index.divided(placement.grants[0].at)) {
    if (d.number == placement.grants[0].device) left = d.state;
  }
  ASSERT_EQ(left, least);
}

void step(World& world) {
  Rng& rng = world.rng;
  const uint64_t what = rng.below(10);
  if (what < 6) {
    const Gang gang = world.random_gang();
    Placement placement;
    const bool found = world.index.find(gang, placement);
    ASSERT_NO_FATAL_FAILURE(expect_answer_right(world, gang, found, placement));
    ASSERT_NO_FATAL_FAILURE(expect_part_tight(world, gang, placement));
    if (!found) return;
    world.index.take(placement, gang);
    world.held.push_back({gang, placement});
  } else if (what < 9) {
    if (world.held.empty()) return;
    const size_t i = rng.below(world.held.size());
    world.index.give_back(world.held[i].placement, world.held[i].gang);
    world.held[i] = world.held.back();
    world.held.pop_back();
  } else {
    const Position at =
        world.index.position(world.nodes[rng.below(world.nodes.size())].node).value();
    world.index.set_in_service(at, rng.chance(600'000));
  }
}

void expect_counts_right(const World& world) {
  ASSERT_EQ(world.index.counts(), world.index.recount());
  const Search search(world);
  const Gang gang{.devices = 1 + static_cast<int32_t>(world.held.size() % 4)};
  for (int level = 0; level < world.tree.levels(); ++level) {
    const std::vector<int64_t> want = search.by_domain(level, gang);
    for (uint32_t d = 0; d < want.size(); ++d)
      ASSERT_EQ(world.index.workers_below(level, d, gang), want[d]);
  }
}

TEST(CapacityWalk, IsAlwaysEqualToARecountAndToASearch) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    World world(seed);
    const CapacityIndex empty = world.index;
    for (int i = 0; i < 120; ++i) {
      ASSERT_NO_FATAL_FAILURE(step(world));
      ASSERT_NO_FATAL_FAILURE(expect_counts_right(world));
    }
    for (const Held& held : world.held) world.index.give_back(held.placement, held.gang);
    for (const CapacityNode& n : world.nodes)
      world.index.set_in_service(world.index.position(n.node).value(), true);
    ASSERT_EQ(world.index, empty);
  }
}

// What an overlay answers is what a copy answers that was really changed; and the base stays.
TEST(CapacityWalk, AnOverlayAnswersAsIfItWereReal) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    World world(seed);
    for (int i = 0; i < 60; ++i) step(world);
    const CapacityIndex before = world.index;
    for (int trial = 0; trial < 25; ++trial) {
      CapacityIndex real = before;
      Overlay overlay(world.index);
      for (int i = 0; i < 10; ++i) {
        const Gang gang = world.random_gang();
        Placement want, got;
        const bool found = real.find(gang, want);
        ASSERT_EQ(overlay.index().find(gang, got), found);
        ASSERT_EQ(got.grants, want.grants);
        if (found) real.take(want, gang), overlay.take(got, gang);
        const Position at =
            real.position(world.nodes[world.rng.below(world.nodes.size())].node).value();
        const bool in_service = world.rng.chance(700'000);
        real.set_in_service(at, in_service);
        overlay.set_in_service(at, in_service);
      }
      if (!world.held.empty() && trial % 2 == 0) {
        const Held& held = world.held[world.rng.below(world.held.size())];
        real.give_back(held.placement, held.gang);
        overlay.give_back(held.placement, held.gang);
      }
      ASSERT_EQ(world.index, real);
      overlay.undo();
      ASSERT_EQ(world.index, before);
    }
  }
}

}  // namespace
}  // namespace fairlead
