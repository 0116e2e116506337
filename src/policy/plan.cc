#include "policy/plan.h"

#include <algorithm>

namespace fairlead::policy {
namespace {

struct Reservation {
  Instant at;   // unknown: nobody can move what nobody knows
  Milli spare;  // devices that are there beyond what it needs
};

class Planner {
 public:
  explicit Planner(const PlanInput& input)
      : in_(input),
        org_(input.organisation),
        quota_(input.quota),
        free_(input.free),
        anywhere_held_(org_.classes.size()),
        reservations_(org_.devices.size()),
        running_(input.running),
        gone_(input.running.size(), false) {
    std::ranges::sort(running_, {}, [](const RunningWork& r) { return r.work.id; });
    for (const RunningWork& r : running_) hold_anywhere(r.work, r.work.size);
  }

  std::vector<Decision> run() {
    admit_in_order();
    take_back_in_order();
    for (Decision& d : waiting_) decisions_.push_back(std::move(d));
    return std::move(decisions_);
  }

 private:
  // 1 and 2.
  void admit_in_order() {
    Tournament tournament({org_, quota_, in_.usages, anywhere_held_, in_.now}, in_.waiting);
    while (const Work* work = tournament.top()) {
      tournament.pop();
      const Decision verdict = verdict_on(*work);
      if (verdict.verdict != Verdict::admit) {
        waiting_.push_back(verdict);
        waiters_.push_back(work);
        continue;
      }
      admit(*work);
      tournament.changed(*work);
    }
  }

  Decision verdict_on(const Work& work) {
    Decision d{.verdict = Verdict::defer, .work = work.id};
    const Class& klass = org_.classes[work.klass];
    if (klass.most_devices && work.size > devices(*klass.most_devices)) {
      d.cause = Cause::class_limit;
      d.short_by = work.size - devices(*klass.most_devices);
    } else if (const auto team = limiting_team(work)) {
      d.cause = Cause::team_limit;
      d.team = *team;
      d.short_by = work.size - quota_.headroom(work.team, work.device);
    } else if (const Milli missing = missing_devices(work); missing.value > 0) {
      d.cause = Cause::devices;
      d.short_by = missing;
      auto& reservation = reservations_[work.device];
      if (!reservation) {
        reservation = reservation_for(work);
        d.verdict = Verdict::reserve;
        d.at = reservation->at;
      }
    } else if (moves_reservation(work)) {
      d.cause = Cause::reservation;
      d.short_by = work.size - reservations_[work.device]->spare;
    } else {
      d.verdict = Verdict::admit;
    }
    return d;
  }

  // The lowest team whose own limit is in the way; the root's is the capacity, which is devices.
  std::optional<TeamId> limiting_team(const Work& work) const {
    Milli kept;  // below, and not used
    for (TeamId t = work.team; t != kRoot; t = org_.teams[t].parent) {
      const Milli limit = quota_.limit(t, work.device);
      if (!limit.is_unlimited() && limit - quota_.inner(t, work.device) + kept < work.size)
        return t;
      kept = kept + std::max(Milli{}, quota_.kept(t, work.device) - quota_.inner(t, work.device));
    }
    return std::nullopt;
  }
  Milli missing_devices(const Work& work) const {
    const Milli room = std::min(free_[work.device], quota_.headroom(work.team, work.device));
    return std::max(Milli{}, work.size - room);
  }

  Reservation reservation_for(const Work& work) const {
    std::vector<const RunningWork*> ending;
    for (const RunningWork& r : running_)
      if (r.work.device == work.device && r.ends.known()) ending.push_back(&r);
    std::ranges::sort(ending, {},
                      [](const RunningWork* r) { return std::pair(r->ends, r->work.id); });
    Milli there = free_[work.device];
    for (const RunningWork* r : ending) {
      there = there + r->work.size;
      if (there >= work.size) return {.at = std::max(r->ends, in_.now), .spare = there - work.size};
    }
    return {};
  }
  bool moves_reservation(const Work& work) const {
    const auto& reservation = reservations_[work.device];
    if (!reservation || !reservation->at.known()) return false;
    const bool over_by_then = work.time_max.us > 0 && in_.now + work.time_max <= reservation->at;
    return !over_by_then && work.size > reservation->spare;
  }

  void admit(const Work& work) {
    quota_.charge(work.team, work.device, work.size);
    free_[work.device] = free_[work.device] - work.size;
    hold_anywhere(work, work.size);
    auto& reservation = reservations_[work.device];
    if (reservation && reservation->at.known() &&
        (work.time_max.us == 0 || in_.now + work.time_max > reservation->at))
      reservation->spare = reservation->spare - work.size;
    decisions_.push_back({.verdict = Verdict::admit, .work = work.id});
  }
  void hold_anywhere(const Work& work, Milli by) {
    if (org_.classes[work.klass].anywhere)
      anywhere_held_[work.klass] = anywhere_held_[work.klass] + by;
  }

  // 3.
  void take_back_in_order() {
    const Duration wait =
        org_.for_waiting && org_.for_waiting->wait ? *org_.for_waiting->wait : Duration{};
    for (size_t i = 0; i < waiting_.size(); ++i) {
      const Work& work = *waiters_[i];
      const Cause cause = waiting_[i].cause;
      if (cause == Cause::class_limit || in_.now - work.since < wait) continue;
      const size_t most =
          in_.evictions_left
              ? static_cast<size_t>(std::max<int64_t>(0, *in_.evictions_left)) - evicted_
              : running_.size();
      const auto victims = take_back(
          {org_, quota_, running_, free_, anywhere_held_, in_.spent, in_.now}, work, gone_, most);
      if (!victims) continue;
      for (const Victim& v : *victims) preempt(v, work);
      admit(work);
      waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
      waiters_.erase(waiters_.begin() + static_cast<ptrdiff_t>(i));
      --i;
    }
  }
  void preempt(const Victim& victim, const Work& claimant) {
    const Work& work = running_[victim.running].work;
    gone_[victim.running] = true;
    ++evicted_;
    quota_.refund(work.team, work.device, work.size);
    free_[work.device] = free_[work.device] + work.size;
    hold_anywhere(work, Milli{} - work.size);
    decisions_.push_back({.verdict = Verdict::preempt,
                          .work = work.id,
                          .claimant = claimant.id,
                          .rule = victim.rule});
  }

  const PlanInput& in_;
  const Organisation& org_;
  Quota quota_;
  std::vector<Milli> free_;
  std::vector<Milli> anywhere_held_;                      // by class
  std::vector<std::optional<Reservation>> reservations_;  // by device
  std::vector<RunningWork> running_;                      // by id
  std::vector<bool> gone_;
  size_t evicted_ = 0;
  std::vector<Decision> decisions_;
  std::vector<Decision> waiting_;     // in order
  std::vector<const Work*> waiters_;  // whom they are of
};

}  // namespace

std::vector<Decision> plan(const PlanInput& input) { return Planner(input).run(); }

}  // namespace fairlead::policy
