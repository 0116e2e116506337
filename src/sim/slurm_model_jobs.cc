// What happens to a job of the modelled Slurm: from its submission to its end.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/slurm_model.h"

namespace fairlead {
namespace {

constexpr int64_t kFirstPriority = 4'000'000'000;

// "0-3,7%2" -> tasks, and the most that may run at once.
std::vector<int32_t> tasks_of(std::string_view text, int32_t& running_max) {
  std::vector<int32_t> tasks;
  constexpr size_t kTasksMax = 10'000;
  const auto number = [](std::string_view& t) {
    int32_t n = 0;
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), n);
    t.remove_prefix(static_cast<size_t>(end - t.data()));
    return error == std::errc{} ? n : 0;
  };
  if (const size_t percent = text.find('%'); percent != text.npos) {
    std::string_view most = text.substr(percent + 1);
    running_max = number(most);
    text = text.substr(0, percent);
  }
  while (!text.empty()) {
    const int32_t first = number(text);
    int32_t last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = number(text);
    }
    for (int32_t task = first; task <= last && tasks.size() < kTasksMax; ++task)
      tasks.push_back(task);
    text.remove_prefix(
        std::min(text.find(',') == text.npos ? text.size() : text.find(',') + 1, text.size()));
  }
  return tasks;
}

std::string text_of(const std::vector<int32_t>& tasks, int32_t running_max) {
  std::string out;
  for (size_t i = 0; i < tasks.size();) {
    size_t j = i;
    while (j + 1 < tasks.size() && tasks[j + 1] == tasks[j] + 1) ++j;
    out += fmt::format("{}{}", out.empty() ? "" : ",", tasks[i]);
    if (j > i) out += fmt::format("-{}", tasks[j]);
    i = j + 1;
  }
  return running_max > 0 ? fmt::format("{}%{}", out, running_max) : out;
}

void state_array(Job& job, const std::vector<int32_t>& tasks) {
  job.array.task = -1;
  job.array.waiting = text_of(tasks, job.array.running_max);
  job.array.waiting_count = static_cast<int32_t>(tasks.size());
  job.label = fmt::format("{}_[{}]", job.array.id, job.array.waiting);
}

void state_task(Job& job, int32_t task) {
  job.array = {.id = job.array.id,
               .task = task,
               .waiting = {},
               .waiting_count = 0,
               .running_max = job.array.running_max};
  job.label = fmt::format("{}_{}", job.array.id, task);
}

}  // namespace

std::optional<uint32_t> SlurmModel::submit(ModelSubmission s) {
  if (away_ || !submission_refusal(s.job).empty()) return std::nullopt;
  const uint32_t id = next_id_++;
  ModelJob& added = jobs_[id];
  Job& j = added.facts = s.job;
  j.may_requeue = s.may_requeue;
  j.id = id;
  j.label = std::to_string(id);
  j.state = JobState::pending;
  j.reason = "None";
  j.submit = now_;
  j.eligible = j.begin > now_ ? j.begin : now_;
  if (j.priority == 0)
    j.priority = kFirstPriority - id;  // as priority/basic: first come, first served
  if (s.held) j.priority = 0;
  for (const uint32_t other : s.after_ok) {
    j.request.dependency +=
        fmt::format("{}afterok:{}(unfulfilled)", j.request.dependency.empty() ? "" : ",", other);
  }
  if (!s.array.empty()) {
    j.array.id = id;
    added.tasks = tasks_of(s.array, j.array.running_max);
    state_array(j, added.tasks);
  }
  added.asked = std::move(s);
  touch();
  return id;
}

SlurmModel::ModelJob* SlurmModel::job(uint32_t id) {
  const auto found = jobs_.find(id);
  return away_ || found == jobs_.end() ? nullptr : &found->second;
}

// A task leaves its array's record. Once a single one waits, the record is that task's own.
SlurmModel::ModelJob& SlurmModel::split_task(ModelJob& array) {
  const int32_t task = array.tasks.front();
  array.tasks.erase(array.tasks.begin());
  ModelJob* out = &array;
  if (!array.tasks.empty()) {
    const uint32_t id = next_id_++;
    out = &(jobs_[id] = array);
    out->facts.id = id;
    out->tasks.clear();
    if (array.tasks.size() == 1)
      state_task(array.facts, array.tasks.front());
    else
      state_array(array.facts, array.tasks);
  }
  state_task(out->facts, task);
  return *out;
}

