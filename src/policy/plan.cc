#include "policy/plan.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "policy/reservation.h"

namespace fairlead::policy {
namespace {

class Look {
 public:
  Look(const World& world, Room& room)
      : w_(world),
        org_(world.organisation),
        room_(room),
        quota_(world.quota),
        usage_(org_, world.usages, world.now),
        anywhere_held_(org_.classes.size()),
        reservations_(org_.devices.size()),
        gone_(world.running.size(), false) {
    for (const RunningWork& r : w_.running) hold_anywhere(r.work, r.work.size);
  }

  Plan run() {
    admit_in_order();
    take_back_in_order();
    return std::move(plan_);
  }

 private:
  Tournament tournament() const {
    return Tournament({org_, quota_, usage_, w_.budgets, anywhere_held_}, w_.waiting);
  }

  // 1 and 2.
  void admit_in_order() {
    Tournament order = tournament();
    int tries = 0;
    while (const Work* work = order.top()) {
      if (const auto* stay = parked(*work)) {
        plan_.own.push_back({.verdict = Verdict::defer,
                             .work = work->id,
                             .cause = Cause::parked,
                             .at = stay->until});
        order.pop();  // the next of its group is not
        continue;
      }
      const Decision verdict = verdict_on(*work);
      const auto reshape = other_form(*work, verdict);
      if (reshape || verdict.verdict == Verdict::admit) {
        order.pop();
        if (reshape)
          admit_in_form(*work, *reshape);
        else
          admit(*work);
        order.changed(*work);
        if (reservations_[work->device].of != nullptr) refuse_larger(order, work->device);
      } else if (verdict.verdict == Verdict::reserve) {
        plan_.own.push_back(verdict);
        order.pop();  // the next of its group has none
        refuse_larger(order, work->device);
      } else if ((verdict.cause == Cause::reservation || work->has_forms) && tries < kTriesMax) {
        ++tries;
        plan_.own.push_back(verdict);
        order.pop();  // a shorter one may not move it, and one like it may accept another form
      } else {
        plan_.refusals.push_back({group_of(*work), verdict});
        order.close();
      }
    }
  }

  // Where somebody has the reservation, what is larger than all that is free need not be asked one
  // by one.
  void refuse_larger(Tournament& order, DeviceId device) {
    order.close_larger(device, room_.free(device), [&](const Work& work) {
      plan_.refusals.push_back({group_of(work), verdict_on(work)});
    });
  }

  Decision verdict_on(const Work& work) {
    Decision d{.verdict = Verdict::defer, .work = work.id};
    if (refused_by_rule(work, d)) return d;
    const Milli room = std::min(room_.free(work.device), quota_.headroom(work.team, work.device));
    const bool enough = work.size <= room;
    if (!enough || !room_.fits(work)) {
      d.cause = enough ? Cause::shape : Cause::devices;
      d.short_by = std::max(Milli{}, work.size - room);
      Reservation& reservation = reservations_[work.device];
      if (reservation.of == nullptr) {
        reservation = reservation_for(work);
        d.verdict = Verdict::reserve;
        d.at = reservation.at;
      }
    } else if (moves_reservation(work)) {
      d.cause = Cause::reservation;
      d.short_by = over_what_is_spare(work);
    } else {
      d.verdict = Verdict::admit;
    }
    return d;
  }

