#include "adapters/slurm/job_facts.h"

#include <algorithm>
#include <limits>

#include "base/hostlist.h"

namespace fairlead::slurm {
namespace {

int32_t to_int32(int64_t n) {
  return static_cast<int32_t>(std::clamp<int64_t>(n, 0, std::numeric_limits<int32_t>::max()));
}

int64_t amount(const Amounts& amounts, const char* name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

std::string label_of(const Job& job) {
  if (job.het_id != 0) return std::to_string(job.het_id) + "+" + std::to_string(job.het_offset);
  if (job.array.id == 0) return std::to_string(job.id);
  const std::string array = std::to_string(job.array.id);
  if (job.array.task >= 0) return array + "_" + std::to_string(job.array.task);
  return job.array.waiting.empty() ? array : array + "_[" + job.array.waiting + "]";
}

void finish_state(Job& job, const JobWords& words) {
  job.state = state_of(words);
  const bool waits = words.base == JobState::pending;
  if (job.state != JobState::pending)
    job.request.nodes_max = 0;  // by then nodes_min is what it got
  job.requeued = waits && (words.requeued || job.restarts > 0 || words.completing);
  if (job.state == JobState::pending) {
    if (job.reason == "BeginTime") job.begin = job.eligible;
    job.start_planned = job.start;
    job.start = {};
    job.end = {};  // Slurm states start + limit, which moves with its estimate
  }
  if (job.state != JobState::suspended) job.suspended_since = {};
  if (holds_devices(job.state) && job.request.time_limit_s < 0)
    job.end = {};  // libslurm: start + a year
}

// What the job's own options say comes before Slurm's sum: up to 22.05 that is wrong for --gpus,
// and the commands show what was allocated in its place.
DeviceRequest devices_of(const Job& job, const JobTexts& texts) {
  const GresRequest per_node = parse_gres_request(texts.per_node);
  const GresRequest per_job = parse_gres_request(texts.per_job);
  const GresRequest per_task = parse_gres_request(texts.per_task);
  const GresRequest per_socket = parse_gres_request(texts.per_socket);
  const Amounts sum = parse_tres(texts.tres_requested);

  DeviceRequest out;
  for (const GresRequest* asked : {&per_node, &per_job, &per_task, &per_socket}) {
    if (out.model.empty()) out.model = asked->model;
  }
  const int64_t nodes = std::max(job.request.nodes_min, 1);
  const bool waits = job.state == JobState::pending;
  // Without -N Slurm 22.05 states no most, and spreads a sum where no one node has room for it.
  const bool nodes_fixed = job.request.nodes_max == nodes ||
                           (job.request.nodes_max == 0 && (!waits || per_job.count == 0));
  out.per_node = per_node.count;
  out.per_task = per_task.count;
  out.shares = to_int32(amount(sum, "gres/shard") + amount(sum, "gres/mps"));
  if (per_job.count > 0)
    out.total = per_job.count;
  else if (per_node.count > 0)
    out.total = to_int32(per_node.count * nodes);
  else if (per_task.count > 0)
    out.total = to_int32(int64_t{per_task.count} * std::max(job.request.tasks, 1));
  else
    out.total = to_int32(amount(sum, "gres/gpu"));
  if (out.per_node == 0 && nodes == 1 && nodes_fixed) out.per_node = out.total;
  if (out.per_node == 0 && per_task.count > 0)
    out.per_node = to_int32(int64_t{per_task.count} * texts.tasks_per_node);
  return out;
}

NodeShare share_of(std::string node, std::string_view gres) {
  GresHeld held = parse_gres_held(gres);
  return {.node = std::move(node), .devices = std::move(held.devices), .device_count = held.count};
}

// Fills what Slurm does not state for each node from what leaves no choice: the total of a job on
// one node, and what was asked for each node or CPU. The rest stays 0: an even split would be a
// guess.
void fill_from_totals(std::vector<NodeShare>& held, const Job& job, const JobTexts& texts,
                      bool devices_stated) {
  const Amounts totals = parse_tres(texts.tres_allocated);
  const bool one = held.size() == 1;
  for (NodeShare& share : held) {
    if (!devices_stated)
      share.device_count =
          one ? to_int32(amount(totals, "gres/gpu")) : job.request.devices.per_node;
    if (share.cpus == 0 && one) share.cpus = to_int32(amount(totals, "cpu"));
    if (share.memory_mb == 0 && one) share.memory_mb = amount(totals, "mem");
    if (share.memory_mb == 0) share.memory_mb = job.request.memory_per_node_mb;
    if (share.memory_mb == 0) share.memory_mb = job.request.memory_per_cpu_mb * share.cpus;
  }
}

std::vector<NodeShare> held_of(const Job& job, const JobTexts& texts) {
  std::vector<NodeShare> held;
  for (const ShareText& text : texts.shares) {
    const auto names = expand_hostlist(text.nodes);
    if (!names) continue;
    for (const std::string& name : *names) {
      NodeShare& share = held.emplace_back(share_of(name, text.gres));
      share.cpus = text.cpus;
      share.memory_mb = text.memory_mb;
    }
  }
  if (!held.empty()) return held;
  const auto names = expand_hostlist(job.nodes);
  if (!names || names->empty()) return held;
  // While a job ends its node list shrinks and the details may not: then they are matched only if
  // all are alike.
  const auto& details = texts.gres_detail;
  const bool matched = details.size() == names->size();
  const bool alike = !details.empty() &&
                     std::ranges::all_of(details, [&](const auto& d) { return d == details[0]; });
  for (size_t i = 0; i < names->size(); ++i) {
    held.push_back(share_of((*names)[i], matched ? details[i]
                                         : alike ? details[0]
                                                 : std::string()));
    if (texts.cpus_detail.size() == names->size()) held.back().cpus = texts.cpus_detail[i];
  }
  fill_from_totals(held, job, texts, matched || alike);
  return held;
}

}  // namespace

void finish_job(Job& job, const JobTexts& texts) {
  finish_state(job, texts.state);
  if (job.array.id != 0 && job.array.task < 0) {
    const TaskList tasks = parse_tasks(texts.array_tasks);
    job.array.waiting = texts.array_tasks;
    job.array.waiting_count = tasks.count;
    if (tasks.running_max != 0) job.array.running_max = tasks.running_max;
  }
  job.label = label_of(job);
  job.request.devices = devices_of(job, texts);
  job.held = holds_devices(job.state) ? held_of(job, texts) : std::vector<NodeShare>{};
}

int32_t exit_code_of(int32_t status, int32_t signal) { return signal != 0 ? 128 + signal : status; }

}  // namespace fairlead::slurm