void SlurmModel::start(ModelJob& waiting, std::vector<NodeShare> held) {
  ModelJob& j = waiting.tasks.empty() ? waiting : split_task(waiting);
  j.facts.state = JobState::running;
  j.facts.reason = "None";
  j.facts.requeued = false;
  j.facts.start = j.held_since = now_;
  j.facts.end = {};
  j.facts.begin = {};
  j.facts.held = std::move(held);
  j.facts.nodes.clear();
  for (const NodeShare& share : j.facts.held)
    j.facts.nodes += (j.facts.nodes.empty() ? "" : ",") + share.node;
  j.suspended_s = 0;
  j.launch_failed = false;
  touch();
  const auto refuses = [&](const NodeShare& share) { return refusing_.contains(share.node); };
  if (std::ranges::any_of(j.facts.held, refuses)) fail_launch(j);
}

void SlurmModel::fail_launch(ModelJob& j) {
  if (!j.asked.may_requeue) return end(j, JobState::completed, /*fails=*/true);
  back_to_queue(j);
  j.facts.priority = 0;
  j.launch_failed = true;
}

int64_t SlurmModel::device_seconds(const ModelJob& j, Instant until) {
  int64_t devices = 0;
  for (const NodeShare& share : j.facts.held) devices += share.device_count;
  return devices * whole_seconds(until - j.held_since);
}

void SlurmModel::end(ModelJob& j, JobState state, bool fails) {
  held_before_ += device_seconds(j, now_);
  j.facts.state = fails && state == JobState::completed ? JobState::failed : state;
  j.facts.exit_code = fails ? 1 : 0;
  j.facts.end = now_;
  j.facts.held.clear();
  j.tasks.clear();
  j.facts.reason = "None";
  touch();
}

// Slurm stamps a new submission and keeps the job from starting for two minutes.
void SlurmModel::back_to_queue(ModelJob& j) {
  held_before_ += device_seconds(j, now_);
  j.facts.state = JobState::pending;
  j.facts.requeued = true;
  ++j.facts.restarts;
  j.facts.submit = now_;
  j.facts.begin = j.facts.eligible = now_ + seconds(rules_.requeue_delay_s);
  j.facts.start = j.facts.end = {};
  j.facts.held.clear();
  j.facts.nodes.clear();
  j.facts.reason = "BeginTime";
  touch();
}

void SlurmModel::throw_off(ModelJob& j, JobState state) {
  if (j.asked.may_requeue)
    back_to_queue(j);
  else
    end(j, state);
}

bool SlurmModel::cancel(uint32_t id) {
  ModelJob* j = job(id);
  if (j == nullptr || has_ended(j->facts.state)) return false;
  end(*j, JobState::cancelled);
  return true;
}

bool SlurmModel::hold(uint32_t id) {
  ModelJob* j = job(id);
  if (j == nullptr || j->facts.state != JobState::pending) return false;
  j->facts.priority = 0;
  touch();
  return true;
}

bool SlurmModel::release(uint32_t id) {
  ModelJob* j = job(id);
  if (j == nullptr || j->facts.state != JobState::pending || j->facts.priority != 0) return false;
  j->facts.priority = kFirstPriority - id;
  touch();
  return true;
}

bool SlurmModel::suspend(uint32_t id) {
  ModelJob* j = job(id);
  if (j == nullptr || j->facts.state != JobState::running) return false;
  j->facts.state = JobState::suspended;
  j->facts.suspended_since = now_;
  touch();
  return true;
}

bool SlurmModel::resume(uint32_t id) {
  ModelJob* j = job(id);
  if (j == nullptr || j->facts.state != JobState::suspended) return false;
  j->suspended_s += whole_seconds(now_ - j->facts.suspended_since);
  j->facts.state = JobState::running;
  j->facts.suspended_since = {};
  touch();
  return true;
}

bool SlurmModel::requeue(uint32_t id) {
  ModelJob* j = job(id);
  if (j == nullptr || j->facts.state != JobState::running || !j->asked.may_requeue) return false;
  back_to_queue(*j);
  return true;
}

bool SlurmModel::preempt(uint32_t id) {
  ModelJob* j = job(id);
  if (j == nullptr || j->facts.state != JobState::running) return false;
  throw_off(*j, JobState::preempted);
  return true;
}

bool SlurmModel::shrink(uint32_t id, int32_t nodes) {
  ModelJob* j = job(id);
  if (j == nullptr || j->facts.state != JobState::running || nodes < 1) return false;
  auto& held = j->facts.held;
  if (held.size() <= static_cast<size_t>(nodes)) return false;
  held_before_ += device_seconds(*j, now_);
  j->held_since = now_;
  held.resize(static_cast<size_t>(nodes));
  j->facts.request.nodes_min = nodes;
  j->facts.request.devices.total = 0;
  for (const NodeShare& share : held) j->facts.request.devices.total += share.device_count;
  touch();
  return true;
}

}  // namespace fairlead
