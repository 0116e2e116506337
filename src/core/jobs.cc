#include "core/jobs.h"

#include <algorithm>

#include "base/hostlist.h"
#include "core/books.h"

namespace fairlead {

bool scheduler_silent(const State& state) {
  constexpr Duration kSilentAfter = seconds(10);  // chosen: twice what a quiet poller waits
  const SourceState& scheduler = state.source(Source::scheduler);
  return !scheduler.ok || state.frozen || state.now > scheduler.last_ok + kSilentAfter;
}

bool is_over(const Job& job) {
  return has_ended(job.state) ||
         (job.state == JobState::pending && job.requeued && job.end.known());
}

bool is_eviction(const Job& job) {
  return job.state == JobState::preempted || job.state == JobState::node_fail ||
         job.state == JobState::boot_fail || job.state == JobState::pending;
}

// Of a run that is over the nodes are stated, and no longer what was held on each: its devices
// evenly over them, where that is whole.
std::vector<NodeShare> shares_of(const Job& job) {
  if (!job.held.empty() || !is_over(job)) return job.held;
  std::vector<NodeShare> shares;
  const auto nodes = expand_hostlist(job.nodes);
  if (!nodes || nodes->empty() ||
      job.request.devices.total % static_cast<int32_t>(nodes->size()) != 0)
    return shares;
  const int32_t count = job.request.devices.total / static_cast<int32_t>(nodes->size());
  for (const std::string& node : *nodes) shares.push_back({.node = node, .device_count = count});
  return shares;
}

namespace {

Instant known_or(Instant at, Instant otherwise) { return at.known() ? at : otherwise; }

// Devices of `share` on its node: those it names, or, where it only counts, the first that nobody
// holds. What is not there is left over.
std::vector<DeviceIndex> devices_of(const State& state, const NodeShare& share,
                                    const Workload& workload, Instant at, int64_t& left_over) {
  std::vector<DeviceIndex> found;
  const auto node = state.fleet.find(share.node);
  const int64_t wanted =
      std::max<int64_t>(share.device_count, static_cast<int64_t>(share.devices.size()));
  if (!node || !state.fleet.node(*node).present) {
    left_over += wanted;
    return found;
  }
  for (const int32_t index : share.devices) {
    if (const auto device = state.fleet.device_at(*node, index)) found.push_back(*device);
  }
  if (share.devices.empty()) {
    const auto take = [&](auto&& may) {
      for (const DeviceIndex device : state.fleet.node(*node).devices) {
        if (static_cast<int64_t>(found.size()) >= wanted) return;
        if (may(state.devices[device]) && std::ranges::find(found, device) == found.end())
          found.push_back(device);
      }
    };
    take([&](const DeviceBook& book) {
      return book.holder == workload.id;
    });  // what it has, it keeps
    take([&](const DeviceBook& book) {
      return book.holder == 0 && book.since <= floor_seconds(at);
    });
    take([&](const DeviceBook& book) { return book.holder == 0; });
  }
  left_over += wanted - static_cast<int64_t>(found.size());
  return found;
}

int64_t share_milli(const Job& job) {
  return job.request.devices.share_milli > 0 ? job.request.devices.share_milli : kMilli;
}

// Makes what the workload holds equal to what its job states, from `at` on.
void hold_stated(State& state, Workload& workload, Instant at) {
  int64_t left_over = 0;
  std::vector<DeviceIndex> want;
  const std::vector<NodeShare> shares = shares_of(workload.job);
  for (const NodeShare& share : shares) {
    const auto devices = devices_of(state, share, workload, at, left_over);
    want.insert(want.end(), devices.begin(), devices.end());
  }
  if (shares.empty()) left_over = workload.job.request.devices.total;
  const std::vector<DeviceIndex> held = workload.devices;
  for (const DeviceIndex device : held) {
    if (std::ranges::find(want, device) == want.end()) release(state, device, at);
  }
  for (const DeviceIndex device : want) hold(state, workload, device, at);
  hold_unplaced(state, workload, left_over * share_milli(workload.job) - workload.unplaced_milli,
                at);
}

void begin(State& state, Workload& workload, Instant start) {
  workload.holding = true;
  workload.evicted = false;
  ++workload.epoch;
  workload.run_start = start;
  workload.run_end = {};
  workload.idle = {};
  if (!workload.first_start.known()) workload.first_start = start;
  hold_stated(state, workload, start);
  if (scheduler_silent(state)) hold_from_start(state, workload);
}

// The run that the former statement told of is over, and this one tells of the next.
bool is_next_run(const Job& before, const Job& after) {
  if (after.restarts != before.restarts) return true;
  return holds_devices(after.state) && after.start.known() && before.start.known() &&
         after.start != before.start;
}

// A statement of a run whose end accounting told before the scheduler did.
bool is_known_run(const Workload& workload, const Job& job) {
  return holds_devices(job.state) && workload.epoch > 0 && job.start.known() &&
         job.start == workload.run_start;
}

// A run's end is stated while its nodes are cleaned; after that a new submit time is what a requeue
// leaves of it.
Instant end_of_requeued(const Workload& workload, const Job& job, Instant now) {
  const auto may_be = [&](Instant at) { return at >= workload.run_start && at <= now; };
  const bool states_end =
      job.state == JobState::completing || (job.state == JobState::pending && is_over(job));
  if (states_end && job.end.known() && may_be(job.end)) return job.end;
  if (job.submit != workload.job.submit && may_be(job.submit)) return job.submit;
  return now;
}

}  // namespace

void place(State& state, Workload& workload) { hold_stated(state, workload, state.now); }

JobChange end_run(State& state, Workload& workload, Instant end, bool evicted) {
  JobChange change;
  if (!workload.holding) return change;
  const std::vector<DeviceIndex> held = workload.devices;
  for (const DeviceIndex device : held) release(state, device, end);
  hold_unplaced(state, workload, -workload.unplaced_milli, end);
  workload.holding = false;
  workload.run_end = end;
  workload.idle = {};
  if (evicted) {
    workload.evicted = true;
    change = {.evicted = true, .lost_device_seconds = lose_work(state, workload)};
  }
  if (workload.unsettled)
    fold_use(state, workload);
  else
    close_use(state, workload);
  return change;
}

void remember_run(Workload& workload, JobState how) {
  constexpr size_t kFormerMax = 100;  // chosen: a job that requeues itself for ever
  if (workload.epoch == 0) return;
  if (!workload.former.empty() && workload.former.back().start == workload.run_start) return;
  if (workload.former.size() == kFormerMax) workload.former.erase(workload.former.begin());
  workload.former.push_back({.submit = workload.job.submit,
                             .start = workload.run_start,
                             .end = workload.run_end,
                             .state = how,
                             .exit_code = workload.job.exit_code,
                             .nodes = workload.job.nodes});
}

JobChange take_job(State& state, Workload& workload, const Job& job) {
  const Instant now = state.now;
  JobChange change;
  // 1. A run that ended between two looks, or was put back in line and has its nodes cleaned.
  const bool put_back = job.requeued && job.state == JobState::completing;
  const bool next_run = workload.holding && is_next_run(workload.job, job);
  if (next_run || (workload.holding && (put_back || job.state == JobState::pending))) {
    change = end_run(state, workload, end_of_requeued(workload, job, now), /*evicted=*/true);
    remember_run(workload, JobState::pending);
  }
  if (workload.ended && !has_ended(job.state) && !is_known_run(workload, job))
    remember_run(workload, workload.job.state);
  // 2. The facts.
  const bool held_before = workload.holding;
  workload.job = job;
  workload.account = state.names.intern(job.account);
  workload.qos = state.names.intern(job.qos);
  if (!workload.assigned) {
    workload.team = workload.account;
    workload.klass = workload.qos;
  }
  workload.user = state.names.intern(job.user);
  workload.partition = state.names.intern(job.partition);
  workload.last_seen = now;
  if (is_known_run(workload, job) && workload.ended) return change;  // its nodes are cleaned yet
  if (!has_ended(job.state)) workload.ended = false;                 // a requeue of what had ended
  const Instant start = std::min(known_or(job.start, now), now);
  // 3. What it holds now.
  if (holds_devices(job.state) && !put_back) {
    if (!held_before)
      begin(state, workload, start);
    else
      hold_stated(state, workload, now);
    for (const DeviceIndex device : workload.devices)
      refresh(state, device, now);  // its account may be another
    return change;
  }
  // 4. Its end; also of a run that began and ended between two looks.
  if (is_over(job)) {
    const Instant end = std::min(known_or(job.end, now), now);
    const bool missed = !held_before && !workload.ended && job.start.known() && end > start &&
                        start >= workload.run_end && state.ledger.data().opened != 0 &&
                        floor_seconds(end) > state.ledger.data().opened;
    if (missed) begin(state, workload, start);
    if (workload.holding) {
      const JobChange ended =
          end_run(state, workload, std::max(end, workload.run_start), is_eviction(job));
      if (ended.evicted) change = ended;
    }
    workload.ended = has_ended(job.state);
    if (!workload.ended) {  // accounting told of a run, and the job waits again
      remember_run(workload, job.state);
      workload.job.start = workload.job.end = {};
    }
  }
  return change;
}

}  // namespace fairlead
