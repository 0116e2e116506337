// Room that others would make by moving, for those that enough is free for and not together.
#include <algorithm>

#include "core/allocator.h"
#include "policy/reservation.h"

namespace fairlead {
namespace {

bool lacks_a_place(const policy::Decision& d) { return d.cause == policy::Cause::shape; }

// The holders of reservations first, then those behind them, in the order of the tournament.
std::vector<policy::WorkId> claimants_of(const policy::Plan& plan) {
  std::vector<policy::WorkId> claimants;
  for (const bool holders : {true, false})
    for (const policy::Decision& d : plan.own)
      if (lacks_a_place(d) && (d.verdict == policy::Verdict::reserve) == holders)
        claimants.push_back(d.work);
  for (const policy::Refusal& refusal : plan.refusals)
    if (lacks_a_place(refusal.why)) claimants.push_back(refusal.why.work);
  std::erase_if(claimants, [&](policy::WorkId id) {  // it starts, by what is taken back for it
    return std::ranges::any_of(plan.acts, [&](const policy::Decision& act) {
      return act.work == id && act.verdict != policy::Verdict::preempt;
    });
  });
  if (claimants.size() > kRoomsAsked) claimants.resize(kRoomsAsked);
  return claimants;
}

}  // namespace

std::vector<SuggestedMove> moves_of(const State& state, const MadeRoom& made) {
  std::vector<SuggestedMove> moves;
  for (const MovedWork& moved : made.moves)
    moves.push_back({.workload = workload_of(moved.work),
                     .from = state.fleet.node(moved.from).facts.name,
                     .to = state.fleet.node(moved.to).facts.name,
                     .devices = moved.devices,
                     .lost_device_seconds = moved.lost_device_seconds});
  return moves;
}

std::vector<MadeRoom> Allocator::rooms_by_moves(const State& state, const policy::Plan& plan,
                                                SiteRoom::Visit& visit) const {
  std::vector<MadeRoom> rooms;
  std::set<policy::DeviceId> devices;
  std::set<policy::WorkId> gone;
  for (const policy::Decision& act : plan.acts)
    if (act.verdict == policy::Verdict::preempt) gone.insert(act.work);
  for (const policy::WorkId id : claimants_of(plan)) {
    const policy::Work& claimant = *waiting_.find(id);
    if (devices.contains(claimant.device)) continue;  // one by one: they may want the same nodes
    auto made = visit.make_room(claimant, [&](policy::WorkId work) {
      return gone.contains(work) ? std::nullopt : price_of_move(state, claimant, work);
    });
    if (!made || made->moves.empty() || !is_worth_it(state, claimant, *made, gone, visit)) continue;
    devices.insert(claimant.device);
    rooms.push_back(*std::move(made));
  }
  return rooms;
}

// Of no higher rank than the claimant, and nothing that is never taken back (policy/take_back.h).
std::optional<int64_t> Allocator::price_of_move(const State& state, const policy::Work& claimant,
                                                policy::WorkId id) const {
  const auto r = std::ranges::lower_bound(seen_->running, id, {},
                                          [](const policy::RunningWork& x) { return x.work.id; });
  if (r == seen_->running.end() || r->work.id != id) return std::nullopt;
  const policy::Class& klass = rules_.classes[r->work.klass];
  const bool may_move = r->work.device == claimant.device && !klass.never_preempted &&
                        klass.rank <= rules_.classes[claimant.klass].rank &&
                        state.now - r->started >= klass.min_run && state.now >= r->spared_till;
  if (!may_move) return std::nullopt;
  return policy::device_seconds(policy::loss_of(rules_, *r, state.now));
}

// As taking back is weighed (policy/patience.h): it loses no more than the wait that it saves.
bool Allocator::is_worth_it(const State& state, const policy::Work& claimant, const MadeRoom& made,
                            const std::set<policy::WorkId>& gone,
                            const SiteRoom::Visit& visit) const {
  policy::Ends ends(seen_->running, claimant.device, policy::Ends::By::likely);
  const Instant otherwise =
      policy::earliest(claimant, {seen_->quota, visit, state.now}, ends,
                       [&](const policy::RunningWork& r) { return !gone.contains(r.work.id); })
          .at;
  if (!otherwise.known()) return true;
  const auto saved =
      static_cast<__int128>(claimant.size.value) * whole_seconds(otherwise - state.now) / 1000;
  return made.lost_device_seconds <= saved;
}

bool Allocator::starts_then(const State& state, const MadeRoom& made) {
  SiteRoom::Visit visit(*room_, state);
  for (const MovedWork& moved : made.moves)  // onto what a taking back would free: not yet
    if (!visit.move(moved)) return false;
  const policy::Plan plan = policy::look(world(state, waiting_, 0), visit);
  return std::ranges::any_of(plan.acts, [&](const policy::Decision& act) {
    return act.work == made.claimant && act.verdict == policy::Verdict::admit &&
           visit.nodes_of(made.claimant) == made.nodes;
  });
}

}  // namespace fairlead
