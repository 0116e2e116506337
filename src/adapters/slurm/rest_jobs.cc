#include <limits>

#include "adapters/slurm/job_facts.h"
#include "adapters/slurm/rest_json.h"
#include "adapters/slurm/words.h"
#include "base/hostlist.h"

namespace fairlead::slurm {
namespace {

int32_t small(int64_t n) {
  return static_cast<int32_t>(std::clamp<int64_t>(n, 0, std::numeric_limits<int32_t>::max()));
}

JobRequest request_of(Json job) {
  JobRequest out;
  out.nodes_min = small(number(job, "node_count", 1));
  out.nodes_max = small(number(job, "max_nodes"));
  out.cpus = small(number(job, "cpus"));
  out.cpus_per_node = small(number(job, "minimum_cpus_per_node"));
  out.tasks = small(number(job, "tasks"));
  out.memory_per_cpu_mb = number(job, "memory_per_cpu");
  out.memory_per_node_mb = number(job, "memory_per_node");
  const int64_t minutes = number(job, "time_limit", -1);
  out.time_limit_s = minutes < 0 || minutes > 1'000'000'000 ? -1 : minutes * 60;
  const int64_t least = number(job, "time_minimum");
  out.time_min_s = least < 0 || least > 1'000'000'000 ? 0 : least * 60;
  out.features = text(job, "features");
  out.nodes_required = text(job, "required_nodes");
  out.nodes_excluded = text(job, "excluded_nodes");
  out.licences = text(job, "licenses");
  out.dependency = text(job, "dependency");
  out.switches = small(number(job, "required_switches"));
  out.switches_wait_s = out.switches == 0 ? 0 : number(job, "maximum_switch_wait_time");
  out.contiguous = flag(job, "contiguous");
  for (const std::string& word : words(job, "shared")) out.exclusive |= word == "none";
  for (const std::string& word : words(job, "exclusive"))
    out.exclusive |= word == "true" || word == "NODE";
  return out;
}

// What is held on each node: job_resources has CPUs and memory, gres_detail the devices.
void add_shares_of(JobTexts& texts, Json from) {
  std::vector<std::string> gres;
  simdjson::dom::array list;
  if (const auto detail = member(from, "gres_detail");
      detail && detail->get_array().get(list) == simdjson::SUCCESS) {
    for (const Json item : list)
      gres.emplace_back(item.is_string() ? item.get_string().value_unsafe() : std::string_view{});
  }
  const auto old = member(from, "job_resources.allocated_nodes");
  const auto now = member(from, "job_resources.nodes.allocation");
  if ((!old || old->get_array().get(list) != simdjson::SUCCESS) &&
      (!now || now->get_array().get(list) != simdjson::SUCCESS)) {
    texts.gres_detail = std::move(gres);
    return;
  }
  size_t i = 0;
  for (const Json node : list) {
    ShareText& share = texts.shares.emplace_back();
    share.nodes = text(node, old ? "nodename" : "name");
    if (list.size() == gres.size()) share.gres = gres[i];
    share.memory_mb = number(node, old ? "memory_allocated" : "memory.allocated");
    if (!old) share.cpus = small(number(node, "cpus.count"));
    ++i;
  }
  if (old && texts.shares.size() == 1)
    texts.shares[0].cpus = small(parse_tres(texts.tres_allocated)["cpu"]);
  if (old &&
      texts.shares.size() > 1) {  // cpus_used there are of steps; the cores are the allocation
    i = 0;
    for (const Json node : list) {
      int64_t cores = 0;
      simdjson::dom::object sockets, inner;
      if (const auto at = member(node, "sockets");
          at && at->get_object().get(sockets) == simdjson::SUCCESS) {
        for (const auto socket : sockets) {
          if (socket.value["cores"].get_object().get(inner) == simdjson::SUCCESS)
            cores += static_cast<int64_t>(inner.size());
        }
      }
      texts.shares[i++].cpus = small(cores);
    }
  }
}

int32_t exit_code(Json job) {
  if (const auto code = member(job, "exit_code"); code && code->is_object()) {
    return exit_code_of(small(number(job, "exit_code.return_code")),
                        small(number(job, "exit_code.signal.id")));
  }
  const int64_t status = number(job, "exit_code");  // as wait() gives it
  return exit_code_of(small(status >> 8 & 0xff), small(status & 0x7f));
}

JobTexts texts_of(Json job) {
  JobTexts out;
  for (const std::string& word : words(job, "job_state")) add_state_word(out.state, word);
  out.array_tasks = text(job, "array_task_string");
  out.tres_requested = text(job, "tres_req_str");
  out.tres_allocated = text(job, "tres_alloc_str");
  out.per_node = text(job, "tres_per_node");
  out.per_job = text(job, "tres_per_job");
  out.per_task = text(job, "tres_per_task");
  out.per_socket = text(job, "tres_per_socket");
  out.tasks_per_node = small(number(job, "tasks_per_node"));
  return out;
}

Job job_of(Json from, uint32_t id) {
  Job job{.id = id, .run_id = text(from, "step_id.sluid")};
  job.name = text(from, "name");
  job.user = text(from, "user_name");
  job.account = text(from, "account");
  job.qos = text(from, "qos");
  job.partition = text(from, "partition");
  job.reservation = text(from, "resv_name");
  job.reason = or_empty(text(from, "state_reason"));
  job.reason_text = text(from, "state_description");
  job.restarts = small(number(from, "restart_cnt"));
  job.may_requeue = flag(from, "requeue") && flag(from, "batch_flag");
  job.priority = number(from, "priority");
  job.nice = number(from, "nice");
  job.submit = instant(from, "submit_time");
  job.eligible = instant(from, "eligible_time");
  job.start = instant(from, "start_time");
  job.end = instant(from, "end_time");
  job.suspended_since = instant(from, "suspend_time");
  job.last_evaluated = instant(from, "last_sched_evaluation");
  job.array.id = static_cast<uint32_t>(std::max<int64_t>(number(from, "array_job_id"), 0));
  job.array.task = job.array.id == 0 ? -1 : number(from, "array_task_id", -1);
  job.array.running_max = job.array.id == 0 ? 0 : small(number(from, "array_max_tasks"));
  job.het_id = static_cast<uint32_t>(std::max<int64_t>(number(from, "het_job_id"), 0));
  job.het_offset = job.het_id == 0 ? 0 : small(number(from, "het_job_offset"));
  job.request = request_of(from);
  job.nodes = text(from, "nodes");
  job.exit_code = exit_code(from);
  job.comment = text(from, "comment");
  JobTexts texts = texts_of(from);
  if (holds_devices(state_of(texts.state))) add_shares_of(texts, from);
  finish_job(job, texts);
  return job;
}

Node node_of(Json from) {
  Node node{.name = text(from, "name")};
  if (text(from, "hostname") != node.name) node.hostname = text(from, "hostname");
  for (const char* key : {"state", "state_flags"}) {
    for (std::string word : words(from, key)) {
      std::ranges::transform(word, word.begin(),
                             [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      add_state_words(node, word);
    }
  }
  node.reason = text(from, "reason");
  if (!node.reason.empty()) {
    node.reason += " [" + text(from, "reason_set_by_user") + "]";
    node.reason_since = instant(from, "reason_changed_at");
  }
  node.devices = parse_node_gres(text(from, "gres"));
  node.cpus = small(number(from, "cpus"));
  node.cpus_used = small(number(from, "alloc_cpus"));
  node.memory_mb = number(from, "real_memory");
  node.memory_used_mb = number(from, "alloc_memory");
  node.features = words(from, "active_features");
  node.weight = number(from, "weight");
  node.topology = text(from, "topology");
  return node;
}

}  // namespace

Parsed<Job> jobs_of(Json document) {
  Parsed<Job> out;
  simdjson::dom::array list;
  if (document["jobs"].get_array().get(list) != simdjson::SUCCESS) return out;
  for (const Json item : list) {
    const int64_t id = number(item, "job_id");
    if (id > 0 && std::in_range<uint32_t>(id) && member(item, "job_state"))
      out.records.push_back(job_of(item, static_cast<uint32_t>(id)));
    else
      ++out.unreadable;
  }
  return out;
}

Parsed<Node> nodes_of(Json document) {
  Parsed<Node> out;
  simdjson::dom::array list;
  if (document["nodes"].get_array().get(list) != simdjson::SUCCESS) return out;
  for (const Json item : list) {
    if (!text(item, "name").empty() && member(item, "state"))
      out.records.push_back(node_of(item));
    else
      ++out.unreadable;
  }
  return out;
}

}  // namespace fairlead::slurm
