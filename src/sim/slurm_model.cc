#include "sim/slurm_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace fairlead {

namespace {
constexpr int64_t kFirstPriority = 4'000'000'000;
}

SlurmModel::SlurmModel(Instant start, ModelRules rules)
    : rules_(rules),
      now_(start),
      booted_(start),
      next_id_(rules.first_id),
      saved_next_id_(rules.first_id) {}

void SlurmModel::put(Node node) {
  if (!nodes_.contains(node.name)) node_order_.push_back(node.name);
  nodes_[node.name] = std::move(node);
  touch();
}

void SlurmModel::put(Partition partition) {
  partitions_[partition.name] = std::move(partition);
  touch();
}

void SlurmModel::put(Qos qos) {
  qos_[qos.name] = std::move(qos);
  touch();
}

void SlurmModel::put(Association association) {
  associations_[std::to_string(association.id)] = std::move(association);
  touch();
}

void SlurmModel::put(Reservation reservation) {
  reservations_[reservation.name] = std::move(reservation);
  touch();
}

void SlurmModel::put(Licence licence) {
  licences_[licence.name] = std::move(licence);
  touch();
}

void SlurmModel::drop_reservation(const std::string& name) {
  reservations_.erase(name);
  touch();
}

namespace {

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

}  // namespace

std::optional<uint32_t> SlurmModel::submit(ModelSubmission s) {
  if (away_) return std::nullopt;
  const uint32_t id = next_id_++;
  ModelJob& added = jobs_[id];
  Job& j = added.facts = s.job;
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

// A task leaves its array's record; the last one takes the record over.
SlurmModel::ModelJob& SlurmModel::split_task(ModelJob& array) {
  const int32_t task = array.tasks.front();
  array.tasks.erase(array.tasks.begin());
  ModelJob* out = &array;
  if (!array.tasks.empty()) {
    state_array(array.facts, array.tasks);
    const uint32_t id = next_id_++;
    out = &(jobs_[id] = array);
    out->facts.id = id;
    out->tasks.clear();
  }
  Job& j = out->facts;
  j.array = {.id = array.facts.array.id,
             .task = task,
             .waiting = {},
             .waiting_count = 0,
             .running_max = array.facts.array.running_max};
  j.label = fmt::format("{}_{}", j.array.id, task);
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
  touch();
}

int64_t SlurmModel::device_seconds(const ModelJob& j, Instant until) {
  int64_t devices = 0;
  for (const NodeShare& share : j.facts.held) devices += share.device_count;
  return devices * whole_seconds(until - j.held_since);
}

int64_t SlurmModel::held_device_seconds() const {
  int64_t sum = held_before_;
  for (const auto& [id, j] : jobs_) sum += device_seconds(j, now_);
  return sum;
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

bool SlurmModel::drain(const std::string& node, const std::string& reason) {
  const auto found = nodes_.find(node);
  if (away_ || found == nodes_.end()) return false;
  found->second.drain = true;
  found->second.reason = reason;
  found->second.reason_since = now_;
  touch();
  return true;
}

bool SlurmModel::undrain(const std::string& node) {
  const auto found = nodes_.find(node);
  if (away_ || found == nodes_.end()) return false;
  found->second.drain = false;
  found->second.not_responding = false;
  found->second.state = NodeState::idle;
  found->second.reason.clear();
  found->second.reason_since = {};
  touch();
  return true;
}

bool SlurmModel::fail_node(const std::string& node) {
  const auto found = nodes_.find(node);
  if (away_ || found == nodes_.end() || found->second.state == NodeState::down) return false;
  found->second.state = NodeState::down;
  found->second.not_responding = true;
  found->second.reason = "Not responding";
  found->second.reason_since = now_;
  for (auto& [id, j] : jobs_) {
    if (!holds_devices(j.facts.state)) continue;
    if (std::ranges::any_of(j.facts.held, [&](const NodeShare& s) { return s.node == node; }))
      throw_off(j, JobState::node_fail);
  }
  touch();
  return true;
}

bool SlurmModel::drop_node(const std::string& node) {
  if (away_ || !nodes_.contains(node)) return false;
  fail_node(node);
  nodes_.erase(node);
  std::erase(node_order_, node);
  touch();
  return true;
}

void SlurmModel::save() {
  saved_jobs_ = jobs_;
  saved_next_id_ = next_id_;
  unsaved_ = false;
}

void SlurmModel::stop() {
  if (away_) return;
  save();
  away_ = true;
}

void SlurmModel::crash() {
  if (away_) return;
  away_ = true;
  jobs_ = saved_jobs_;
  next_id_ = saved_next_id_;
}

void SlurmModel::restart() {
  if (!away_) return;
  away_ = false;
  booted_ = now_;
  touch();
  settle();
}

std::vector<uint32_t> SlurmModel::listed() const {
  std::vector<uint32_t> ids;
  for (const auto& [id, j] : jobs_) ids.push_back(id);
  return ids;
}

const Job* SlurmModel::find(uint32_t id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second.facts;
}

// --- time ----------------------------------------------------------------------------------------

// When the run ends by itself or by its limit; nothing while it is suspended.
std::optional<Instant> SlurmModel::run_end(const ModelJob& j) const {
  if (j.facts.state != JobState::running) return std::nullopt;
  int64_t runs_s = j.asked.runs_s;
  if (j.facts.request.time_limit_s >= 0) runs_s = std::min(runs_s, j.facts.request.time_limit_s);
  return j.facts.start + seconds(runs_s + j.suspended_s);
}

// The earliest instant after now at which something is due by itself; far away where nothing is.
Instant SlurmModel::next_change() const {
  Instant next{INT64_MAX};
  const auto consider = [&](Instant at) {
    if (at > now_) next = std::min(next, at);
  };
  if (away_) return next;
  if (unsaved_) consider(save_at_);
  for (const auto& [id, j] : jobs_) {
    if (const auto end = run_end(j)) consider(*end);
    if (j.facts.state == JobState::pending) consider(j.facts.begin);
    if (has_ended(j.facts.state)) consider(j.facts.end + seconds(rules_.min_job_age_s));
  }
  for (const auto& [name, r] : reservations_) {
    consider(r.start);
    consider(r.end);
  }
  return next;
}

void SlurmModel::settle() {
  for (auto& [id, j] : jobs_) {
    const auto end_at = run_end(j);
    if (!end_at || *end_at > now_) continue;
    const int64_t limit = j.facts.request.time_limit_s;
    const bool over = limit >= 0 && limit < j.asked.runs_s;
    end(j, over ? JobState::timeout : JobState::completed, j.asked.fails);
  }
  const auto old = [&](const auto& item) {
    return has_ended(item.second.facts.state) &&
           item.second.facts.end + seconds(rules_.min_job_age_s) <= now_;
  };
  std::erase_if(jobs_, old);
  for (const auto& [name, r] : reservations_) dirty_ = dirty_ || r.start == now_ || r.end == now_;
  for (const auto& [id, j] : jobs_)
    dirty_ = dirty_ || (j.facts.state == JobState::pending && j.facts.begin == now_);
  if (dirty_) schedule();
  if (unsaved_ && now_ >= save_at_) save();
}

void SlurmModel::advance(Instant to) {
  CHECK(to >= now_);
  if (!away_ && dirty_) settle();
  for (Instant next = next_change(); next <= to; next = next_change()) {
    now_ = next;
    settle();
  }
  now_ = to;
}

}  // namespace fairlead
