#include "explain/organisation_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hostlist.h"
#include "base/words.h"
#include "core/allocator.h"
#include "core/budgets.h"
#include "explain/moves_told.h"

namespace fairlead {
namespace {

using policy::Milli;

int64_t whole_devices(Milli amount) { return amount.value / 1000; }

// Who holds of this class below the team, the largest first.
void add_holders(const State& state, policy::TeamId team, policy::DeviceId device, Blocker& b) {
  const policy::Organisation& org = state.organisation->rules();
  std::vector<Holder> holders;
  for (const WorkloadId id : state.queues.holding()) {
    const Workload& other = state.workloads.at(id);
    const auto theirs = team_of(state, other);
    if (!theirs || !org.is_below(*theirs, team)) continue;
    Milli held;
    for_each_held(state, other, [&](policy::DeviceId d, Milli amount) {
      if (d == device) held = held + amount;
    });
    if (held.value > 0) holders.push_back(holder_of(state, other, whole_devices(held)));
  }
  b.cured_at = freed_at(holders, b.short_by);
  show_holders(b, std::move(holders));
}

void team_limits(const State& state, const policy::Quota& quota, policy::TeamId team,
                 policy::DeviceId device, Milli size, std::vector<Blocker>& out) {
  const policy::Organisation& org = state.organisation->rules();
  Milli kept;  // by the teams below, and not used
  for (policy::TeamId t = team; t != policy::kRoot; t = org.teams[t].parent) {
    const Milli limit = quota.limit(t, device), inner = quota.inner(t, device);
    const Milli room = limit - inner + kept;
    kept = kept + std::max(Milli{}, quota.kept(t, device) - inner);
    if (limit.is_unlimited() || size <= room) continue;
    const bool never = size > limit;
    const int64_t left = std::max<int64_t>(0, whole_devices(room));
    Blocker b{.code = BlockerCode::TEAM_LIMIT,
              .object = "team " + org.teams[t].path,
              .limit_name = "own + borrow " + org.devices[device].name,
              .unit = "devices",
              .limit = whole_devices(limit),
              .used = whole_devices(inner),
              .wanted = whole_devices(size),
              .short_by = whole_devices(size - room),
              .message =
                  fmt::format("team {} may hold {} {} and {} taken, {}", org.teams[t].path,
                              to_text(limit), org.devices[device].name,
                              fmt::format("{} {}", to_text(inner), is_or_are(whole_devices(inner))),
                              asked_for(whole_devices(size))),
              .waiting_cures = never ? WaitingCures::never : WaitingCures::yes,
              .cure = left > 0 ? "at most " + count_text(left, "devices")
                      : never  ? "at most " + count_text(whole_devices(limit), "devices")
                               : "wait, or a larger limit",
              .by_policy = true};
    if (!never) add_holders(state, t, device, b);
    out.push_back(std::move(b));
  }
}

std::string because(const State& state, const policy::Decision& d) {
  const policy::Organisation& org = state.organisation->rules();
  const std::string short_by = d.short_by.value > 0 ? ", short by " + to_text(d.short_by) : "";
  switch (d.cause) {
    case policy::Cause::devices:
      return "too few devices are free" + short_by;
    case policy::Cause::shape:
      return "enough devices are free, and not together";
    case policy::Cause::team_limit:
      return "the limit of team " + org.teams[d.team].path + short_by;
    case policy::Cause::class_limit:
      return "the limit of its class" + short_by;
    case policy::Cause::budget:
      return "the budget of team " + org.teams[d.team].path;
    case policy::Cause::reservation:
      return "it would move the start of somebody ahead" + short_by;
    case policy::Cause::parked:
      return "the scheduler refuses it, and it is tried again at " + to_rfc3339(d.at);
    case policy::Cause::none:
      break;
  }
  return "";
}

Blocker spent(const State& state, policy::TeamId team) {
  const policy::Organisation& org = state.organisation->rules();
  const std::optional<BudgetUse> use = budgets_used(state)[team];
  return {.code = BlockerCode::BUDGET_SPENT,
          .object = "team " + org.teams[team].path,
          .message = fmt::format("the budget of team {} is spent{}", org.teams[team].path,
                                 use ? ": " + budget_text(org, team, *use) : ""),
          .waiting_cures = WaitingCures::yes,
          .cure = "wait until it begins anew",
          .by_policy = true};
}

std::string hostlist(const State& state, const std::vector<NodeIndex>& nodes) {
  std::vector<std::string> names;
  for (const NodeIndex node : nodes) names.push_back(state.fleet.node(node).facts.name);
  return fold_hostlist(names);
}

}  // namespace

const policy::Quota& Explainer::quota() {
  if (!quota_) quota_ = quota_of(state_);
  return *quota_;
}

void OrganisationRules::limits(Explainer& e, const Workload& w, const policy::Decision* asked,
                               std::vector<Blocker>& out) {
  const State& state = e.state_;
  if (!state.organisation) return;
  const policy::Organisation& org = state.organisation->rules();
  const Milli size = policy::devices(shape_of(w.job).total);
  const auto device = device_class_of(state, w.job);
  if (size.value <= 0 || !device) return;
  if (const auto klass = class_of(state, w)) {
    const policy::Class& c = org.classes[*klass];
    if (c.most_devices && size > policy::devices(*c.most_devices))
      out.push_back({.code = BlockerCode::CLASS_LIMIT,
                     .object = "class " + c.name,
                     .limit_name = "most per workload",
                     .unit = "devices",
                     .limit = *c.most_devices,
                     .wanted = whole_devices(size),
                     .short_by = whole_devices(size) - *c.most_devices,
                     .message = fmt::format("a workload of class {} may hold {}, {}", c.name,
                                            count_text(*c.most_devices, "devices"),
                                            asked_for(whole_devices(size))),
                     .waiting_cures = WaitingCures::never,
                     .cure = "at most " + count_text(*c.most_devices, "devices"),
                     .by_policy = true});
  }
  team_limits(state, e.quota(), team_of(state, w).value_or(policy::kRoot), *device, size, out);
  const auto verdict = asked != nullptr ? std::optional(*asked)
                       : e.supposed_    ? std::optional(e.supposed_->verdict)
                                        : verdict_on(state, w);
  if (!verdict) return;
  if (verdict->cause == policy::Cause::budget) out.push_back(spent(state, verdict->team));
  if (verdict->cause == policy::Cause::reservation)
    out.push_back({.code = BlockerCode::RESERVED_AHEAD,
                   .object = "job " + w.job.label,
                   .unit = "devices",
                   .wanted = whole_devices(size),
                   .short_by = whole_devices(verdict->short_by),
                   .message = "it fits now, and would move the start of a larger one ahead of it",
                   .waiting_cures = WaitingCures::yes,
                   .cure = "a shorter time limit",
                   .by_policy = true});
}

// Who would make room for it by moving.
bool OrganisationRules::tell_of_moves(const Explainer& e, const Workload& w, VerdictTold& told) {
  if (e.supposed_) {
    if (e.supposed_->moves.empty()) return false;
    told.nodes = hostlist(e.state_, e.supposed_->nodes);
    told.moves = moves_told(e.state_, e.supposed_->moves);
  } else {
    const Suggestion* made = room_for(e.state_, w.id);
    if (made == nullptr) return false;
    told.since = made->since;
    told.nodes = made->nodes;
    told.moves = moves_told(e.state_, made->moves);
  }
  told.verdict = "make_room";
  return true;
}

VerdictTold OrganisationRules::verdict(Explainer& e, const Workload& w) {
  const State& state = e.state_;
  if (!state.organisation) return {};
  VerdictTold told{.organisation = organisation_title(state)};
  const auto verdict = e.supposed_ ? std::optional(e.supposed_->verdict) : verdict_on(state, w);
  if (!verdict) return told;
  told.because = because(state, *verdict);
  if (verdict->patience)
    told.because += fmt::format("; {} are likely to be free by {}, and {}",
                                count_text(whole_devices(verdict->patience->ends), "devices"),
                                to_rfc3339(verdict->patience->by), to_text(*verdict->patience));
  told.verdict = enum_name(verdict->verdict);
  if (verdict->verdict == policy::Verdict::reserve) told.at = verdict->at;
  if (tell_of_moves(e, w, told)) return told;
  if (verdict->reshape)
    told.because = fmt::format("in another form that it accepts, with {}",
                               verdict->reshape->time_max.us > 0
                                   ? "a time limit of " + to_short_text(verdict->reshape->time_max)
                                   : count_text(whole_devices(verdict->reshape->size), "devices"));
  else if (verdict->verdict != policy::Verdict::admit)
    return told;
  told.verdict = "start";
  if (e.supposed_) {
    told.nodes = hostlist(state, e.supposed_->nodes);
    for (const WorkloadId victim : e.supposed_->victims)
      told.takes_back.push_back(state.workloads.at(victim).job.label);
    return told;
  }
  const auto suggestion = state.suggested.now.find(w.id);
  if (suggestion == state.suggested.now.end()) return told;
  told.since = suggestion->second.since;
  told.nodes = suggestion->second.nodes;
  for (const WorkloadId victim : suggestion->second.victims)
    told.takes_back.push_back(state.workloads.at(victim).job.label);
  return told;
}

StartTold start_of(const State& state, const Workload& w) {
  const Estimates& estimates = state.estimates;
  const EstimateCard& card = estimates.card;
  StartTold told{.scored = card.with_p90};
  if (card.with_p90 > 0) told.held_ppm = card.by_p90 * 1'000'000 / card.with_p90;
  const auto estimate = estimates.now.find(w.id);
  if (estimate != estimates.now.end()) {
    const StartEstimate& e = estimate->second;
    told.p50 = e.latest.p50;
    told.p90 = e.latest.p90;
    told.by_history = e.by_history;
    told.first = e.first;
  }
  if (told.p50.known()) return told;
  if (!state.organisation)
    told.unknown = "no organisation is known, so there is no order to go by";
  else if (!competes(w.job))
    told.unknown = "it waits for something else first";
  else if (estimates.made < w.first_seen)
    told.unknown = "it was not asked yet";
  else if (estimates.behind > 0 &&
           (estimate == estimates.now.end() || estimate->second.latest.made < estimates.made))
    told.unknown = fmt::format(
        "it is not among the first {} of the order, or would not start in "
        "what is foreseen",
        estimates.asked);
  else
    told.unknown = "it would not start in what is foreseen of the runs";
  return told;
}

}  // namespace fairlead
