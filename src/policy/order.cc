#include "policy/order.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace fairlead::policy {

bool operator<(const OrderKey& a, const OrderKey& b) {
  const auto head = [](const OrderKey& k) {
    return std::tuple(k.not_anywhere, k.anywhere_rank, k.not_entitled, k.rank);
  };
  if (head(a) != head(b)) return head(a) < head(b);
  if (a.share < b.share) return true;
  if (b.share < a.share) return false;
  return std::tuple(a.since, a.id) < std::tuple(b.since, b.id);
}

Tournament::Tournament(const World& world, const std::vector<Work>& waiting)
    : world_(world), winners_(world.organisation.teams.size(), nullptr) {
  for (const Work& work : waiting) queues_[{work.team, work.device}].work.push_back(&work);
  for (auto& [where, queue] : queues_) {
    std::ranges::sort(queue.work, {}, [&](const Work* w) {
      const Class& klass = world_.organisation.classes[w->klass];
      return std::tuple(!klass.anywhere, -klass.rank, w->since, w->id);
    });
  }
  play_all();
}

bool Tournament::goes_anywhere(const Work& work) const {
  const Class& klass = world_.organisation.classes[work.klass];
  if (!klass.anywhere) return false;
  if (!klass.anywhere_up_to) return true;
  return klass.anywhere_up_to->device == work.device &&
         world_.anywhere_held[work.klass] + work.size <= klass.anywhere_up_to->milli;
}

OrderKey Tournament::key_at(TeamId team, const Work& work, const Share& share) const {
  const int64_t rank = world_.organisation.classes[work.klass].rank;
  const bool anywhere = goes_anywhere(work);
  return {.not_anywhere = !anywhere,
          .anywhere_rank = anywhere ? -rank : 0,
          .not_entitled = !world_.quota.entitled({work.team, work.device, work.size}, team),
          .rank = -rank,
          .share = share,
          .since = work.since,
          .id = work.id};
}

Share Tournament::share_of_child(TeamId child, DeviceId device) const {
  const Organisation& org = world_.organisation;
  const Milli held = world_.quota.used(child, device);
  const int64_t weight = org.teams[child].weight;
  const auto& usages = world_.usages.with_children;
  const FadingUsage none(org.teams[org.teams[child].parent].half_life);
  return share_of(usages.empty() ? none : usages[child * org.devices.size() + device], held, weight,
                  world_.now);
}

Share Tournament::share_of_own(TeamId team, DeviceId device) const {
  const Organisation& org = world_.organisation;
  const auto& usages = world_.usages.direct;
  const FadingUsage none(org.teams[team].half_life);
  return share_of(usages.empty() ? none : usages[team * org.devices.size() + device],
                  world_.quota.direct(team, device), 1, world_.now);
}

void Tournament::play(TeamId team) {
  const Work* best = nullptr;
  OrderKey best_key;
  const auto enter = [&](const Work* work, const Share& share) {
    const OrderKey key = key_at(team, *work, share);
    if (best != nullptr && !(key < best_key)) return;
    best = work;
    best_key = key;
  };
  for (auto q = queues_.lower_bound({team, 0}); q != queues_.end() && q->first.first == team; ++q) {
    if (q->second.next < q->second.work.size())
      enter(q->second.work[q->second.next], share_of_own(team, q->first.second));
  }
  const Team& t = world_.organisation.teams[team];
  for (TeamId child = team + 1; child < t.end; child = world_.organisation.teams[child].end) {
    if (const Work* work = winners_[child]) enter(work, share_of_child(child, work->device));
  }
  winners_[team] = best;
}

void Tournament::play_path(TeamId team) {
  for (;; team = world_.organisation.teams[team].parent) {
    play(team);
    if (team == kRoot) return;
  }
}

void Tournament::play_all() {  // a parent stands before its children
  for (size_t t = winners_.size(); t-- > 0;) play(static_cast<TeamId>(t));
}

void Tournament::pop() {
  const Work* taken = top();
  CHECK(taken != nullptr);
  Queue& queue = queues_.at({taken->team, taken->device});
  CHECK(queue.work[queue.next] == taken);
  ++queue.next;
  play_path(taken->team);
}

void Tournament::changed(const Work& by) {
  if (world_.organisation.classes[by.klass].anywhere)
    play_all();
  else
    play_path(by.team);
}

}  // namespace fairlead::policy
