#include "policy/take_back.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace fairlead::policy {

bool goes_anywhere(const Field& f, const Work& work) {
  const Class& klass = f.organisation.classes[work.klass];
  if (!klass.anywhere || !klass.anywhere_up_to) return klass.anywhere;
  return klass.anywhere_up_to->device == work.device &&
         f.anywhere_held[work.klass] + work.size <= klass.anywhere_up_to->milli;
}

namespace {

// Rule `own`: whether the branch of the victim below p is over what it owns.
bool branch_is_over(const Organisation& org, const Quota& q, const Work& victim, TeamId p) {
  if (victim.team == p) return true;  // a branch of its own, which owns nothing
  TeamId branch = victim.team;
  while (org.teams[branch].parent != p) branch = org.teams[branch].parent;
  return q.used(branch, victim.device) > q.limits(branch, victim.device).own;
}

constexpr Duration kLongAgo = seconds(int64_t{365} * 24 * 3600);  // past every `min-run`

class Search {
 public:
  Search(const Field& field, const Work& claimant, const std::vector<bool>& gone,
         size_t victims_max)
      : f_(field),
        claimant_(claimant),
        victims_max_(victims_max),
        needed_(claimant.size - std::min(field.room.free(claimant.device),
                                         field.quota.headroom(claimant.team, claimant.device))) {
    std::vector<bool> within_reach;
    for (const RunningKinds::Kind& kind : f_.kinds.kinds())
      within_reach.push_back(is_within_reach(kind));
    if (!f_.kinds.any_idle() && std::ranges::find(within_reach, true) == within_reach.end()) return;
    const auto first = f_.spent.lower_bound({claimant.id, 0});
    const bool has_spent = first != f_.spent.end() && first->first == claimant.id;
    for (const auto& [i, kind] : f_.kinds.by_price()) {
      const RunningWork& r = f_.running[i];
      if ((!within_reach[kind] && !r.idle) || gone[i] || r.work.device != claimant.device) continue;
      if (has_spent && f_.spent.contains({claimant.id, r.work.id})) continue;
      if (rule_for(f_, f_.quota, claimant, r)) candidates_.push_back(i);
    }
  }

  std::optional<std::vector<Victim>> run() {
    for (;;) {
      auto best = cheapest();
      if (!best || best->size() > victims_max_) return std::nullopt;
      const auto offender = would_come_back(*best);
      if (!offender) return best;
      std::erase(candidates_, *offender);  // and the search goes on without it
    }
  }

 private:
  // Whether there is a rule for work of this kind that has run for long.
  bool is_within_reach(const RunningKinds::Kind& kind) const {
    if (kind.device != claimant_.device) return false;
    const RunningWork any{.work = {.team = kind.team, .klass = kind.klass, .device = kind.device},
                          .started = f_.now - kLongAgo,
                          .ends = {},
                          .kept_till = {}};
    return rule_for(f_, f_.quota, claimant_, any).has_value();
  }
  int64_t rank_of(size_t i) const { return f_.organisation.classes[f_.running[i].work.klass].rank; }

  // What the cheapest-first set needs bounds the ranks. Within them the set that loses least by
  // count alone is the best, if it will do; else two greedy sets, and a search for a better one.
  std::optional<std::vector<Victim>> cheapest() const {
    const auto enough = first_enough(candidates_);
    if (!enough) return std::nullopt;
    const int64_t rank_max = rank_of(enough->back().running);
    std::vector<size_t> within;
    for (const size_t i : candidates_)
      if (rank_of(i) <= rank_max) within.push_back(i);
    if (const auto least = least_by_count(within)) {
      if (auto victims = taken(*least)) return pruned(*std::move(victims));
    }
    Best best = priced(pruned(*enough));
    std::vector<size_t> by_density = within;  // lost for each device that is freed
    std::ranges::sort(by_density, {},
                      [&](size_t i) { return std::pair(density_of(i), f_.running[i].work.id); });
    if (const auto other = first_enough(by_density)) {
      Best second = priced(pruned(*other));
      if (second.price < best.price) best = std::move(second);
    }
    return improved(within, std::move(best)).victims;
  }

