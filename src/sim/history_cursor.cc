#include <algorithm>

#include "base/check.h"
#include "base/hostlist.h"
#include "codec/event_json.h"
#include "sim/history_read.h"

namespace fairlead {

HistoryCursor::HistoryCursor(const History& history) : history_(history) {
  job_event_.what.emplace<Job>();
}

const Event* HistoryCursor::next() {
  if (const Event* event = next_of_fleet()) return event;
  if (!history_.journal_.empty()) return next_of_journal();
  if (!history_.aggregate_.empty()) return next_of_aggregate();
  return next_of_runs();
}

const Event* HistoryCursor::next_of_fleet() {
  if (next_node_ >= history_.fleet_.size()) return nullptr;
  other_event_ = {.at = history_.notes_.from, .what = history_.fleet_[next_node_++]};
  return &other_event_;
}

void HistoryCursor::push(Due due) {
  due_.push_back(due);
  std::ranges::push_heap(due_, std::greater<>());
}

HistoryCursor::Due HistoryCursor::pop() {
  std::ranges::pop_heap(due_, std::greater<>());
  const Due due = due_.back();
  due_.pop_back();
  return due;
}

bool HistoryCursor::has_next_run(const Due& due) const {
  return history_.table_.runs()[due.run].continues;
}

const Event* HistoryCursor::next_of_runs() {
  const auto& runs = history_.table_.runs();
  if (next_workload_ < history_.order_.size()) {
    const uint32_t run = history_.order_[next_workload_];
    const Due fresh{.second = runs[run].submit,
                    .fact = Fact::submit,
                    .run = run,
                    .workload = static_cast<uint32_t>(next_workload_ + 1)};
    if (due_.empty() || fresh < due_.front()) {
      ++next_workload_;
      follow(fresh);
      state_run(fresh);
      return &job_event_;
    }
  }
  if (due_.empty()) return nullptr;
  const Due due = pop();
  if (due.fact == Fact::gone) {
    ++done_;
    other_event_ = {.at = instant_of_seconds(due.second), .what = JobGone{due.workload}};
    return &other_event_;
  }
  follow(due);
  state_run(due);
  return &job_event_;
}

// Queues the fact after this one of the same workload.
void HistoryCursor::follow(const Due& due) {
  const HistoryRun& run = history_.table_.runs()[due.run];
  Due next = due;
  if (due.fact == Fact::submit && run.start != 0) {
    next.fact = Fact::start;
    next.second = run.start;
  } else if (due.fact != Fact::end) {
    if (run.open) return;
    next.fact = Fact::end;
    next.second = std::max(run.end, due.second);
  } else if (!run.continues) {
    next.fact = Fact::gone;
  } else {
    ++next.run;
    const HistoryRun& after = history_.table_.runs()[next.run];
    if (run.how ==
        RunEnd::resized) {  // this very fact states the next amount; what follows is its end
      if (after.open) return;
      next.second = std::max(after.end, due.second);
    } else {
      next.fact = Fact::submit;
      next.second = std::max(after.submit, due.second);
    }
  }
  push(next);
}

namespace {

constexpr int64_t kNotHeld = 1;  // a history states no priority, and zero would be a hold

// Divides the devices evenly over the nodes that the dump names.
void hold_on_nodes(Job& job, std::string_view nodes, int64_t devices) {
  const auto names = expand_hostlist(nodes);
  if (!names || names->empty()) return;
  const auto count = static_cast<int64_t>(names->size());
  for (int64_t i = 0; i < count; ++i) {
    NodeShare share;
    share.node = (*names)[static_cast<size_t>(i)];
    share.device_count = static_cast<int32_t>(devices / count + (i < devices % count ? 1 : 0));
    job.held.push_back(std::move(share));
  }
}

void hold_placed(Job& job, std::string_view node, const HistoryRun& run) {
  NodeShare share;
  share.node = node;
  for (int32_t i = 0; i < run.devices_held; ++i) share.devices.push_back(run.device_first + i);
  share.device_count = run.devices_held;
  job.held.push_back(std::move(share));
}

void state_identity(Job& job, const RunTable& table, const HistoryRun& run) {
  job.label = table.text(run.label);
  job.user = table.name(run.user);
  job.account = table.name(run.account);
  job.qos = table.name(run.qos);
  job.partition = table.name(run.partition);
  job.reservation = table.name(run.reservation);
  job.array = {};
  if (run.task >= 0 || run.waiting_count > 0) {
    job.array.id = run.id;
    job.array.task = run.task;
    job.array.waiting_count = run.waiting_count;
    if (run.waiting_count > 0)
      job.array.waiting = job.label.substr(std::min(job.label.find('['), job.label.size()));
  }
  job.het_id = run.het_offset >= 0 ? run.id : 0;
  job.het_offset = std::max(run.het_offset, 0);
}

void state_request(Job& job, const RunTable& table, const HistoryRun& run, int32_t devices) {
  JobRequest& r = job.request;
  r.devices.model = table.name(run.model);
  r.devices.total = devices;
  r.devices.per_node = devices % run.nodes_count == 0 ? devices / run.nodes_count : 0;
  r.devices.share_milli = run.share_milli;
  r.nodes_min = run.nodes_count;
  r.cpus = run.cpus;
  r.time_limit_s = run.time_limit_s;
}

}  // namespace

void HistoryCursor::state_run(const Due& due) {
  const auto& runs = history_.table_.runs();
  const bool resized =
      due.fact == Fact::end && runs[due.run].continues && runs[due.run].how == RunEnd::resized;
  const HistoryRun& run = runs[due.run + (resized ? 1 : 0)];
  job_event_.at = instant_of_seconds(due.second);
  Job& job = std::get<Job>(job_event_.what);
  job.id = due.workload;
  state_identity(job, history_.table_, run);
  const bool began = due.fact != Fact::submit;
  state_request(job, history_.table_, run,
                began && run.start != 0 ? run.devices_held : run.devices_asked);
  job.restarts = run.restarts;
  job.requeued = !began && run.restarts > 0;
  job.submit = instant_of_seconds(run.submit);
  job.eligible = instant_of_seconds(run.eligible);
  job.start = began ? instant_of_seconds(run.start) : Instant{};
  job.end = {};
  job.exit_code = 0;
  job.held.clear();
  job.nodes.clear();
  job.priority = kNotHeld;
  if (!began) {
    job.state = JobState::pending;
    return;
  }
  job.nodes = history_.table_.text(run.nodes);
  if (due.fact == Fact::start || resized) {
    job.state = run.open ? run.state : JobState::running;
    if (run.device_first >= 0)
      hold_placed(job, job.nodes, run);
    else if (run.device_first == kPlacedElsewhere)
      job.held = {{.node = job.nodes}};
    else if (!history_.fleet_.empty() && run.devices_held > 0)
      hold_on_nodes(job, job.nodes, run.devices_held);
    return;
  }
  job.state = run.state;
  job.end = instant_of_seconds(run.end);
  job.exit_code = run.exit_code;
}

namespace {

// One holder a pool stands for all its jobs: its size follows the demand.
Job pool_job(const std::string& pool, uint32_t id, const char* what, int32_t devices) {
  Job job{.id = id,
          .label = pool + "/" + what,
          .user = {},
          .account = pool,
          .qos = {},
          .partition = pool};
  job.request.devices.total = devices;
  return job;
}

}  // namespace

const Event* HistoryCursor::next_of_aggregate() {
  if (next_aggregate_ >= history_.aggregate_.size()) return nullptr;
  const AggregateRow& row = history_.aggregate_[next_aggregate_];
  const std::string& pool = history_.table_.name(row.pool);
  other_event_.at = instant_of_seconds(row.second);
  if (aggregate_part_ == 0) {
    other_event_.what = Node{
        .name = pool, .state = NodeState::mixed, .devices = {{.model = "", .count = row.total}}};
  } else if (aggregate_part_ == 1) {
    Job job = pool_job(pool, row.pool * 2 + 1, "running", row.running);
    job.state = JobState::running;
    job.submit = job.start = history_.notes_.from;
    job.held = {{.node = pool, .device_count = row.running}};
    other_event_.what = std::move(job);
  } else {
    Job job = pool_job(pool, row.pool * 2 + 2, "waiting", row.waiting);
    job.state = row.waiting > 0 ? JobState::pending : JobState::unknown;
    job.submit = history_.notes_.from;
    other_event_.what = std::move(job);
  }
  if (++aggregate_part_ == 3) {
    aggregate_part_ = 0;
    ++next_aggregate_;
  }
  return &other_event_;
}

const Event* HistoryCursor::next_of_journal() {
  while (journal_input_ < history_.journal_.size()) {
    std::string_view text = history_.journal_[journal_input_].text;
    text.remove_prefix(journal_offset_);
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      journal_offset_ = history_.journal_[journal_input_].text.size() - text.size();
      auto event = read_event(line);  // what cannot be read was noted when the history was read
      if (!event) continue;
      other_event_ = *std::move(event);
      return &other_event_;
    }
    ++journal_input_;
    journal_offset_ = 0;
  }
  return nullptr;
}

}  // namespace fairlead
