// Which workload a statement about a job is of, and when one is over for us.
#include <fmt/format.h>

#include <algorithm>

#include "core/belonging.h"
#include "core/books.h"
#include "core/engine.h"
#include "core/jobs.h"
#include "fabric/shape.h"

namespace fairlead {

namespace {

// The scheduler's ids come back: after a crash of its controller another job may have the same one.
bool is_same_workload(const Job& known, const Job& stated) {
  if (known.submit == stated.submit && (known.run_id == stated.run_id || known.run_id.empty()))
    return true;
  // A requeue resets submit time and run id, and counts; the count comes while the nodes are still
  // cleaned, the rest once they are.
  if (known.requeued && known.restarts > 0 && stated.restarts == known.restarts) return true;
  return stated.restarts > known.restarts;
}

}  // namespace

Workload& Engine::workload_of(const Job& job) {
  const auto found = by_job_.find(job.id);
  if (found == by_job_.end()) return add_workload(job);
  Workload& known = state_.workloads.at(found->second);
  if (is_same_workload(known.job, job)) return known;
  if (!known.ended) vanish(known);
  move_to_past(known.id);
  return add_workload(job);
}

// The record of the tasks that wait, of a job that is another task of the same array.
const Workload* Engine::array_of(const Job& job) const {
  if (job.array.id == 0 || job.array.id == job.id) return nullptr;
  const auto found = by_job_.find(job.array.id);
  return found == by_job_.end() ? nullptr : &state_.workloads.at(found->second);
}

Workload& Engine::add_workload(const Job& job) {
  const WorkloadId id = state_.next_workload++;
  by_job_[job.id] = id;
  Workload& fresh = state_.workloads[id];
  fresh.id = id;
  fresh.job = job;
  fresh.first_submit = job.submit.known() ? job.submit : state_.now;
  fresh.first_seen = state_.now;
  if (state_.organisation) assign(state_, fresh, array_of(job));
  state_.queues.add(fresh);
  return fresh;
}

void Engine::apply(const Job& job) {
  if (Poll& poll = polls_[static_cast<size_t>(Source::scheduler)]; poll.full)
    poll.jobs.insert(job.id);
  Workload& workload = workload_of(job);
  if (workload.unsettled) come_back(workload, job);
  workload.accounted = false;
  state_job(workload, job);
}

// What had vanished is listed again: its run goes on.
void Engine::come_back(Workload& workload, const Job& job) {
  state_.queues.remove(workload);
  close_use(state_, workload);
  workload.unsettled = workload.ended = false;
  if (workload.epoch > 0 && job.start == workload.run_start) --workload.epoch;
  state_.queues.add(workload);
}

void Engine::state_job(Workload& workload, const Job& job) {
  const bool waited = workload.job.state == JobState::pending;
  const bool was_in_array = workload.epoch == 0 && !workload.holding && array_of(job) != nullptr;
  state_.queues.remove(workload);
  const JobChange change = take_job(state_, workload, job);
  state_.queues.add(workload);
  if (waited || job.state == JobState::pending || change.evicted || has_ended(job.state))
    waiting_changed_ = true;
  allocator_.changed(workload.id);
  score(workload, waited || was_in_array);
  score_estimate(workload, waited || was_in_array);
  if (change.evicted && change.lost_device_seconds > 0) {
    decide(DecisionKind::work_lost, &workload,
           fmt::format("run {} of {} was thrown away ({}): {} device-seconds", workload.epoch,
                       job.label, enum_name(job.state), change.lost_device_seconds),
           job.request.devices.total, change.lost_device_seconds);
  }
}

void Engine::apply(const JobGone& gone) {
  const auto found = by_job_.find(gone.id);
  if (found != by_job_.end()) retire(found->second);
}

void Engine::retire(WorkloadId id) {
  Workload& workload = state_.workloads.at(id);
  if (workload.unsettled) return;
  if (!workload.ended) {
    vanish(workload);
    if (workload.unsettled) return;
  }
  move_to_past(id);
}

// Ends what had not ended when last seen. Where there is an accounting, that will tell how it
// ended.
void Engine::vanish(Workload& workload) {
  const bool was_holding = workload.holding;
  state_.queues.remove(workload);
  workload.unsettled = state_.source(Source::accounting).known;
  unmeasure(state_, workload, state_.source(Source::scheduler).last_ok);
  end_run(state_, workload, state_.now, /*evicted=*/false);
  workload.job.state = JobState::vanished;
  workload.ended = true;
  state_.queues.add(workload);
  decide(DecisionKind::workload_vanished, &workload,
         fmt::format("{} had not ended when last seen ({}), and the scheduler no longer knows it",
                     workload.job.label, was_holding ? "running" : "waiting"));
  waiting_changed_ = true;
  allocator_.changed(workload.id);
  score(workload, !was_holding);
  score_estimate(workload, !was_holding);
}

namespace {

NameId past_name(NameTable& names, std::string_view name) {
  return names.size() < kNamesMax ? names.intern(name) : names.find(name).value_or(0);
}

}  // namespace

// Keeps of the workload what reports and people ask for.
void Engine::move_to_past(WorkloadId id) {
  Workload& workload = state_.workloads.at(id);
  allocator_.changed(id);
  state_.suggested.now.erase(id);
  state_.estimates.now.erase(id);
  state_.queues.remove(workload);
  close_use(state_, workload);
  const Job& job = workload.job;
  // Of a job that runs its end is a plan.
  const bool states_end = has_ended(job.state) && job.state != JobState::vanished;
  Instant end = states_end ? std::max(workload.run_end, job.end) : workload.run_end;
  if (!end.known()) end = state_.now;
  if (state_.past.size() >= kPastWorkloadsMax) {
    const size_t half = state_.past.size() / 2;
    state_.past.erase(state_.past.begin(), state_.past.begin() + static_cast<ptrdiff_t>(half));
    state_.past_dropped += half;
    past_runs_.clear();
    lengths_.clear();
    for (const PastWorkload& past : state_.past) index_past(past);
  }
  const bool ran = workload.epoch > 0 &&
                   (workload.former.empty() || workload.former.back().start != workload.run_start);
  state_.past.push_back(
      {.id = id,
       .label = job.label,
       .name = past_name(state_.names, job.name),
       .shape = past_name(state_.names, to_text(shape_of(job))),
       .team = workload.team,
       .klass = workload.klass,
       .user = workload.user,
       .partition = workload.partition,
       .state = job.state,
       .devices = job.request.devices.total,
       .epochs = workload.epoch,
       .submit = workload.first_submit,
       .eligible = job.eligible,
       .first_start = workload.first_start,
       .end = end,
       .time_limit_s = job.request.time_limit_s,
       .run_s = workload.epoch > 0 ? whole_seconds(workload.run_end - workload.run_start) : 0,
       .milli_seconds = workload.before,
       .job = job.id,
       .last = {.submit = job.submit,
                .start = ran ? workload.run_start : Instant{},
                .end = end,
                .state = job.state,
                .exit_code = job.exit_code,
                .nodes = job.nodes},
       .former = std::move(workload.former)});
  index_past(state_.past.back());
  if (const auto it = by_job_.find(job.id); it != by_job_.end() && it->second == id)
    by_job_.erase(it);
  state_.workloads.erase(id);
}

}  // namespace fairlead