  // A knapsack the other way round: what frees at least `needed_` and loses least, whatever the
  // rules and the room say. Nothing where it would take too long.
  std::optional<std::vector<size_t>> least_by_count(const std::vector<size_t>& within) const {
    if (needed_.value <= 0) return std::nullopt;
    int64_t unit = 0;
    for (const size_t i : within) unit = std::gcd(unit, f_.running[i].work.size.value);
    if (unit == 0) return std::nullopt;
    const auto needed = static_cast<size_t>((needed_.value + unit - 1) / unit);
    if (needed > kKnapsackMax / within.size()) return std::nullopt;
    constexpr auto kNever = ~static_cast<unsigned __int128>(0);
    std::vector<unsigned __int128> least(needed + 1, kNever);  // to free at least so many
    std::vector<bool> took(within.size() * (needed + 1));
    const auto size_of = [&](size_t k) {
      return static_cast<size_t>(f_.running[within[k]].work.size.value / unit);
    };
    const auto rest = [&](size_t k, size_t n) { return n - std::min(n, size_of(k)); };
    least[0] = 0;
    for (size_t k = 0; k < within.size(); ++k) {
      const unsigned __int128 loss = loss_of(f_.organisation, f_.running[within[k]], f_.now);
      for (size_t n = needed; n > 0; --n) {  // downwards: each is taken once
        const unsigned __int128 before = least[rest(k, n)];
        if (before == kNever || before + loss >= least[n]) continue;
        least[n] = before + loss;
        took[k * (needed + 1) + n] = true;
      }
    }
    std::vector<size_t> set;
    size_t n = needed;
    for (size_t k = within.size(); k-- > 0;) {
      if (!took[k * (needed + 1) + n]) continue;
      set.push_back(within[k]);
      n = rest(k, n);
    }
    std::ranges::reverse(set);  // the cheapest first
    return set;
  }
  unsigned __int128 density_of(size_t i) const {
    const RunningWork& r = f_.running[i];
    const int64_t size = std::max<int64_t>(1, r.work.size.value);
    return loss_of(f_.organisation, r, f_.now) / static_cast<unsigned __int128>(size);
  }

  using Price = std::tuple<int64_t, unsigned __int128, std::vector<WorkId>>;  // rank, loss, ids
  struct Best {
    std::vector<Victim> victims;
    Price price;
  };
  Best priced(std::vector<Victim> victims) const {
    Best best;
    for (const Victim& v : victims) {
      auto& [rank, loss, ids] = best.price;
      rank = std::max(rank, rank_of(v.running));
      loss += loss_of(f_.organisation, f_.running[v.running], f_.now);
      ids.push_back(f_.running[v.running].work.id);
    }
    std::ranges::sort(std::get<2>(best.price));
    best.victims = std::move(victims);
    return best;
  }

  // Takes them one after the other. Returns nothing where one has no rule when its turn comes, or
  // where the claimant does not fit in the end.
  std::optional<std::vector<Victim>> taken(const std::vector<size_t>& set) const {
    Quota quota = f_.quota;
    std::vector<Victim> victims;
    std::vector<const RunningWork*> gone;
    for (const size_t i : set) {
      const auto rule = rule_for(f_, quota, claimant_, f_.running[i]);
      if (!rule) return std::nullopt;
      victims.push_back({i, *rule});
      gone.push_back(&f_.running[i]);
      release(quota, f_.running[i].work);
    }
    if (!has_headroom(quota) || !f_.room.fits_without(claimant_, gone)) return std::nullopt;
    return victims;
  }
  static void release(Quota& quota, const Work& work) {
    quota.refund(work.team, work.device, work.size);
  }
  bool has_headroom(const Quota& quota) const {
    return claimant_.size <= quota.headroom(claimant_.team, claimant_.device);
  }

