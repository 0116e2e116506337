// Room for who waits, by moving others to nodes where they could have been started.
#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "core/kept_nodes.h"
#include "core/site_room.h"
#include "policy/moves.h"

namespace fairlead {
namespace {

// Its scheduler puts it back in line and starts it on any one node, with what it holds now.
const NodeShare* moves_whole(const Workload& w) {
  const Job& job = w.job;
  const bool is_plain = job.may_requeue && job.het_id == 0 && job.reservation.empty() &&
                        !job.request.exclusive && job.request.devices.share_milli == 0;
  const bool is_seen = w.unplaced_milli == 0 && job.held.size() == 1 &&
                       std::cmp_equal(w.devices.size(), job.held[0].device_count);
  return is_plain && is_seen && job.state == JobState::running ? &job.held[0] : nullptr;
}

}  // namespace

// Makes room in one pool, node after node.
class SiteRoom::Visit::Mover {
 public:
  Mover(Visit& visit, const Place& place)
      : visit_(visit),
        place_(place),
        gang_(place.where()),
        pool_(visit.room_.pools_[place.pool]),
        done_(pool_.index) {}

  std::optional<MadeRoom> make_room(const PriceOfMove& price) {
    if (!gang_.apart) return std::nullopt;  // it stands wherever as many are free
    find_residents(price);
    MadeRoom made;
    for (int cleared = 0; cleared < kNodesCleared; ++cleared) {
      if (!clear_a_node(made)) return std::nullopt;
      Placement placement;
      if (!pool_.index.find(gang_, placement)) continue;
      for (const Grant& grant : placement.grants) made.nodes.push_back(pool_.index.node(grant.at));
      std::ranges::sort(made.nodes);
      return made;
    }
    return std::nullopt;
  }

 private:
  struct Stays {
    policy::WorkId work = 0;
    int64_t lost_device_seconds = 0;
    Gang gang;  // without its mask
    Shape shape;
  };

  // Of the nodes where the least must go, kNodesAsked from which somebody may.
  void find_residents(const PriceOfMove& price) {
    std::vector<std::vector<Position>> by_free(static_cast<size_t>(gang_.devices));
    for (Position at = 0; at < pool_.index.blocks() * kBlockNodes; ++at) {
      const bool serves = place_.mask.has(at) && pool_.index.in_service(at) &&
                          pool_.index.size(at) >= gang_.devices;
      const int32_t free = std::min(pool_.index.free(at), gang_.devices - 1);
      if (serves && !takes_a_worker(at)) by_free[static_cast<size_t>(free)].push_back(at);
    }
    size_t seen = 0;
    for (const auto& alike : std::views::reverse(by_free)) {
      for (const Position at : alike) {
        if (stays_.size() == kNodesAsked || ++seen > kNodesSeen) return;
        find_residents_of(at, price);
      }
    }
  }
  void find_residents_of(Position at, const PriceOfMove& price) {
    std::set<WorkloadId> holders;
    for (const DeviceIndex d : visit_.state_.fleet.node(pool_.index.node(at)).devices)
      if (const WorkloadId holder = visit_.state_.devices[d].holder; holder != 0)
        holders.insert(holder);
    for (const WorkloadId id : holders) {
      const Workload& workload = visit_.state_.workloads.at(id);
      const NodeShare* share = moves_whole(workload);
      const auto lost = share == nullptr ? std::nullopt : price(work_id(id));
      if (!lost) continue;
      const std::vector<Held> held = visit_.held_by(work_id(id));
      if (held.size() != 1 || held[0].pool != place_.pool || held[0].grant.at != at ||
          std::cmp_not_equal(held[0].grant.workers, workload.devices.size()))
        continue;
      stays_[at].push_back({.work = work_id(id),
                            .lost_device_seconds = *lost,
                            .gang = {.devices = held[0].grant.workers,
                                     .cpus = pool_.states_sides ? share->cpus : 0,
                                     .memory_mb = pool_.states_sides ? share->memory_mb : 0},
                            .shape = shape_of(beside_reservations(visit_.state_, workload.job))});
    }
  }

  bool takes_a_worker(Position at) const { return pool_.index.workers_on(at, gang_) > 0; }

  std::vector<Position> candidates() const {
    std::vector<Position> out;
    for (const auto& [at, stay] : stays_)
      if (!stay.empty() && !takes_a_worker(at)) out.push_back(at);
    return out;
  }

