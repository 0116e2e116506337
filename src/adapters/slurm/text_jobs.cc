#include "adapters/slurm/text_jobs.h"

#include <algorithm>
#include <limits>
#include <map>

#include "adapters/slurm/job_facts.h"
#include "adapters/slurm/text.h"
#include "adapters/slurm/words.h"

namespace fairlead::slurm {
namespace {

int64_t whole(std::string_view text, int64_t none = 0) { return parse_whole(text).value_or(none); }

int32_t small(std::string_view text) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(whole(text), 0, std::numeric_limits<int32_t>::max()));
}

int32_t small_amount(std::string_view text) {  // "1500", "1.5K"
  const int64_t n = parse_amount(text, 0).value_or(0);
  return static_cast<int32_t>(std::clamp<int64_t>(n, 0, std::numeric_limits<int32_t>::max()));
}

std::optional<uint32_t> id_of(std::string_view text) {
  const auto n = parse_whole(text);
  return n && *n > 0 && std::in_range<uint32_t>(*n) ? std::optional(static_cast<uint32_t>(*n))
                                                    : std::nullopt;
}

// "alice(1001)" -> "alice"
std::string without_number(std::string_view text) {
  const size_t open = text.rfind('(');
  return std::string(open == std::string_view::npos || !text.ends_with(')') ? text
                                                                            : text.substr(0, open));
}

JobRequest request_of(const TextRecord& record) {
  JobRequest out;
  const auto nodes = split(record.get("NumNodes"), '-');
  if (!nodes.empty()) out.nodes_min = std::max(small_amount(nodes[0]), 1);
  if (nodes.size() == 2) out.nodes_max = small_amount(nodes[1]);
  out.cpus = small_amount(
      split(record.get("NumCPUs"), '-').empty() ? "" : split(record.get("NumCPUs"), '-')[0]);
  out.cpus_per_node = small_amount(record.get("MinCPUsNode"));
  out.tasks = small_amount(record.get("NumTasks"));
  out.memory_per_cpu_mb = parse_amount(record.get("MinMemoryCPU"), 'M').value_or(0);
  out.memory_per_node_mb = parse_amount(record.get("MinMemoryNode"), 'M').value_or(0);
  out.time_limit_s = parse_span_s(record.get("TimeLimit")).value_or(-1);
  out.time_min_s = std::max<int64_t>(parse_span_s(record.get("TimeMin")).value_or(0), 0);
  out.features = record.get("Features");
  out.nodes_required = record.get("ReqNodeList");
  out.nodes_excluded = record.get("ExcNodeList");
  out.licences = record.get("Licenses");
  out.dependency = record.get("Dependency");
  if (const auto switches = split(record.get("Switches"), '@'); !switches.empty()) {
    out.switches = small(switches[0]);
    if (switches.size() == 2)
      out.switches_wait_s = std::max<int64_t>(parse_span_s(switches[1]).value_or(0), 0);
  }
  out.contiguous = record.get("Contiguous") == "1";
  const std::string_view exclusive = record.get("Exclusive");  // from 26.05 on
  out.exclusive = record.has("Exclusive") ? exclusive == "NODE" || exclusive == "YES"
                                          : record.get("OverSubscribe") == "NO";
  return out;
}

JobTexts texts_of(const TextRecord& record) {
  JobTexts out;
  add_state_word(out.state, record.get("JobState"));
  out.tres_requested = record.has("ReqTRES") ? record.get("ReqTRES") : record.get("TRES");
  out.tres_allocated = record.has("AllocTRES") ? record.get("AllocTRES") : record.get("TRES");
  out.per_node = record.get("TresPerNode");
  out.per_job = record.get("TresPerJob");
  out.per_task = record.get("TresPerTask");
  out.per_socket = record.get("TresPerSocket");
  if (const auto tasks = split(record.get("NtasksPerN:B:S:C"), ':'); !tasks.empty())
    out.tasks_per_node = small(tasks[0]);
  for (const TextRecord::Group& group : record.groups) {
    int64_t cpus = 0;
    for (const std::string_view range : split(group.get("CPU_IDs"), ','))
      cpus += parse_tasks(range).count;
    out.shares.push_back(
        {.nodes = std::string(group.get("Nodes")),
         .gres = std::string(group.get("GRES")),
         .cpus = static_cast<int32_t>(std::min<int64_t>(cpus, std::numeric_limits<int32_t>::max())),
         .memory_mb = parse_amount(group.get("Mem"), 'M').value_or(0)});
  }
  return out;
}

// One word is Slurm's reason; where it has a sentence it prints that alone, with '_' for blanks.
// Some sentences begin with the reason: "ReqNodeNotAvail,_UnavailableNodes:n032".
void fill_reason(Job& job, std::string_view text) {
  const std::string_view word = text.substr(0, text.find(','));
  if (word.find('_') == std::string_view::npos) job.reason = word;
  if (text.find('_') == std::string_view::npos) return;
  job.reason_text = text;
  std::ranges::replace(job.reason_text, '_', ' ');
}