  // The shortest run of these that makes the claimant fit.
  std::optional<std::vector<Victim>> first_enough(const std::vector<size_t>& order) const {
    Quota quota = f_.quota;
    Milli free = f_.room.free(claimant_.device);
    std::vector<Victim> victims;
    std::vector<const RunningWork*> gone;
    bool fits = false;  // by count, and then where they stand
    for (const size_t i : order) {
      const auto rule = rule_for(f_, quota, claimant_, f_.running[i]);
      if (!rule) continue;
      victims.push_back({i, *rule});
      gone.push_back(&f_.running[i]);
      release(quota, f_.running[i].work);
      free = free + f_.running[i].work.size;
      fits = claimant_.size <= free && has_headroom(quota) && f_.room.fits_without(claimant_, gone);
      if (fits) break;
    }
    if (!fits) return std::nullopt;
    return victims;
  }

  // Gives back, the most expensive first, whom the claimant does not need.
  std::vector<Victim> pruned(std::vector<Victim> victims) const {
    for (size_t i = victims.size(); i-- > 0;) {
      std::vector<size_t> set;
      for (const Victim& v : victims) set.push_back(v.running);
      if (auto fewer = without(set, i)) victims = std::move(*fewer);
    }
    return victims;
  }
  std::optional<std::vector<Victim>> without(const std::vector<size_t>& set, size_t i) const {
    Milli freed;
    for (const size_t v : set) freed = freed + f_.running[v].work.size;
    if (freed - f_.running[set[i]].work.size < needed_) return std::nullopt;
    std::vector<size_t> fewer = set;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    return taken(fewer);
  }

  // Looks through the sets that could be better, the cheaper candidates first, for kSetsMax steps.
  // A set that is enough is not extended, nor one that cannot become large enough any more, nor one
  // that costs more than the best even if what is missing came at the lowest density there is.
  Best improved(const std::vector<size_t>& within, Best best) const {
    struct Rest {  // from a candidate on
      Milli size;
      unsigned __int128 density_least = ~static_cast<unsigned __int128>(0);
    };
    std::vector<Rest> rest(within.size() + 1);
    for (size_t k = within.size(); k-- > 0;)
      rest[k] = {.size = rest[k + 1].size + f_.running[within[k]].work.size,
                 .density_least = std::min(rest[k + 1].density_least, density_of(within[k]))};
    int steps = 0;
    std::vector<size_t> set;
    const auto extend = [&](const auto& self, size_t k, Milli freed, const Price& price) -> void {
      const Milli missing = needed_ - freed;
      if (!set.empty() && missing.value <= 0) {
        if (auto victims = taken(set)) {
          if (is_minimal(set)) {
            Best found = priced(*std::move(victims));
            if (found.price < best.price) best = std::move(found);
          }
          return;
        }
      }
      for (; k < within.size() && rest[k].size >= missing && steps < kSetsMax; ++k) {
        const RunningWork& r = f_.running[within[k]];
        const unsigned __int128 loss = std::get<1>(price) + loss_of(f_.organisation, r, f_.now);
        const Milli left = missing - r.work.size;
        const unsigned __int128 least =
            left.value <= 0 || k + 1 == within.size()
                ? loss
                : loss + rest[k + 1].density_least * static_cast<unsigned __int128>(left.value);
        const int64_t rank = std::max(std::get<0>(price), rank_of(within[k]));
        if (std::pair(rank, least) > std::pair(std::get<0>(best.price), std::get<1>(best.price)))
          continue;
        ++steps;
        set.push_back(within[k]);
        self(self, k + 1, freed + r.work.size, {rank, loss, {}});
        set.pop_back();
      }
    };
    extend(extend, 0, {}, {});
    return best;
  }
  bool is_minimal(const std::vector<size_t>& set) const {
    for (size_t i = 0; i < set.size(); ++i)
      if (without(set, i)) return false;
    return true;
  }

