// What accounting tells of runs that are over: what was not seen is booked, what was guessed is
// settled. docs/design/accounting.md has the rules.
#include <algorithm>

#include "base/hostlist.h"
#include "core/books.h"
#include "core/engine.h"
#include "core/jobs.h"

namespace fairlead {
namespace {

constexpr Duration kSettleWithin = seconds(86'400);  // chosen: a slurmdbd that was down for a day

uint64_t run_key(uint32_t job, Instant submit) {
  return uint64_t{job} << 32 | (static_cast<uint64_t>(floor_seconds(submit)) & 0xffff'ffffU);
}

bool ran(const Job& run) { return run.start.known() && run.end > run.start; }

int64_t milli_of(const Job& run) { return int64_t{run.request.devices.total} * kMilli; }

// The model under which the devices of the run's nodes are booked.
NameId model_of(State& state, const Job& run) {
  const NameId named = state.names.intern(run.request.devices.model);
  const auto nodes = expand_hostlist(run.nodes);
  const auto node = nodes && !nodes->empty() ? state.fleet.find(nodes->front()) : std::nullopt;
  if (!node || state.fleet.node(*node).devices.empty()) return named;
  NameId first = 0;
  for (const DeviceIndex device : state.fleet.node(*node).devices) {
    const NameId model = state.fleet.device(device).model;
    if (model == named) return named;
    if (first == 0) first = model;
  }
  return first;
}

// Whether the run can be booked on devices that nobody has held since it began.
bool has_room(const State& state, const Job& run) {
  const std::vector<NodeShare> shares = shares_of(run);
  if (shares.empty()) return run.request.devices.total == 0;
  return std::ranges::all_of(shares, [&](const NodeShare& share) {
    const auto node = state.fleet.find(share.node);
    if (!node || !state.fleet.node(*node).present) return share.device_count == 0;
    return std::ranges::count_if(state.fleet.node(*node).devices, [&](DeviceIndex device) {
             const DeviceBook& book = state.devices[device];
             return book.holder == 0 && book.since <= floor_seconds(run.start);
           }) >= share.device_count;
  });
}

// Gives back `amount` of an hour that the run was booked for and did not have: first what nobody
// saw, then what a look at a device took for its work after it had ended.
void give_back(State& state, Workload& workload, int64_t hour, int64_t amount) {
  constexpr std::pair<Column, int64_t HourUse::*> kFields[] = {
      {Column::held_unmeasured, &HourUse::held_unmeasured},
      {Column::held_idle, &HourUse::held_idle},
      {Column::useful, &HourUse::useful}};
  for (const auto& [column, field] : kFields) {
    for (RunUse& use : workload.use) {
      const auto row = std::ranges::find(use.hours, hour, &HourUse::hour);
      if (row == use.hours.end()) continue;
      const int64_t part = std::clamp<int64_t>((*row).*field, 0, amount);
      if (part == 0) continue;
      state.ledger.correct(account_of(workload, use.model, column),
                           {.model = use.model, .column = Column::free}, hour, part);
      (*row).*field -= part;
      amount -= part;
    }
  }
}

int64_t booked_in(const Workload& workload, int64_t hour) {
  int64_t sum = 0;
  for (const RunUse& use : workload.use) {
    for (const HourUse& row : use.hours) {
      if (row.hour == hour) sum += row.useful + row.held_idle + row.held_unmeasured;
    }
  }
  return sum;
}

Column column_of_unseen(const Job& run) {
  return is_eviction(run) ? Column::lost : Column::held_unmeasured;
}

// Books a run whose hours are over and whose devices have moved on since.
void book_unseen(State& state, Workload& workload, const Job& run) {
  const Account to = account_of(workload, model_of(state, run), column_of_unseen(run));
  const int64_t from = std::max(floor_seconds(run.start), state.ledger.data().opened);
  for_each_hour(from, floor_seconds(run.end), [&](int64_t hour, int64_t length) {
    workload.before[to.column] += take_from_unheld(state, to, hour, milli_of(run) * length);
  });
}

// Gives back what a run that was thrown away was booked for after its end.
void shorten(State& state, Workload& workload, RunRecord& former, const Job& run) {
  const Account lost = account_of(workload, model_of(state, run), Column::lost);
  for_each_hour(
      floor_seconds(run.end), floor_seconds(former.end), [&](int64_t hour, int64_t length) {
        const int64_t there = state.ledger.booked(lost, hour, floor_seconds(state.now));
        const int64_t amount =
            std::min({milli_of(run) * length, std::max<int64_t>(there, 0), workload.before.lost});
        state.ledger.correct(lost, {.model = lost.model, .column = Column::free}, hour, amount);
        workload.before.lost -= amount;
      });
  former.end = run.end;
  former.state = run.state;
  former.exit_code = run.exit_code;
}

// What accounting does not keep stays as it was known.
Job as_accounted(const Job& known, Job run) {
  Job job = known;
  job.state = run.state;
  job.requeued = run.requeued;
  job.submit = run.submit;
  job.start = run.start;
  job.end = run.end;
  job.exit_code = run.exit_code;
  if (!run.nodes.empty()) job.nodes = run.nodes;
  if (ran(run)) job.request.devices.total = run.request.devices.total;
  job.held.clear();
  job.reason.clear();
  job.reason_text.clear();
  return job;
}

// The run began when the job had waited again: after the last run that accounting told of.
bool follows(const Workload& workload, const Job& run) {
  const bool waits_again =
      workload.job.state == JobState::pending ? workload.job.requeued : workload.ended;
  return !workload.unsettled && waits_again && is_eviction(workload.job) &&
         workload.job.user == run.user && run.submit > workload.job.submit;
}

// The run came before what is known of the same job.
bool precedes(const Workload& workload, const Job& run) {
  return is_eviction(run) && workload.job.user == run.user && run.submit < workload.job.submit &&
         run.end <= workload.job.submit + seconds(2);
}

}  // namespace

void Engine::index_past(const PastWorkload& past) {
  lengths_.add(past);
  past_runs_.insert(run_key(past.job, past.last.submit));
  for (const RunRecord& run : past.former) past_runs_.insert(run_key(past.job, run.submit));
}

bool Engine::knows_run(const Job& run) const {
  const int64_t opened = state_.ledger.data().opened;
  if (opened == 0 || floor_seconds(run.end) <= opened) return true;
  if (past_runs_.contains(run_key(run.id, run.submit))) return true;
  const auto found = by_job_.find(run.id);
  if (found == by_job_.end()) return false;
  const Workload& known = state_.workloads.at(found->second);
  const auto former = std::ranges::find(known.former, run.submit, &RunRecord::submit);
  if (former != known.former.end()) return former->end <= run.end;
  if (known.job.submit != run.submit) {
    const bool later = run.submit > known.job.submit;
    if (scheduler_silent(state_) || (known.unsettled && later)) return false;
    return !precedes(known, run) && !follows(known, run);
  }
  return !known.unsettled && (known.ended || !scheduler_silent(state_));
}

void Engine::apply(const AccountedRun& told) {
  Job run = told.job;
  run.end = std::min(run.end, state_.now);
  if (knows_run(run)) return;
  const auto found = by_job_.find(run.id);
  Workload* known = found == by_job_.end() ? nullptr : &state_.workloads.at(found->second);
  // 1. What vanished.
  if (known != nullptr && known->unsettled && known->job.submit == run.submit)
    return settle(*known, run);
  // 2. A run whose end was guessed too late: nobody looked when the job was put back in line.
  if (known != nullptr) {
    const auto former = std::ranges::find(known->former, run.submit, &RunRecord::submit);
    if (former != known->former.end()) return shorten(state_, *known, *former, run);
  }
  // 3. A run before the one that is known: its hours are over.
  if (known != nullptr && precedes(*known, run)) {
    if (ran(run)) book_unseen(state_, *known, run);
    known->former.push_back({run.submit, run.start, run.end, run.state, run.exit_code, run.nodes});
    std::ranges::sort(known->former, {}, &RunRecord::submit);
    known->epoch += ran(run) ? 1 : 0;
    known->first_submit = std::min(known->first_submit, run.submit);
    if (ran(run) && (!known->first_start.known() || run.start < known->first_start))
      known->first_start = run.start;
    return;
  }
  // 4. The end of the run that is known, or the one after it; or a job that nobody saw.
  if (known != nullptr && known->job.submit == run.submit) {
    run = as_accounted(known->job, run);
  } else if (known != nullptr && follows(*known, run)) {
    remember_run(*known, known->job.requeued ? JobState::pending : known->job.state);
    known->ended = false;
    run = as_accounted(known->job, run);
    ++run.restarts;
  }
  const WorkloadId before = known == nullptr ? 0 : known->id;
  Workload& workload = workload_of(run);  // ends `known` where this is another job of its number
  if (workload.id != before) workload.accounted = true;
  take_unseen(workload, std::move(run));
}

void Engine::take_unseen(Workload& workload, Job run) {
  if (workload.holding || !ran(run) || has_room(state_, run)) return state_job(workload, run);
  // Its devices went to others since: the rows alone are put right.
  Job stated = run;
  stated.start = stated.end = {};
  state_job(workload, stated);
  if (has_ended(run.state)) {
    workload.job.start = run.start;
    workload.job.end = run.end;
  }
  ++workload.epoch;
  workload.run_start = run.start;
  workload.run_end = run.end;
  if (!workload.first_start.known()) workload.first_start = run.start;
  book_unseen(state_, workload, run);
  if (!has_ended(run.state)) remember_run(workload, run.state);
}

// Its hours are made what they were: what was booked too much was free, what was missing was not.
void Engine::settle(Workload& workload, const Job& run) {
  const bool evicted = is_eviction(run);
  const int64_t opened = state_.ledger.data().opened;
  const int64_t from = ran(run) ? std::max(floor_seconds(run.start), opened) : opened;
  std::map<int64_t, int64_t> want;
  for (const RunUse& use : workload.use) {
    for (const HourUse& row : use.hours) want[row.hour] = 0;
  }
  if (ran(run)) {
    for_each_hour(from, floor_seconds(run.end),
                  [&](int64_t hour, int64_t length) { want[hour] = milli_of(run) * length; });
  }
  const Account to = account_of(workload, model_of(state_, run), column_of_unseen(run));
  for (const auto& [hour, amount] : want) {
    const int64_t has = booked_in(workload, hour);
    if (has > amount) give_back(state_, workload, hour, has - amount);
    if (has < amount)
      workload.before[to.column] += take_from_unheld(state_, to, hour, amount - has);
  }
  if (evicted) lose_work(state_, workload);
  close_use(state_, workload);
  state_.queues.remove(workload);
  const JobState state = run.state == JobState::pending ? JobState::preempted : run.state;
  if (ran(run)) {
    if (workload.epoch == 0 || run.start != workload.run_start) ++workload.epoch;
    workload.run_start = run.start;
    workload.run_end = run.end;
    if (!workload.first_start.known()) workload.first_start = run.start;
  }
  workload.job = as_accounted(workload.job, run);
  workload.job.state = state;
  workload.unsettled = false;
  workload.accounted = true;
  workload.last_seen = state_.now;
  state_.queues.add(workload);
}

// What only accounting knew, and the scheduler has not restated since, goes where reports find it.
void Engine::finish_accounted() {
  std::vector<WorkloadId> done;
  for (auto& [id, workload] : state_.workloads) {
    if (workload.unsettled && state_.now > workload.run_end + kSettleWithin &&
        state_.now > workload.last_seen + kSettleWithin) {
      done.push_back(id);
    } else if (workload.accounted && workload.ended && !scheduler_silent(state_) &&
               state_.now > workload.last_seen + state_.rules.source_grace) {
      done.push_back(id);
    }
  }
  for (const WorkloadId id : done) move_to_past(id);
}

}  // namespace fairlead