  const Parking::Stay* parked(const Work& work) const {
    return w_.parking == nullptr ? nullptr : w_.parking->find(work.id, w_.now);
  }
  bool fits_now(const Work& work) {
    Decision d;
    return !refused_by_rule(work, d) &&
           work.size <=
               std::min(room_.free(work.device), quota_.headroom(work.team, work.device)) &&
           room_.fits(work) && !moves_reservation(work);
  }
  Instant starts(const Work& work, const Decision& verdict) const {
    if (verdict.verdict == Verdict::admit) return w_.now;
    if (verdict.verdict == Verdict::reserve) return verdict.at;
    if (verdict.cause != Cause::devices && verdict.cause != Cause::shape &&
        verdict.cause != Cause::reservation)
      return {};  // nobody's end would help
    const Instant at = reservation_for(work).at;
    return at > w_.now ? at : Instant{};
  }
  static Instant ends(Instant start, Duration length) {
    return start.known() && length.us > 0 ? start + length : Instant{};
  }
  // Until somebody's reservation; zero: less than `least`, or there is none to keep to.
  Duration time_left(const Work& work, Duration least) const {
    const Reservation& reservation = reservations_[work.device];
    if (least.us <= 0 || !reservation.at.known() || reservation.of->id == work.id) return {};
    const Duration left = seconds(whole_seconds(reservation.at - w_.now) / 60 * 60);
    return left >= least && (work.time_max.us <= 0 || left < work.time_max) ? left : Duration{};
  }
  std::optional<Reshape> other_form(const Work& work, const Decision& verdict) {
    if (w_.forms == nullptr) return std::nullopt;
    const auto declared = w_.forms->find(work.id);
    if (declared == w_.forms->end()) return std::nullopt;
    const Instant start = starts(work, verdict);
    const Instant otherwise = ends(start, declared->second.length);
    std::optional<Reshape> best;
    const std::vector<Form>& others = declared->second.others;
    for (size_t i = 0; i < others.size(); ++i) {
      Work candidate = in_form(work, others[i]);
      bool is_shorter = false;
      if (verdict.verdict != Verdict::admit && !fits_now(candidate)) {
        candidate.time_max = time_left(candidate, others[i].time_min);
        is_shorter = candidate.time_max.us > 0;
        if (!is_shorter) continue;
      }
      if (!is_shorter && candidate.time_max != work.time_max) is_shorter = true;
      if (is_shorter && verdict.verdict == Verdict::admit) continue;  // it starts with all its time
      const Instant end = ends(
          w_.now, is_shorter ? std::min(others[i].length, candidate.time_max) : others[i].length);
      const bool sooner = end.known() && otherwise.known() && end < otherwise;
      if (start.known() && !sooner) continue;
      if (best && !(end.known() && (!best->ends.known() || end < best->ends))) continue;
      if (!fits_now(candidate)) continue;
      best = Reshape{.form = i,
                     .device = others[i].device,
                     .size = others[i].size,
                     .ends = end,
                     .ends_otherwise = otherwise,
                     .time_max = is_shorter ? candidate.time_max : Duration{}};
    }
    return best;
  }
  void admit_in_form(const Work& work, const Reshape& reshape) {
    if (reservations_[work.device].of == &work) reservations_[work.device] = {};
    Work other = in_form(work, w_.forms->at(work.id).others[reshape.form]);
    if (reshape.time_max.us > 0) other.time_max = reshape.time_max;
    admit(other);
    plan_.acts.back().verdict = Verdict::reshape;
    plan_.acts.back().reshape = reshape;
  }