  // The final check. Returns the first victim that could displace the claimant in its turn.
  std::optional<size_t> would_come_back(const std::vector<Victim>& victims) const {
    Quota quota = f_.quota;
    for (const Victim& v : victims) release(quota, f_.running[v.running].work);
    quota.charge(claimant_.team, claimant_.device, claimant_.size);
    const RunningWork in{
        .work = claimant_, .started = f_.now - kLongAgo, .ends = {}, .kept_till = {}};
    const auto offender = std::ranges::find_if(victims, [&](const Victim& v) {
      return rule_for(f_, quota, f_.running[v.running].work, in).has_value();
    });
    if (offender == victims.end()) return std::nullopt;
    return offender->running;
  }

  const Field& f_;
  const Work& claimant_;
  size_t victims_max_;
  Milli needed_;  // no less makes the claimant fit; more where it is too scattered
  std::vector<size_t> candidates_;  // the cheapest first
};

}  // namespace

RunningKinds::RunningKinds(const Organisation& organisation, std::span<const RunningWork> running,
                           Instant now) {
  const auto kind_of = [&](size_t i) {
    const Work& work = running[i].work;
    return Kind{.device = work.device, .team = work.team, .klass = work.klass};
  };
  std::map<Kind, size_t> numbers;
  std::vector<std::tuple<int64_t, unsigned __int128, WorkId, size_t>> priced;
  for (size_t i = 0; i < running.size(); ++i) {
    numbers.emplace(kind_of(i), 0);
    priced.emplace_back(organisation.classes[running[i].work.klass].rank,
                        loss_of(organisation, running[i], now), running[i].work.id, i);
  }
  for (auto& [kind, number] : numbers) {
    number = kinds_.size();
    kinds_.push_back(kind);
  }
  std::ranges::sort(priced);
  any_idle_ = std::ranges::any_of(running, &RunningWork::idle);
  for (const auto& [rank, loss, id, i] : priced) by_price_.push_back({i, numbers.at(kind_of(i))});
}

std::optional<Rule> rule_for(const Field& f, const Quota& q, const Work& claimant,
                             const RunningWork& victim) {
  const Organisation& org = f.organisation;
  const Class& theirs = org.classes[victim.work.klass];
  if (theirs.never_preempted || f.now - victim.started < theirs.min_run ||
      f.now < victim.spared_till)
    return std::nullopt;
  if (victim.idle) return Rule::idle;
  const TeamId p = org.lowest_common(claimant.team, victim.work.team);
  if (claimant.team != p && q.entitled({claimant.team, claimant.device, claimant.size}, p) &&
      branch_is_over(org, q, victim.work, p))
    return Rule::own;
  const Class& ours = org.classes[claimant.klass];
  const bool anywhere = goes_anywhere(f, claimant);
  const bool preempts = std::ranges::binary_search(ours.preempts, victim.work.klass);
  if (!preempts || (p != claimant.team && !anywhere)) return std::nullopt;
  const bool victim_entitled =
      victim.work.team != p && q.entitled({victim.work.team, victim.work.device, {}}, p);
  if (victim_entitled && !anywhere) return std::nullopt;
  return Rule::klass;
}

int64_t device_seconds(unsigned __int128 loss) {
  constexpr unsigned __int128 kMilliMicros = 1'000'000'000;
  constexpr unsigned __int128 kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(loss / kMilliMicros, kMost));
}

unsigned __int128 loss_of(const Organisation& org, const RunningWork& victim, Instant now) {
  const Instant kept = std::max(victim.started, victim.kept_till);
  const Instant worked = victim.quiet_since.known() ? std::min(now, victim.quiet_since) : now;
  const int64_t again =
      std::max<int64_t>(0, (worked - kept).us) + org.classes[victim.work.klass].restart_cost.us;
  return static_cast<unsigned __int128>(victim.work.size.value) *
         static_cast<unsigned __int128>(again);
}

std::optional<std::vector<Victim>> take_back(const Field& field, const Work& claimant,
                                             const std::vector<bool>& gone, size_t victims_max) {
  return Search(field, claimant, gone, victims_max).run();
}

}  // namespace fairlead::policy
