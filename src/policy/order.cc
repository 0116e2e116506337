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

std::optional<TeamId> over_budget(const Organisation& org, const std::vector<BudgetState>& budgets,
                                  TeamId team, BudgetState state) {
  if (budgets.empty()) return std::nullopt;
  for (TeamId t = team;; t = org.teams[t].parent) {
    if (budgets[t] == state) return t;
    if (t == kRoot) return std::nullopt;
  }
}

Tournament::Tournament(const World& world, const Waiting& waiting)
    : world_(world),
      first_(world.organisation.teams.size() + 1, 0),
      winners_(world.organisation.teams.size(), kNobody) {
  for (const auto& [key, group] : waiting.groups()) {
    contestants_.push_back({&group, group.begin()});
    first_[key.team + 1] = static_cast<uint32_t>(contestants_.size());
  }
  for (size_t t = 1; t < first_.size(); ++t) first_[t] = std::max(first_[t], first_[t - 1]);
  play_all();
}

const Work* Tournament::top() const {
  if (winners_.empty() || winners_[kRoot] == kNobody) return nullptr;
  return &*contestants_[winners_[kRoot]].next;
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
  const bool entitled =
      world_.quota.entitled({work.team, work.device, work.size}, team) &&
      !over_budget(world_.organisation, world_.budgets, work.team, BudgetState::soft_over);
  return {.not_anywhere = !anywhere,
          .anywhere_rank = anywhere ? -rank : 0,
          .not_entitled = !entitled,
          .rank = -rank,
          .share = share,
          .since = work.since,
          .id = work.id};
}

Wide Tournament::faded(Faded& known, const std::vector<FadingUsage>& usages, TeamId team,
                       DeviceId device) {
  if (usages.empty()) return 0;
  known.resize(usages.size());
  const size_t at = team * world_.organisation.devices.size() + device;
  if (!known[at]) known[at] = usages[at].at(world_.now);
  return *known[at];
}

Share Tournament::share_of_child(TeamId child, DeviceId device) {
  const Organisation& org = world_.organisation;
  return share_of(faded(with_children_, world_.usages.with_children, child, device),
                  org.teams[org.teams[child].parent].half_life, world_.quota.used(child, device),
                  org.teams[child].weight);
}

Share Tournament::share_of_own(TeamId team, DeviceId device) {
  return share_of(faded(direct_, world_.usages.direct, team, device),
                  world_.organisation.teams[team].half_life, world_.quota.direct(team, device), 1);
}

void Tournament::play(TeamId team) {
  uint32_t best = kNobody;
  OrderKey best_key;
  const auto enter = [&](uint32_t contestant, const Share& share) {
    const OrderKey key = key_at(team, *contestants_[contestant].next, share);
    if (best != kNobody && !(key < best_key)) return;
    best = contestant;
    best_key = key;
  };
  DeviceId device = 0;
  std::optional<Share> own_share;  // of `device`
  for (uint32_t c = first_[team]; c < first_[team + 1]; ++c) {
    if (!contestants_[c].plays()) continue;
    if (const DeviceId wants = contestants_[c].next->device; !own_share || wants != device) {
      device = wants;
      own_share = share_of_own(team, device);
    }
    enter(c, *own_share);
  }
  const Team& t = world_.organisation.teams[team];
  for (TeamId child = team + 1; child < t.end; child = world_.organisation.teams[child].end) {
    const uint32_t winner = winners_[child];
    if (winner != kNobody) enter(winner, share_of_child(child, contestants_[winner].next->device));
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
  CHECK(top() != nullptr);
  const TeamId team = top()->team;
  ++contestants_[winners_[kRoot]].next;
  play_path(team);
}

void Tournament::close() {
  CHECK(top() != nullptr);
  const TeamId team = top()->team;
  Contestant& contestant = contestants_[winners_[kRoot]];
  contestant.next = contestant.group->end();
  play_path(team);
}

void Tournament::changed(const Work& by) {
  if (world_.organisation.classes[by.klass].anywhere)
    play_all();
  else
    play_path(by.team);
}

}  // namespace fairlead::policy