void fill_times(Job& job, const TextRecord& record) {
  job.submit = parse_time(record.get("SubmitTime"));
  job.eligible = parse_time(record.get("EligibleTime"));
  job.start = parse_time(record.get("StartTime"));
  job.end = parse_time(record.get("EndTime"));
  job.suspended_since = parse_time(record.get("SuspendTime"));
  job.last_evaluated = parse_time(record.get("LastSchedEval"));
}

Job job_of(const TextRecord& record, uint32_t id) {
  Job job{.id = id, .run_id = std::string(record.get("SLUID"))};
  JobTexts texts = texts_of(record);
  job.name = record.get("JobName");
  job.user = without_number(record.get("UserId"));
  job.account = record.get("Account");
  job.qos = record.get("QOS");
  job.partition = record.get("Partition");
  job.reservation = record.get("Reservation");
  fill_reason(job, record.get("Reason"));
  job.restarts = small(record.get("Restarts"));
  job.may_requeue = record.get("Requeue") == "1" && small(record.get("BatchFlag")) != 0;
  job.priority = whole(record.get("Priority"));
  job.nice = whole(record.get("Nice"));
  fill_times(job, record);
  if (const auto array = id_of(record.get("ArrayJobId"))) {
    job.array.id = *array;
    if (const auto task = parse_whole(record.get("ArrayTaskId")))
      job.array.task = *task;
    else
      texts.array_tasks = record.get("ArrayTaskId");
    job.array.running_max = small(record.get("ArrayTaskThrottle"));
  }
  job.het_id = id_of(record.get("HetJobId")).value_or(0);
  job.het_offset = small(record.get("HetJobOffset"));
  job.request = request_of(record);
  job.nodes = record.get("NodeList");
  if (const auto code = split(record.get("ExitCode"), ':'); code.size() == 2)
    job.exit_code = exit_code_of(small(code[0]), small(code[1]));
  job.comment = record.get("Comment");
  finish_job(job, texts);
  return job;
}

bool is_whole(const TextRecord& record) {
  constexpr std::string_view kNeeded[] = {"JobName",   "UserId",   "JobState", "SubmitTime",
                                          "Partition", "NumNodes", "WorkDir"};
  return !record.doubtful() &&
         std::ranges::all_of(kNeeded, [&](std::string_view key) { return record.has(key); });
}

Node node_of(const TextRecord& record) {
  Node node{.name = std::string(record.get("NodeName"))};
  if (record.get("NodeHostName") != node.name) node.hostname = record.get("NodeHostName");
  add_state_words(node, record.get("State"));
  std::string_view reason = record.get("Reason");  // "text [root@2026-11-30T08:00:00]"
  if (const size_t at = reason.rfind('@'); at != std::string_view::npos && reason.ends_with(']')) {
    node.reason_since = parse_time(reason.substr(at + 1, reason.size() - at - 2));
    node.reason = std::string(reason.substr(0, at)) + "]";
  } else {
    node.reason = reason;
  }
  node.devices = parse_node_gres(record.get("Gres"));
  node.cpus = small(record.get("CPUTot"));
  node.cpus_used = small(record.get("CPUAlloc"));
  node.memory_mb = whole(record.get("RealMemory"));
  node.memory_used_mb = whole(record.get("AllocMem"));
  node.features = split_names(record.get("ActiveFeatures"));
  node.weight = whole(record.get("Weight"));
  node.topology = record.get("Topology");
  return node;
}

}  // namespace

Parsed<Job> parse_jobs(std::string_view text) {
  Parsed<Job> out;
  const std::vector<TextRecord> records = parse_records(text, "JobId");
  std::map<uint32_t, int> seen;
  for (const TextRecord& record : records) {
    if (const auto id = id_of(record.get("JobId"))) ++seen[*id];
  }
  for (const TextRecord& record : records) {
    const auto id = id_of(record.get("JobId"));
    if (id && seen[*id] == 1 && is_whole(record))
      out.records.push_back(job_of(record, *id));
    else
      ++out.unreadable;
  }
  return out;
}

std::vector<std::string> parse_steps(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view line : split(text, '\n')) {
    if (const std::string_view id = line.substr(0, line.find('.')); !id.empty())
      out.emplace_back(id);
  }
  return out;
}

Parsed<Node> parse_nodes(std::string_view text) {
  Parsed<Node> out;
  for (const TextRecord& record : parse_records(text, "NodeName")) {
    if (record.doubtful() || !record.has("State") || !record.has("CPUTot"))
      ++out.unreadable;
    else
      out.records.push_back(node_of(record));
  }
  return out;
}

}  // namespace fairlead::slurm