  bool clear_a_node(MadeRoom& made) {
    const std::vector<Position> at = candidates();
    std::vector<policy::NodeOfWork> nodes;
    for (const Position node : at) {
      nodes.push_back({.free = pool_.index.free(node), .movable = {}});
      for (const Stays& s : stays_.at(node))
        nodes.back().movable.push_back({.id = s.work,
                                        .devices = s.gang.devices,
                                        .lost_device_seconds = s.lost_device_seconds});
    }
    std::optional<policy::MovePlan> plan;
    {
      // Where the claimant has room already, nobody is put in its way.
      Overlay kept(pool_.index);
      if (gang_.workers > 1)
        for (Position node = 0; node < pool_.index.blocks() * kBlockNodes; ++node)
          if (place_.mask.has(node) && takes_a_worker(node)) kept.set_in_service(node, false);
      plan = policy::cheapest_moves(nodes, gang_.devices, [&](policy::MovePlan& p) {
        Overlay trial(pool_.index);
        return pack(at[p.node], p, trial);
      });
    }
    if (!plan) return false;
    do_it(at[plan->node], *plan, made);
    return true;
  }

  bool pack(Position from, policy::MovePlan& plan, Overlay& trial) {
    for (const policy::Move& move : plan.moves)
      trial.give_back({.at = from}, stays_of(from, move.work).gang);
    if (!takes_a_worker(from)) return false;  // by its CPUs or memory
    trial.set_in_service(from, false);
    for (policy::Move& move : plan.moves) {
      const Stays& stays = stays_of(from, move.work);
      Gang gang = stays.gang;
      gang.only = &mask_of(stays.shape);
      Placement placement;
      if (!pool_.index.find(gang, placement)) return false;
      trial.take(placement, gang);
      move.to = placement.grants[0].at;
    }
    return true;
  }

  void do_it(Position from, const policy::MovePlan& plan, MadeRoom& made) {
    for (const policy::Move& move : plan.moves) {
      const auto to = static_cast<Position>(move.to);
      const Gang gang = stays_of(from, move.work).gang;
      done_.give_back({.at = from}, gang);
      done_.take({.at = to}, gang);
      std::erase_if(stays_.at(from), [&](const Stays& s) { return s.work == move.work; });
      made.moves.push_back({.work = move.work,
                            .from = pool_.index.node(from),
                            .to = pool_.index.node(to),
                            .devices = move.devices,
                            .cpus = gang.cpus,
                            .memory_mb = gang.memory_mb,
                            .lost_device_seconds = move.lost_device_seconds});
    }
    made.lost_device_seconds += plan.lost_device_seconds;
  }

  const Stays& stays_of(Position at, policy::WorkId work) const {
    return *std::ranges::find(stays_.at(at), work, [](const Stays& s) { return s.work; });
  }
  const NodeMask& mask_of(const Shape& shape) {
    const auto known = masks_.find(shape);
    if (known != masks_.end()) return known->second;
    return masks_.emplace(shape, pool_.index.mask_of(nodes_for(visit_.state_, shape)))
        .first->second;
  }

  Visit& visit_;
  const Place& place_;
  Gang gang_;
  Pool& pool_;
  std::map<Position, std::vector<Stays>> stays_;
  std::map<Shape, NodeMask> masks_;
  Overlay done_;
};

std::optional<MadeRoom> SiteRoom::Visit::make_room(const policy::Work& work,
                                                   const PriceOfMove& price) {
  std::optional<MadeRoom> best;
  for (const Place& place : room_.known_[work.shape - 1].places) {
    auto made = Mover(*this, place).make_room(price);
    if (made && (!best || made->lost_device_seconds < best->lost_device_seconds))
      best = std::move(made);
  }
  if (best) best->claimant = work.id;
  return best;
}

bool SiteRoom::Visit::move(const MovedWork& moved) {
  found_shape_ = 0;
  const Gang gang{.devices = moved.devices, .cpus = moved.cpus, .memory_mb = moved.memory_mb};
  for (const Held& held : held_by(moved.work)) {
    Taken taken{.pool = held.pool, .gang = gang, .placement = {}};
    const CapacityIndex& index = room_.pools_[held.pool].index;
    const auto to = index.position(moved.to);
    overlays_[held.pool]->give_back({.at = held.grant.at}, gang);
    if (!to || !index.in_service(*to) || index.workers_on(*to, gang) < 1) return false;
    taken.placement.grants.push_back({.at = *to});
    overlays_[held.pool]->take(taken.placement, gang);
    taken_.insert_or_assign(moved.work, std::move(taken));
  }
  return true;
}

}  // namespace fairlead
