// Where work could stand: the place that the planner takes, and others beside it.
#include <algorithm>
#include <set>

#include "core/allocator.h"
#include "core/job_forms.h"

namespace fairlead {

RoomLeft SiteRoom::Visit::left_of(const policy::Work& work) const {
  RoomLeft left;
  std::set<size_t> pools;
  for (const Place& place : room_.known_[work.shape - 1].places) pools.insert(place.pool);
  for (const size_t p : pools) {
    const CapacityIndex& index = room_.pools_[p].index;
    for (NodeIndex i = 0; i < state_.fleet.nodes().size(); ++i) {
      const auto at = index.position(i);
      if (!at || !index.in_service(*at)) continue;
      const int32_t free = index.free(*at);
      left.devices += free;
      if (free == index.size(*at))
        left.whole_nodes += 1;
      else
        left.loose += free;
    }
  }
  return left;
}

Stand SiteRoom::Visit::stand_of(const policy::Work& work, const Taken& taken,
                                const FleetTree& tree) {
  const CapacityIndex& index = room_.pools_[taken.pool].index;
  Stand stand{.parts = {},
              .model = room_.pools_[taken.pool].model,
              .leaves = {},
              .level = 0,
              .lowest = {},
              .left = {}};
  std::set<uint32_t> domains;
  for (const Grant& grant : taken.placement.grants) {
    const NodeIndex node = index.node(grant.at);
    stand.parts.push_back({.node = node,
                           .devices = grant.workers * taken.gang.devices,
                           .free_before = index.free(grant.at)});
    domains.insert(tree.leaf_of[node]);
  }
  std::ranges::sort(stand.parts, {}, &Stand::Part::node);
  for (const uint32_t leaf : domains) stand.leaves.push_back(tree.names[0][leaf]);
  for (; domains.size() > 1; ++stand.level) {
    std::set<uint32_t> above;
    for (const uint32_t domain : domains) above.insert(tree.tree.above(stand.level, domain));
    domains = std::move(above);
  }
  stand.lowest = tree.names[static_cast<size_t>(stand.level)][*domains.begin()];
  Overlay overlay(room_.pools_[taken.pool].index);
  overlay.take(taken.placement, taken.gang);
  stand.left = left_of(work);
  return stand;
}

Stands SiteRoom::Visit::stands_for(const policy::Work& work, size_t most) {
  const FleetTree tree = domain_tree_of(state_.fleet);
  Stands stands{.before = left_of(work), .found = {}};
  std::vector<std::vector<Position>> used(room_.pools_.size());
  while (stands.found.size() < most) {
    // What is left out is so for the search alone: what is left is told of the whole room.
    std::optional<Taken> taken;
    {
      std::vector<std::unique_ptr<Overlay>> without;
      for (size_t p = 0; p < used.size(); ++p) {
        without.push_back(std::make_unique<Overlay>(room_.pools_[p].index));
        for (const Position at : used[p]) without.back()->set_in_service(at, false);
      }
      taken = find(work);
    }
    if (!taken) break;
    for (const Grant& grant : taken->placement.grants) used[taken->pool].push_back(grant.at);
    stands.found.push_back(stand_of(work, *taken, tree));
  }
  return stands;
}

std::optional<Stands> Allocator::stands(const State& state, const RunLengths& lengths,
                                        const Workload& workload, size_t most) {
  if (!seen_ || stock_of_ != state.steps) take_stock(state, lengths);
  const Job job = forms_of(state, workload.job).front();
  const bool is_known = room_->numbers().contains(shape_of(job));
  std::optional<Stands> stands;
  if (const uint32_t shape = room_->number_of(state, job)) {
    policy::Work work;
    work.device = room_->device_of(shape);
    work.shape = shape;
    stands = SiteRoom::Visit(*room_, state).stands_for(work, most);
  }
  if (!is_known) room_->forget(job);
  return stands;
}

}  // namespace fairlead
