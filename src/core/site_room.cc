#include "core/site_room.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/team_books.h"

namespace fairlead {
namespace {

using policy::DeviceId;
using policy::Milli;

Digest fabric_of(const State& state) {
  Hasher hasher;
  for (const FleetNode& node : state.fleet.nodes()) {
    fold(hasher, node.present);
    fold(hasher, node.facts.name);
    fold(hasher, node.facts.devices);
    fold(hasher, node.facts.features);
    fold(hasher, node.facts.cpus);
    fold(hasher, node.facts.memory_mb);
  }
  for (const auto& [name, partition] : state.partitions) {
    fold(hasher, name);
    fold(hasher, partition.nodes);
  }
  fold(hasher, state.fleet.switches());
  return hasher.digest();
}

Gang gang_of(const Shape& shape) {
  if (shape.per_node == 0) return {.workers = shape.total, .devices = 1};
  return {.workers = shape.nodes,
          .devices = shape.per_node,
          .apart = true,
          .level_max = shape.switches == 1 ? 0 : std::numeric_limits<int32_t>::max(),
          .cpus = shape.cpus_per_node,
          .memory_mb = shape.memory_per_node_mb};
}

}  // namespace

std::vector<NodeIndex> SiteRoom::nodes_for(const State& state, const Shape& shape) {
  std::vector<NodeRoom> rooms;
  std::vector<bool> members(state.fleet.nodes().size(), false);
  for (NodeIndex i = 0; i < state.fleet.nodes().size(); ++i) rooms.push_back({.node = i});
  for_each_name(shape.partition, [&](const std::string& name) {
    const auto partition = state.partitions.find(name);
    if (partition == state.partitions.end()) return;
    for (const std::string& node : partition->second.nodes)
      if (const auto index = state.fleet.find(node)) members[*index] = true;
  });
  return fit(shape, state.fleet, rooms, members).could;
}

Gang SiteRoom::Place::where() const {
  Gang masked = gang;
  masked.only = &mask;
  return masked;
}

SiteRoom::SiteRoom(const State& state) : fabric_(fabric_of(state)) {
  const policy::Organisation& org = state.organisation->rules();
  const FleetTree tree = domain_tree_of(state.fleet);
  std::map<std::string, DeviceId> models;
  for (const FleetNode& node : state.fleet.nodes()) {
    for (const DeviceGroup& group : node.facts.devices)
      if (const auto device = device_class_of(org, group.model))
        models.emplace(group.model, *device);
  }
  for (const auto& [model, device] : models)
    pools_.push_back({device, model, capacity_of(state.fleet, tree, model)});
  for (Pool& pool : pools_) {
    for (NodeIndex i = 0; i < state.fleet.nodes().size(); ++i) {
      const Node& facts = state.fleet.node(i).facts;
      if (pool.index.position(i) && (facts.cpus != 0 || facts.memory_mb != 0))
        pool.states_sides = true;
    }
  }
  CHECK(refresh(state));
}

// By the books, as far as the index can count.
int32_t SiteRoom::free_on(const State& state, const Pool& pool, NodeIndex i) {
  const FleetNode& node = state.fleet.node(i);
  int32_t free = state.node_free[i];
  if (node.facts.devices.size() > 1) {  // of several models: counted one by one
    const NameId model = state.names.find(pool.model).value_or(0);
    free = static_cast<int32_t>(std::ranges::count_if(node.devices, [&](DeviceIndex d) {
      const Column column = state.devices[d].account.column;
      return state.fleet.device(d).model == model &&
             (column == Column::free || column == Column::stranded);
    }));
  }
  return std::min(free, pool.index.size(*pool.index.position(i)));
}

std::string SiteRoom::recount(const State* books) const {
  for (const Pool& pool : pools_) {
    if (!(pool.index.counts() == pool.index.recount()))
      return fmt::format("the index of {} does not count what is free in it", pool.model);
    for (NodeIndex i = 0; books != nullptr && i < books->fleet.nodes().size(); ++i) {
      const auto at = pool.index.position(i);
      if (!at || !pool.index.in_service(*at)) continue;
      const int32_t free = free_on(*books, pool, i);
      if (pool.index.free(*at) != free)
        return fmt::format("{}: {} {} are free in the index, {} by the books",
                           books->fleet.node(i).facts.name, pool.index.free(*at), pool.model, free);
    }
  }
  return "";
}

bool SiteRoom::refresh(const State& state) {
  if (!(fabric_of(state) == fabric_)) return false;
  for (Pool& pool : pools_) {
    for (NodeIndex i = 0; i < state.fleet.nodes().size(); ++i) {
      const auto at = pool.index.position(i);
      if (!at) continue;
      const FleetNode& node = state.fleet.node(i);
      pool.index.set_in_service(*at, node.usable);
      pool.index.set_free(*at, free_on(state, pool, i));
      if (!pool.states_sides) continue;
      pool.index.set_sides(*at, std::max(0, node.facts.cpus - node.facts.cpus_used),
                           std::max<int64_t>(0, node.facts.memory_mb - node.facts.memory_used_mb));
    }
  }
  return true;
}

uint32_t SiteRoom::number_of(const State& state, const Job& job) {
  if (job.request.devices.share_milli > 0) return 0;
  const Shape shape = fairlead::shape_of(job);
  if (shape.total <= 0) return 0;
  const auto [at, is_new] = numbers_.try_emplace(shape, 0);
  if (!is_new) return at->second;
  const auto device = device_class_of(state, job);
  if (!device) return 0;
  Known known{.device = *device, .places = {}};
  const std::vector<NodeIndex> nodes = nodes_for(state, shape);
  for (size_t p = 0; p < pools_.size(); ++p) {
    if (pools_[p].device != *device) continue;
    if (!shape.model.empty() && shape.model != pools_[p].model) continue;
    known.places.push_back({p, pools_[p].index.mask_of(nodes), gang_of(shape)});
  }
  if (known.places.empty()) return 0;
  known_.push_back(std::move(known));
  return at->second = static_cast<uint32_t>(known_.size());
}

void SiteRoom::forget(const Job& job) {
  const auto at = numbers_.find(fairlead::shape_of(job));
  if (at == numbers_.end() || (at->second != 0 && at->second != known_.size())) return;
  if (at->second != 0) known_.pop_back();
  numbers_.erase(at);
}

SiteRoom::Visit::Visit(SiteRoom& room, const State& state) : room_(room), state_(state) {
  for (Pool& pool : room_.pools_) overlays_.push_back(std::make_unique<Overlay>(pool.index));
}

Milli SiteRoom::Visit::free(DeviceId device) const {
  Milli sum;
  for (const Pool& pool : room_.pools_)
    if (pool.device == device) sum = sum + amount_of(pool.model, pool.index.devices_free());
  return sum;
}

std::optional<SiteRoom::Visit::Taken> SiteRoom::Visit::find(const policy::Work& work) const {
  CHECK(work.shape > 0);
  for (const Place& place : room_.known_[work.shape - 1].places) {
    Taken taken{.pool = place.pool, .gang = place.where(), .placement = {}};
    if (room_.pools_[place.pool].index.find(taken.gang, taken.placement)) return taken;
  }
  return std::nullopt;
}

bool SiteRoom::Visit::fits(const policy::Work& work) const {
  if (found_shape_ == work.shape) return true;
  auto found = find(work);
  if (!found) return false;
  found_shape_ = work.shape;
  found_ = *std::move(found);
  return true;
}

std::vector<SiteRoom::Visit::Held> SiteRoom::Visit::held_by(policy::WorkId id) const {
  std::map<std::pair<size_t, Position>, int32_t> counts;
  for (const DeviceIndex d : state_.workloads.at(workload_of(id)).devices) {
    const Device& device = state_.fleet.device(d);
    for (size_t p = 0; p < room_.pools_.size(); ++p) {
      const auto at = room_.pools_[p].index.position(device.node);
      if (at && room_.pools_[p].model == state_.names.name(device.model)) ++counts[{p, *at}];
    }
  }
  std::vector<Held> held;
  for (const auto& [where, count] : counts)
    held.push_back({.pool = where.first, .grant = {.at = where.second, .workers = count}});
  return held;
}

bool SiteRoom::Visit::fits_without(const policy::Work& work,
                                   std::span<const policy::RunningWork* const> gone) const {
  std::vector<std::unique_ptr<Overlay>> then;
  for (Pool& pool : room_.pools_) then.push_back(std::make_unique<Overlay>(pool.index));
  for (const policy::RunningWork* r : gone) {
    if (const auto taken = taken_.find(r->work.id); taken != taken_.end()) {
      then[taken->second.pool]->give_back(taken->second.placement, taken->second.gang);
    } else {
      for (const Held& held : held_by(r->work.id)) then[held.pool]->give_back(held.grant, Gang{});
    }
  }
  return find(work).has_value();
}

void SiteRoom::Visit::take(const policy::Work& work) {
  const bool is_found = std::exchange(found_shape_, 0) == work.shape;
  auto taken = is_found ? std::optional(std::move(found_)) : find(work);
  CHECK(taken.has_value());
  overlays_[taken->pool]->take(taken->placement, taken->gang);
  taken_.insert_or_assign(work.id, *std::move(taken));
}

void SiteRoom::Visit::give_back(const policy::RunningWork& gone) {
  found_shape_ = 0;
  if (const auto taken = taken_.find(gone.work.id); taken != taken_.end()) {
    overlays_[taken->second.pool]->give_back(taken->second.placement, taken->second.gang);
    taken_.erase(taken);
    return;
  }
  for (const Held& held : held_by(gone.work.id))
    overlays_[held.pool]->give_back(held.grant, Gang{});
}

std::vector<NodeIndex> SiteRoom::Visit::nodes_of(policy::WorkId id) const {
  std::vector<NodeIndex> nodes;
  const auto taken = taken_.find(id);
  if (taken == taken_.end()) return nodes;
  for (const Grant& grant : taken->second.placement.grants)
    nodes.push_back(room_.pools_[taken->second.pool].index.node(grant.at));
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace fairlead
