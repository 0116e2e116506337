// What the planner would do, and how that compares with what happens.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/hostlist.h"
#include "core/belonging.h"
#include "core/engine.h"

namespace fairlead {
namespace {

std::string hostlist(const State& state, const std::set<NodeIndex>& nodes) {
  std::vector<std::string> names;
  for (const NodeIndex node : nodes) names.push_back(state.fleet.node(node).facts.name);
  return fold_hostlist(names);
}

std::string rule_name(policy::Rule rule) {
  static constexpr std::string_view kNames[] = {"own", "class", "idle"};
  return std::string(kNames[static_cast<size_t>(rule)]);
}

int64_t devices_of(const Workload& workload) {
  return workload.holding
             ? static_cast<int64_t>(workload.devices.size()) + workload.unplaced_milli / 1000
             : shape_of(workload.job).total;
}

Suggestion make_room(const State& state, const Workload& claimant, const MadeRoom& made) {
  return {.kind = SuggestionKind::make_room,
          .since = state.now,
          .devices = devices_of(claimant),
          .nodes = hostlist(state, {made.nodes.begin(), made.nodes.end()}),
          .rule = {},
          .lost_device_seconds = made.lost_device_seconds,
          .victims = {},
          .moves = moves_of(state, made)};
}

// Whether it is what was said before: its price may be another by now.
bool says_the_same(const Suggestion& before, const Suggestion& now) {
  const auto is_same = [](const SuggestedMove& a, const SuggestedMove& b) {
    return a.workload == b.workload && a.from == b.from && a.to == b.to;
  };
  return before.kind == now.kind && before.claimant == now.claimant &&
         std::ranges::equal(before.moves, now.moves, is_same);
}

std::string to_text(const State& state, const std::vector<SuggestedMove>& moves) {
  std::vector<std::string> each;
  for (const SuggestedMove& m : moves)
    each.push_back(fmt::format("{} ({} devices) from {} to {}",
                               state.workloads.at(m.workload).job.label, m.devices, m.from, m.to));
  return fmt::format("{}", fmt::join(each, ", "));
}

std::map<WorkloadId, Suggestion> suggestions_of(const State& state, const Allocation& allocation) {
  std::map<WorkloadId, Suggestion> found;
  std::map<WorkloadId, std::set<NodeIndex>> nodes;
  for (size_t i = 0; i < allocation.plan.acts.size(); ++i) {
    const policy::Decision& act = allocation.plan.acts[i];
    const WorkloadId id = workload_of(act.work);
    const Workload& workload = state.workloads.at(id);
    if (act.verdict == policy::Verdict::preempt) {
      const WorkloadId claimant = workload_of(act.claimant);
      found[id] = {.kind = SuggestionKind::take_back,
                   .since = state.now,
                   .devices = devices_of(workload),
                   .claimant = claimant,
                   .rule = rule_name(act.rule),
                   .lost_device_seconds = act.lost_device_seconds};
      found[claimant].victims.push_back(id);
      continue;
    }
    Suggestion& start = found[id];
    start.tasks = start.devices == 0 ? 1 : start.tasks + 1;
    start.since = state.now;
    start.devices += act.reshape ? act.reshape->size.value / 1000 : devices_of(workload);
    nodes[id].insert(allocation.nodes[i].begin(), allocation.nodes[i].end());
  }
  for (const auto& [id, where] : nodes) found.at(id).nodes = hostlist(state, where);
  for (const MadeRoom& made : allocation.rooms) {
    const WorkloadId id = workload_of(made.claimant);
    found.try_emplace(id, make_room(state, state.workloads.at(id), made));
  }
  return found;
}

// Empty where it starts as it asks.
std::string in_which_form(const Allocation& allocation, const Workload& workload) {
  const auto act = std::ranges::find_if(allocation.plan.acts, [&](const policy::Decision& d) {
    return d.reshape && workload_of(d.work) == workload.id;
  });
  if (act == allocation.plan.acts.end()) return "";
  const policy::Reshape& r = *act->reshape;
  std::string text;
  if (const int64_t asked = shape_of(workload.job).total; r.size.value / 1000 != asked)
    text = fmt::format(" with {} devices in place of {}", r.size.value / 1000, asked);
  if (r.time_max.us > 0) text += fmt::format(" with a time limit of {}", to_short_text(r.time_max));
  if (r.ends.known()) text += fmt::format(", likely to end by {}", to_rfc3339(r.ends));
  if (r.ends_otherwise.known()) text += fmt::format(" and not by {}", to_rfc3339(r.ends_otherwise));
  return text;
}

}  // namespace

void Engine::suggest() {
  if (stage_of(state_) == Stage::observe) {
    state_.suggested.now.clear();
    state_.suggested.claims.clear();
    state_.estimates.now.clear();
    state_.allocation.reset();
    allocator_.forget();
    return;
  }
  auto allocation = std::make_shared<Allocation>(allocator_.look(state_, lengths_));
  auto now = suggestions_of(state_, *allocation);
  for (auto& [id, suggestion] : now) {
    const auto before = state_.suggested.now.find(id);
    if (before != state_.suggested.now.end() && says_the_same(before->second, suggestion)) {
      suggestion.since = before->second.since;
      continue;
    }
    const Workload& workload = state_.workloads.at(id);
    if (suggestion.kind == SuggestionKind::start) {
      decide(DecisionKind::start_suggested, &workload,
             suggestion.victims.empty()
                 ? fmt::format("{} would start now on {}{}", workload.job.label, suggestion.nodes,
                               in_which_form(*allocation, workload))
                 : fmt::format("{} would start now on {}, with the devices of {} taken back",
                               workload.job.label, suggestion.nodes, suggestion.victims.size()),
             suggestion.devices);
    } else if (suggestion.kind == SuggestionKind::make_room) {
      decide(
          DecisionKind::make_room_suggested, &workload,
          fmt::format("{} would start now on {} if others were moved: {}; {} device-seconds again",
                      workload.job.label, suggestion.nodes, to_text(state_, suggestion.moves),
                      suggestion.lost_device_seconds),
          suggestion.devices, suggestion.lost_device_seconds);
    } else {
      decide(DecisionKind::take_back_suggested, &workload,
             fmt::format("{} would be taken back for {}, by rule {}: {} device-seconds again",
                         workload.job.label, state_.workloads.at(suggestion.claimant).job.label,
                         suggestion.rule, suggestion.lost_device_seconds),
             suggestion.devices, suggestion.lost_device_seconds);
    }
  }
  state_.suggested.claims =
      policy::claims_of(allocation->plan, state_.suggested.claims, state_.now);
  ++state_.suggested.card.looks;
  state_.suggested.now = std::move(now);
  state_.allocation = std::move(allocation);
  estimate();
}

std::optional<Answer> Engine::ask(const Workload& workload, bool may_take_back) const {
  if (!state_.organisation) return std::nullopt;
  return allocator_.ask(state_, lengths_, workload, may_take_back);
}

std::optional<Stands> Engine::stands(const Workload& workload, size_t most) const {
  if (!state_.organisation) return std::nullopt;
  return allocator_.stands(state_, lengths_, workload, most);
}

Workload Engine::suppose(Job job) const {
  Workload workload;
  workload.id = state_.next_workload;
  workload.first_submit = workload.first_seen = workload.last_seen = state_.now;
  const auto number = [&](const std::string& name) { return state_.names.find(name).value_or(0); };
  workload.account = workload.team = number(job.account);
  workload.qos = workload.klass = number(job.qos);
  workload.user = number(job.user);
  workload.partition = number(job.partition);
  workload.job = std::move(job);
  if (!state_.organisation) return workload;
  const Belonging belongs = belonging_of(state_, workload.job);
  workload.assigned = true;
  workload.team = number(belongs.team);
  workload.klass = number(belongs.klass);
  workload.slips = belongs.slips;
  return workload;
}

// A workload that waited may have started, or ended without.
void Engine::score(const Workload& workload, bool waited) {
  if (!waited || stage_of(state_) == Stage::observe || workload.job.state == JobState::pending)
    return;
  const Workload* record = array_of(workload.job);
  ScoreCard& card = state_.suggested.card;
  auto made = state_.suggested.now.find(workload.id);
  if (made == state_.suggested.now.end() && record != nullptr)
    made = state_.suggested.now.find(record->id);
  const bool foreseen =
      made != state_.suggested.now.end() && made->second.kind == SuggestionKind::start;
  if (!foreseen) {
    if (workload.holding && !workload.devices.empty() && card.looks > 0) ++card.not_foreseen;
    return;
  }
  const Suggestion& start = made->second;
  const int64_t devices = start.devices / std::max(1, start.tasks);
  const auto victims = static_cast<int64_t>(start.victims.size());
  if (workload.holding) {
    const int64_t sooner = std::max<int64_t>(0, whole_seconds(workload.run_start - start.since));
    ++card.started;
    card.sooner_s += sooner;
    card.sooner_device_s += sooner * devices;
    if (victims == 0) ++card.without_victims;
  } else {
    ++card.went_away;
  }
  if (card.last.size() == kScoredMax) card.last.erase(card.last.begin());
  card.last.push_back({.workload = workload.job.label,
                       .team = state_.names.name(workload.team),
                       .klass = state_.names.name(workload.klass),
                       .suggested = start.since,
                       .started = workload.holding ? workload.run_start : Instant{},
                       .devices = devices,
                       .victims = victims});
  if (made->first == workload.id) state_.suggested.now.erase(made);
}

}  // namespace fairlead
