#include "explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include "base/check.h"
#include "core/belonging.h"
#include "explain/capacity_rules.h"
#include "explain/cures.h"
#include "explain/life.h"
#include "explain/organisation_rules.h"
#include "explain/policy_rules.h"

namespace fairlead {
namespace {

using RuleFn = void (*)(Explainer&, const Workload&, std::vector<Blocker>&);

constexpr std::array<RuleFn, 11> kRules = {
    &PolicyRules::hold,      &PolicyRules::begin_time,  &PolicyRules::dependency,
    &PolicyRules::partition, &PolicyRules::association, &PolicyRules::qos,
    &PolicyRules::array,     &PolicyRules::licences,    &CapacityRules::reservation,
    &CapacityRules::room,    &CapacityRules::order};

}  // namespace

Explainer::Explainer(const State& state) : state_(state), usage_(state), rooms_(rooms_of(state)) {}

Explainer::Explainer(const Engine& engine) : Explainer(engine.state()) { engine_ = &engine; }

const Fit& Explainer::fit_of(const Shape& shape) {
  const auto [it, added] = fits_.try_emplace(shape);
  if (added) it->second = fit(shape, state_.fleet, rooms_, members(shape.partition));
  return it->second;
}

const std::vector<bool>& Explainer::members(const std::string& partition) {
  const auto [it, added] = members_.try_emplace(partition);
  if (added) it->second = members_of(state_, partition);
  return it->second;
}

// Of several partitions the one counts in which the fewest are ahead.
int64_t Explainer::ahead_of(const Workload& w, std::vector<Holder>* first) const {
  std::optional<int64_t> least;
  std::string where;
  for_each_name(w.job.partition, [&](const std::string& name) {
    const int64_t ahead = state_.queues.ahead_in(name, w);
    if (least && ahead >= *least) return;
    least = ahead;
    where = name;
  });
  if (first == nullptr) return least.value_or(0);
  state_.queues.for_each_ahead(where, w, kHoldersShown, [&](WorkloadId id) {
    const Workload& other = state_.workloads.at(id);
    first->push_back(holder_of(state_, other, other.job.request.devices.total));
  });
  return least.value_or(0);
}

std::vector<Blocker> Explainer::blockers_of(const Workload& w, const policy::Decision* verdict) {
  std::vector<Blocker> found;
  if (w.job.state != JobState::pending) return found;
  for (const RuleFn rule : kRules) rule(*this, w, found);
  const bool explained = std::ranges::any_of(
      found, [&](const Blocker& b) { return scheduler_means(w.job.reason, b.code); });
  const bool silent = w.job.reason.empty() || w.job.reason == "None";
  if (!explained && !silent && !scheduler_means(w.job.reason, BlockerCode::NOT_YET_EXAMINED)) {
    found.push_back(
        {.code = BlockerCode::UNEXPLAINED,
         .object = "job " + w.job.label,
         .message = fmt::format("the scheduler says {}{}{}", w.job.reason,
                                w.job.reason_text.empty() ? "" : ": ", w.job.reason_text),
         .cure = "ask the scheduler's administrator"});
  }
  if (found.empty()) {
    found.push_back({.code = BlockerCode::NOT_YET_EXAMINED,
                     .object = "job " + w.job.label,
                     .message = "it fits now; the scheduler has not come to it yet",
                     .waiting_cures = WaitingCures::yes,
                     .cure = "wait for the scheduler's next cycle"});
  }
  OrganisationRules::limits(*this, w, verdict, found);
  std::ranges::sort(found, {},
                    [](const Blocker& b) { return std::tie(b.code, b.object, b.limit_name); });
  return found;
}

namespace {

std::string wants_of(const Job& job) {
  std::string text = to_text(shape_of(job));
  if (job.request.time_limit_s >= 0)
    text += ", time limit " + to_short_text(seconds(job.request.time_limit_s));
  if (job.request.devices.shares > 0)
    text += ", " + count_text(job.request.devices.shares, "shares") + " of a device";
  if (!job.request.features.empty()) text += ", features " + job.request.features;
  if (!job.request.licences.empty()) text += ", licences " + job.request.licences;
  if (job.request.switches > 0)
    text += fmt::format(", under {} switch{}", job.request.switches,
                        job.request.switches == 1 ? "" : "es");
  if (job.array.waiting_count > 0) text += ", " + count_text(job.array.waiting_count, "tasks");
  return text;
}

// The 7 of "4240_7".
std::optional<int64_t> task_of(std::string_view label) {
  const size_t bar = label.find('_');
  if (bar == label.npos) return std::nullopt;
  int64_t task = 0;
  const char* last = label.data() + label.size();
  const auto [end, error] = std::from_chars(label.data() + bar + 1, last, task);
  if (error != std::errc{} || end != last || task < 0) return std::nullopt;
  return task;
}

// Whether "2-9,12-20:4%3" has the task. A list that is cut short, or that we cannot
// read, may have any.
bool waits_in(const JobArray& array, int64_t task) {
  std::string_view list = array.waiting;
  list = list.substr(0, list.find('%'));
  if (list.empty() || list.contains("...")) return true;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    const char* last = part.data() + part.size();
    int64_t from = 0, step = 1;
    auto [at, error] = std::from_chars(part.data(), last, from);
    if (error != std::errc{}) return true;
    int64_t to = from;
    if (at != last && *at == '-') at = std::from_chars(at + 1, last, to).ptr;
    if (at != last && *at == ':') at = std::from_chars(at + 1, last, step).ptr;
    if (at != last) return true;
    if (task >= from && task <= to && (task - from) % std::max<int64_t>(1, step) == 0) return true;
  }
  return false;
}

// What follows from the blockers together.
void judge(const Job& job, Explanation& x) {
  x.can_never_start = std::ranges::any_of(x.blockers, [](const Blocker& b) {
    return b.waiting_cures == WaitingCures::never && !b.by_policy &&
           b.code != BlockerCode::HELD_BY_ADMIN && b.code != BlockerCode::HELD_BY_USER;
  });
  x.scheduler_agrees = job.reason.empty() || std::ranges::any_of(x.blockers, [&](const Blocker& b) {
                         return scheduler_means(job.reason, b.code);
                       });
}

}  // namespace

