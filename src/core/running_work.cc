#include "core/running_work.h"

#include <algorithm>
#include <utility>

#include "core/team_books.h"

namespace fairlead {
namespace {

using policy::RunningWork;
using policy::TeamId;

// Spreads ids evenly, however they are numbered: by the golden ratio.
uint64_t chance_of(WorkloadId id) { return id * 0x9E37'79B9'7F4A'7C15; }

// As an organisation file writes it.
std::string kind_name(IdleKind kind) {
  std::string name(enum_name(kind));
  std::ranges::replace(name, '_', '-');
  return name;
}

Duration lost_last(const Workload& workload) {
  if (workload.former.empty()) return {};
  const RunRecord& last = workload.former.back();
  const bool thrown_away = last.state == JobState::pending || last.state == JobState::preempted;
  return thrown_away && last.start.known() ? std::max(Duration{}, last.end - last.start)
                                           : Duration{};
}

class IdleRule {
 public:
  explicit IdleRule(const State& state) : state_(state) {
    const auto& rule = state.organisation->rules().idle;
    if (!rule || rule->after.size() < policy::kRungs) return;
    const auto after = [&](policy::Rung rung) { return rule->after[static_cast<size_t>(rung)]; };
    requeue_ = after(policy::Rung::requeue);
    cancel_ = after(policy::Rung::cancel);
  }

  bool finds(const Workload& w, policy::ClassId klass) const {
    const std::optional<Duration> after = requeue_ && w.job.may_requeue ? requeue_ : cancel_;
    if (!after || w.idle.kind == IdleKind::none || state_.frozen ||
        std::cmp_less(w.idle.devices, w.devices.size()))
      return false;
    // A part of it that is not seen may be at work.
    if (w.unplaced_milli > 0 || std::cmp_less(w.devices.size(), w.job.request.devices.total))
      return false;
    const policy::ReclaimIdle& rule = *state_.organisation->rules().idle;
    const bool waits_for_peer = w.idle.kind == IdleKind::failed_peer;
    const bool is_so = std::ranges::all_of(w.devices, [&](DeviceIndex d) {
      const Activity& activity = state_.devices[d].activity;
      const bool for_long =
          activity.quiet_since.known() && state_.now - activity.quiet_since >= *after;
      return for_long &&
             (rule.kinds.empty() ||
              std::ranges::find(rule.kinds, kind_name(idle_kind(activity, waits_for_peer))) !=
                  rule.kinds.end());
    });
    if (!is_so) return false;
    return std::ranges::none_of(rule.unless, [&](const policy::Exempt& exempt) {
      return exempt.klass == klass && state_.now - w.run_start < exempt.time;
    });
  }

  // Of those that were found the longest idle, as many as `most` allows.
  void mark(std::vector<RunningWork>& running, std::vector<size_t> found) const {
    const auto since = [&](size_t i) {
      return state_.workloads.at(workload_of(running[i].work.id)).idle.since;
    };
    std::ranges::sort(found, {}, [&](size_t i) { return std::pair(since(i), running[i].work.id); });
    const auto& most = state_.organisation->rules().idle->most;
    policy::Milli left = most ? policy::devices(most->most) : policy::Milli::unlimited();
    for (const size_t i : found) {
      if (running[i].work.size > left) continue;
      running[i].idle = true;
      left = left - running[i].work.size;
    }
  }

 private:
  const State& state_;
  std::optional<Duration> requeue_, cancel_;  // how long it is idle before that is done
};

// When the last of its devices fell quiet.
Instant quiet_since(const State& state, const Workload& workload) {
  Instant last;
  for (const DeviceIndex d : workload.devices)
    last = std::max(last, state.devices[d].activity.quiet_since);
  return last;
}

}  // namespace

policy::ClassId class_or_last(const State& state, const Workload& workload) {
  return class_of(state, workload)
      .value_or(static_cast<policy::ClassId>(state.organisation->rules().classes.size()));
}

Duration time_limit(const Job& job) {
  constexpr int64_t kLimitMax = int64_t{100} * 366 * 86'400;  // beyond which a limit is none
  const int64_t stated = job.request.time_limit_s;
  return stated > kLimitMax ? Duration{} : seconds(std::max<int64_t>(0, stated));
}

std::vector<RunningWork> running_work(const State& state, const RunLengths& lengths) {
  const IdleRule idle(state);
  std::vector<RunningWork> running;
  std::vector<size_t> found_idle;
  for (const WorkloadId id : state.queues.holding()) {
    const Workload& workload = state.workloads.at(id);
    const Duration limit = time_limit(workload.job), lost = lost_last(workload);
    const TeamId team = team_of(state, workload).value_or(policy::kRoot);
    RunningWork r{
        .work = {.id = work_id(id),
                 .team = team,
                 .klass = class_or_last(state, workload),
                 .since = workload.first_submit,
                 .time_max = limit},
        .started = workload.run_start,
        .ends = limit.us > 0 ? std::max(workload.run_start + limit, state.now) : Instant{},
        .kept_till = {}};
    if (const auto length = RunLengths::draw(lengths.like(workload), limit,
                                             state.now - workload.run_start, chance_of(id)))
      r.ends_likely = std::max(workload.run_start + *length, state.now);
    if (lost.us > 0) r.spared_till = workload.run_start + lost;
    for_each_held(state, workload, [&](policy::DeviceId device, policy::Milli amount) {
      if (amount <= r.work.size) return;  // of several classes, what it has most of
      r.work.device = device;
      r.work.size = amount;
    });
    if (r.work.size.value <= 0) continue;
    if (idle.finds(workload, r.work.klass)) {
      r.quiet_since = quiet_since(state, workload);
      found_idle.push_back(running.size());
    }
    running.push_back(r);
  }
  if (!found_idle.empty()) idle.mark(running, std::move(found_idle));
  return running;
}

}  // namespace fairlead