  bool refused_by_rule(const Work& work, Decision& d) const {
    const Class& klass = org_.classes[work.klass];
    if (klass.most_devices && work.size > devices(*klass.most_devices)) {
      d.cause = Cause::class_limit;
      d.short_by = work.size - devices(*klass.most_devices);
    } else if (const auto spent =
                   over_budget(org_, w_.budgets, work.team, BudgetState::hard_over)) {
      d.cause = Cause::budget;
      d.team = *spent;
    } else if (const auto team = limiting_team(work)) {
      d.cause = Cause::team_limit;
      d.team = *team;
      d.short_by = work.size - quota_.headroom(work.team, work.device);
    }
    return d.cause != Cause::none;
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

  Reservation reservation_for(const Work& work) const {
    Ends ends(w_.running, work.device, Ends::By::limit);
    return earliest(work, {quota_, room_, w_.now}, ends);
  }

  bool is_over_by(const Work& work, const Reservation& reservation) const {
    return work.time_max.us > 0 && w_.now + work.time_max <= reservation.at;
  }
  // Tries it out. What is over by then moves nothing, nor does another form of whose it is.
  bool moves_reservation(const Work& work) {
    const Reservation& reservation = reservations_[work.device];
    if (!reservation.at.known() || reservation.of->id == work.id || is_over_by(work, reservation))
      return false;
    room_.take(work);
    const bool moves = !room_.fits_without(*reservation.of, reservation.gone);
    room_.give_back({.work = work, .started = w_.now, .ends = {}, .kept_till = {}});
    return moves;
  }
  Milli over_what_is_spare(const Work& work) const {
    const Reservation& reservation = reservations_[work.device];
    Milli then = room_.free(work.device);
    for (const RunningWork* r : reservation.gone) then = then + r->work.size;
    return std::max(Milli{}, reservation.of->size + work.size - then);
  }

  void admit(const Work& work) {
    quota_.charge(work.team, work.device, work.size);
    room_.take(work);
    hold_anywhere(work, work.size);
    Reservation& reservation = reservations_[work.device];
    if (reservation.at.known() && is_over_by(work, reservation)) {
      brief_.push_back(std::make_unique<RunningWork>(RunningWork{
          .work = work, .started = w_.now, .ends = w_.now + work.time_max, .kept_till = {}}));
      reservation.gone.push_back(brief_.back().get());
    }
    admitted_.insert(work.id);
    plan_.acts.push_back({.verdict = Verdict::admit, .work = work.id});
  }
  void hold_anywhere(const Work& work, Milli by) {
    if (org_.classes[work.klass].anywhere)
      anywhere_held_[work.klass] = anywhere_held_[work.klass] + by;
  }

  // 3.
  void take_back_in_order() {
    const Duration wait =
        org_.for_waiting && org_.for_waiting->wait ? *org_.for_waiting->wait : Duration{};
    const auto evictions_left = [&] {
      if (!w_.evictions_left) return w_.running.size();
      return static_cast<size_t>(std::max<int64_t>(0, *w_.evictions_left)) - evicted_;
    };
    if (evictions_left() == 0) return;
    const RunningKinds kinds(org_, w_.running, w_.now);
    Scales scales(org_, w_.claims);
    Tournament order = tournament();
    for (int claimants = 0; claimants < kClaimantsMax && evictions_left() > 0;) {
      const Work* work = order.top();
      if (work == nullptr) return;
      if (admitted_.contains(work->id) || parked(*work) != nullptr) {
        order.pop();
        continue;
      }
      // The oldest of its group goes first, so all behind it have waited less.
      if (w_.now - work->since < wait || no_victim_helps(*work)) {
        order.close();
        continue;
      }
      ++claimants;
      const Field field{org_, quota_, w_.running, kinds, room_, anywhere_held_, w_.spent, w_.now};
      const auto victims = take_back(field, *work, gone_, evictions_left());
      if (!victims || moves_reservation(*work, *victims)) {
        // Those behind it find the same, but for the pairs that this one has spent.
        if (has_spent_pairs(*work))
          order.pop();
        else
          order.close();
        continue;
      }
      if (const auto patience = scales.weigh(field, *work, *victims, gone_)) {
        tell(*work, *patience);
        order.close();  // those behind it have waited less
        continue;
      }
      order.pop();
      for (const Victim& v : *victims) {
        preempt(v, *work);
        order.changed(w_.running[v.running].work);
      }
      if (reservations_[work->device].of == work) reservations_[work->device] = {};
      admit(*work);
      std::erase_if(plan_.own, [&](const Decision& d) { return d.work == work->id; });
      order.changed(*work);
    }
  }
  void tell(const Work& work, const Patience& patience) {
    const auto own = std::ranges::find(plan_.own, work.id, &Decision::work);
    if (own != plan_.own.end()) {
      own->patience = patience;
      return;
    }
    const auto refusal = std::ranges::find(plan_.refusals, group_of(work), &Refusal::group);
    if (refusal != plan_.refusals.end()) refusal->why.patience = patience;
  }
  bool no_victim_helps(const Work& work) const {
    Decision d;
    return refused_by_rule(work, d) && d.cause != Cause::team_limit;
  }
  bool has_spent_pairs(const Work& work) const {
    const auto pair = w_.spent.lower_bound({work.id, 0});
    return pair != w_.spent.end() && pair->first == work.id;
  }
  // By count: whether taking these for `work` would make somebody wait longer who is before it.
  bool moves_reservation(const Work& work, const std::vector<Victim>& victims) const {
    const Reservation& reservation = reservations_[work.device];
    if (reservation.of == &work || !reservation.at.known()) return false;
    Milli then = room_.free(work.device);
    const auto add = [&](const RunningWork& r) { then = then + r.work.size; };
    for (const Victim& v : victims) add(w_.running[v.running]);
    for (const RunningWork* r : reservation.gone)
      if (std::ranges::none_of(victims, [&](Victim v) { return &w_.running[v.running] == r; }))
        add(*r);
    if (!is_over_by(work, reservation)) then = then - work.size;
    return then < reservation.of->size;
  }
  void preempt(const Victim& victim, const Work& claimant) {
    const RunningWork& r = w_.running[victim.running];
    gone_[victim.running] = true;
    ++evicted_;
    quota_.refund(r.work.team, r.work.device, r.work.size);
    room_.give_back(r);
    hold_anywhere(r.work, Milli{} - r.work.size);
    std::erase(reservations_[r.work.device].gone, &r);
    plan_.acts.push_back({.verdict = Verdict::preempt,
                          .work = r.work.id,
                          .claimant = claimant.id,
                          .rule = victim.rule,
                          .lost_device_seconds = device_seconds(loss_of(org_, r, w_.now))});
  }

  const World& w_;
  const Organisation& org_;
  Room& room_;
  Quota quota_;
  UsageNow usage_;
  std::vector<Milli> anywhere_held_;       // by class
  std::vector<Reservation> reservations_;  // by device
  std::vector<bool> gone_;                 // of the running
  size_t evicted_ = 0;
  std::unordered_set<WorkId> admitted_;
  std::vector<std::unique_ptr<RunningWork>> brief_;  // admitted, and over before a reservation
  Plan plan_;
};

}  // namespace

Claims claims_of(const Plan& plan, const Claims& before, Instant now) {
  Claims claims;
  const auto add = [&](const Decision& d) {
    if (!d.patience) return;
    const auto claim = before.find(d.patience->of);
    claims.emplace(d.patience->of, claim == before.end() ? now : claim->second);
  };
  for (const Decision& d : plan.own) add(d);
  for (const Refusal& refusal : plan.refusals) add(refusal.why);
  // Who takes back keeps its claim: until that is done, the next look decides the same.
  for (const Decision& d : plan.acts) {
    const auto claim = d.verdict == Verdict::preempt ? before.find(d.claimant) : before.end();
    if (claim != before.end()) claims.insert(*claim);
  }
  return claims;
}

Plan look(const World& world, Room& room) { return Look(world, room).run(); }

std::vector<Decision> plan(const PlanInput& input) {
  std::vector<RunningWork> running = input.running;
  std::ranges::sort(running, {}, [](const RunningWork& r) { return r.work.id; });
  const Waiting waiting(input.waiting);
  CountedRoom room(input.free);
  Plan plan = look({.organisation = input.organisation,
                    .quota = input.quota,
                    .waiting = waiting,
                    .running = running,
                    .usages = input.usages,
                    .budgets = input.budgets,
                    .spent = input.spent,
                    .now = input.now,
                    .evictions_left = input.evictions_left,
                    .forms = &input.forms,
                    .parking = &input.parking},
                   room);
  std::unordered_set<WorkId> told;
  for (const auto* part : {&plan.acts, &plan.own})
    for (const Decision& d : *part) told.insert(d.work);
  std::vector<Decision> decisions = std::move(plan.acts);
  decisions.insert(decisions.end(), plan.own.begin(), plan.own.end());
  for (const Refusal& refusal : plan.refusals) {
    for (const Work& work : waiting.groups().at(refusal.group)) {
      if (!told.insert(work.id).second) continue;
      decisions.push_back(refusal.why);
      decisions.back().work = work.id;
    }
  }
  return decisions;
}

}  // namespace fairlead::policy