Explanation Explainer::explain(const Workload& w) {
  const Job& job = w.job;
  Explanation x{.workload = job.label,
                .name = job.name,
                .user = job.user,
                .team = state_.names.name(w.team),
                .klass = state_.names.name(w.klass),
                .partition = job.partition,
                .state = enum_name(job.state),
                .wants = wants_of(job),
                .as_of = state_.source(Source::scheduler).last_ok,
                .submitted = w.first_submit};
  x.priority = job.priority;
  x.epoch = w.epoch;
  x.started = w.run_start;
  x.ended = w.run_end;
  x.nodes = job.nodes;
  x.devices = static_cast<int64_t>(w.devices.size()) + w.unplaced_milli / kMilli;
  x.gpu_seconds = use_of(state_, w);
  for (size_t c = 0; c < kColumns; ++c) x.gpu_seconds[static_cast<Column>(c)] /= kMilli;
  x.idle_kind = w.idle.kind;
  x.idle_since = w.idle.since;
  tell_life(state_, w, x);
  for (const policy::Slip& slip : w.slips) x.misconfigured.push_back(told(slip));
  if (!state_.source(Source::scheduler).ok)
    x.note = "the scheduler is not seen now: " + state_.source(Source::scheduler).detail;
  if (job.state != JobState::pending) return x;
  x.waiting_since = w.first_submit;
  x.wait_us = (state_.now - w.first_submit).us;
  x.ahead = ahead_of(w, nullptr);
  x.blockers = blockers_of(w);
  x.scheduler_reason = job.reason;
  // Components of one job start together, and the planner is asked of one: nothing is tried there.
  if (engine_ != nullptr && state_.organisation && job.het_id == 0)
    try_cures(*this, *engine_, w, x);
  judge(job, x);
  x.scheduler_start_estimate = job.start_planned;
  x.start = start_of(state_, w);
  x.policy = OrganisationRules::verdict(*this, w);
  return x;
}

Explanation Explainer::explain_supposed(const Workload& w) {
  CHECK(engine_ != nullptr);
  supposed_ = engine_->ask(w, /*may_take_back=*/true);
  Explanation x = explain(w);
  if (!x.start.p50.known()) x.start.unknown = "starts are foreseen of what is submitted";
  supposed_.reset();
  return x;
}

// All components start together: what one waits for, all wait for.
void Explainer::add_components(const Workload& leader, Explanation& x) {
  for (const auto& [id, other] : state_.workloads) {
    if (other.job.het_id != leader.job.het_id || id == leader.id) continue;
    x.wants += " : " + wants_of(other.job);
    x.devices += static_cast<int64_t>(other.devices.size());
    if (!other.job.nodes.empty()) x.nodes += (x.nodes.empty() ? "" : " : ") + other.job.nodes;
    ByColumn used = use_of(state_, other);
    for (size_t c = 0; c < kColumns; ++c) used[static_cast<Column>(c)] /= kMilli;
    x.gpu_seconds += used;
    for (Blocker& b : blockers_of(other)) {
      const bool told = std::ranges::any_of(x.blockers, [&](const Blocker& known) {
        return std::tie(known.code, known.object, known.limit_name, known.wanted) ==
               std::tie(b.code, b.object, b.limit_name, b.wanted);
      });
      if (told) continue;
      b.message = fmt::format("component {}: {}", other.job.label, b.message);
      x.blockers.push_back(std::move(b));
    }
  }
  // A component that fits waits for the one that does not.
  const auto fits = [](const Blocker& b) { return b.code == BlockerCode::NOT_YET_EXAMINED; };
  if (!std::ranges::all_of(x.blockers, fits)) std::erase_if(x.blockers, fits);
  std::ranges::sort(x.blockers, {},
                    [](const Blocker& b) { return std::tie(b.code, b.object, b.limit_name); });
  judge(leader.job, x);
}

std::optional<Explanation> Explainer::explain(std::string_view label) {
  if (const Workload* w = find(label)) {
    if (const auto task = task_of(label); task && w->job.array.task < 0) {
      Workload alone = *w;  // what one task of the record waits for
      alone.job.array.task = *task;
      return explain(alone);
    }
    Explanation x = explain(*w);
    if (w->job.het_id != 0) add_components(*w, x);
    return x;
  }
  const PastWorkload* past = find_past(state_, label);
  if (past == nullptr) return std::nullopt;
  return explain_past(state_, *past);
}

const Workload* Explainer::find(std::string_view label) const {
  const auto id = state_.queues.find(label);
  if (id) return &state_.workloads.at(*id);
  // "4240_7" may still wait within the array's one record.
  const size_t bar = label.find('_');
  const auto array = bar == label.npos ? std::nullopt : state_.queues.find(label.substr(0, bar));
  if (!array) return nullptr;
  const Workload& record = state_.workloads.at(*array);
  if (record.job.array.id == 0 || record.job.array.task >= 0) return nullptr;
  const std::string_view rest = label.substr(bar + 1);
  const bool is_list = rest.starts_with('[');  // as the record was called when more waited in it
  const std::optional<int64_t> task = task_of(label);
  return is_list || (task && waits_in(record.job.array, *task)) ? &record : nullptr;
}

}  // namespace fairlead
