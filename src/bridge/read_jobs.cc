// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/wait.h>

#include <cerrno>
#include <limits>

#include "adapters/slurm/job_facts.h"
#include "base/hostlist.h"
#include "bridge/libslurm.h"
#include "bridge/reader.h"

namespace fairlead::slurm {
namespace {

struct StateWord {
  uint32_t value;
  const char* word;
};
constexpr StateWord kBases[] = {
    {JOB_PENDING, "PENDING"},     {JOB_RUNNING, "RUNNING"},     {JOB_SUSPENDED, "SUSPENDED"},
    {JOB_COMPLETE, "COMPLETED"},  {JOB_CANCELLED, "CANCELLED"}, {JOB_FAILED, "FAILED"},
    {JOB_TIMEOUT, "TIMEOUT"},     {JOB_NODE_FAIL, "NODE_FAIL"}, {JOB_PREEMPTED, "PREEMPTED"},
    {JOB_BOOT_FAIL, "BOOT_FAIL"}, {JOB_DEADLINE, "DEADLINE"},   {JOB_OOM, "OUT_OF_MEMORY"},
};
constexpr StateWord kFlags[] = {
    {JOB_REQUEUE, "REQUEUED"},          {JOB_REQUEUE_HOLD, "REQUEUE_HOLD"},
    {JOB_SPECIAL_EXIT, "SPECIAL_EXIT"}, {JOB_COMPLETING, "COMPLETING"},
    {JOB_STOPPED, "STOPPED"},           {JOB_REQUEUE_FED, "REQUEUE_FED"},
#ifdef JOB_EXPEDITING
    {JOB_EXPEDITING, "EXPEDITING"},
#endif
};

JobWords state_words(uint32_t state) {
  JobWords words;
  for (const StateWord& base : kBases) {
    if ((state & JOB_STATE_BASE) == base.value) add_state_word(words, base.word);
  }
  for (const StateWord& flag : kFlags) {
    if ((state & flag.value) != 0) add_state_word(words, flag.word);
  }
  return words;
}

int32_t small(int64_t n) {
  return static_cast<int32_t>(std::min<int64_t>(n, std::numeric_limits<int32_t>::max()));
}

JobRequest request_of(const job_info_t& info) {
  JobRequest request;
  request.nodes_min = small(number_of(info.num_nodes, 1));
  request.nodes_max = small(number_of(info.max_nodes, 0));
  request.cpus = small(number_of(info.num_cpus, 0));
  request.cpus_per_node = small(number_of(info.pn_min_cpus, 0));
  request.tasks = small(number_of(info.num_tasks, 0));
  const uint64_t memory = info.pn_min_memory;
  if (memory != NO_VAL64 && (memory & MEM_PER_CPU) != 0) {
    request.memory_per_cpu_mb = static_cast<int64_t>(memory & ~MEM_PER_CPU);
  } else {
    request.memory_per_node_mb = number_of(memory, 0);
  }
  const int64_t minutes = number_of(info.time_limit, -1);
  request.time_limit_s = minutes < 0 ? -1 : minutes * 60;
  request.time_min_s = number_of(info.time_min, 0) * 60;
  request.features = text_of(info.features);
  request.nodes_required = text_of(info.req_nodes);
  request.nodes_excluded = text_of(info.exc_nodes);
  request.licences = text_of(info.licenses);
  request.dependency = text_of(info.dependency);
  request.switches = small(number_of(info.req_switch, 0));
  request.switches_wait_s = request.switches == 0 ? 0 : number_of(info.wait4switch, 0);
  request.contiguous = info.contiguous == 1;
  request.exclusive = wants_whole_nodes(info);
  return request;
}

JobTexts texts_of(const job_info_t& info) {
  JobTexts texts;
  texts.state = state_words(info.job_state);
  texts.array_tasks = text_of(info.array_task_str);
  texts.tres_requested = text_of(info.tres_req_str);
  texts.tres_allocated = text_of(info.tres_alloc_str);
  texts.per_node = text_of(info.tres_per_node);
  texts.per_job = text_of(info.tres_per_job);
  texts.per_task = text_of(info.tres_per_task);
  texts.per_socket = text_of(info.tres_per_socket);
  texts.tasks_per_node = small(number_of(info.ntasks_per_node, 0));
  if (!holds_devices(state_of(texts.state))) return texts;
  for (uint32_t i = 0; i < info.gres_detail_cnt; ++i)
    texts.gres_detail.push_back(text_of(info.gres_detail_str[i]));
  if (const auto nodes = expand_hostlist(text_of(info.nodes))) {
    for (const std::string& node : *nodes)
      texts.cpus_detail.push_back(cpus_on_node(info, node.c_str()));
  }
  return texts;
}

void fill_identity(Job& job, const job_info_t& info) {
  job.id = info.job_id;
  job.run_id = sluid_text(sluid_of(info));
  job.name = text_of(info.name);
  job.account = text_of(info.account);
  job.qos = text_of(info.qos);
  job.partition = text_of(info.partition);
  job.reservation = text_of(info.resv_name);
  job.comment = text_of(info.comment);
  job.nodes = text_of(info.nodes);
  job.array.id = info.array_job_id;
  job.array.task = info.array_job_id == 0 ? -1 : number_of(info.array_task_id, -1);
  job.array.running_max = info.array_job_id == 0 ? 0 : small(number_of(info.array_max_tasks, 0));
  job.het_id = info.het_job_id;
  job.het_offset = info.het_job_id == 0 ? 0 : small(number_of(info.het_job_offset, 0));
}

Job job_of(const job_info_t& info, std::string user) {
  Job job;
  fill_identity(job, info);
  job.user = std::move(user);
  job.reason = reason_word(info.state_reason);
  if (job.reason == "None") job.reason.clear();
  job.reason_text = text_of(info.state_desc);
  job.restarts = info.restart_cnt;
  job.may_requeue = info.requeue == 1 && info.batch_flag != 0;
  job.priority = number_of(info.priority, 0);
  job.nice = int64_t{info.nice} - int64_t{NICE_OFFSET};
  job.submit = instant_of(info.submit_time);
  job.eligible = instant_of(info.eligible_time);
  job.start = instant_of(info.start_time);
  job.end = instant_of(info.end_time);
  job.suspended_since = instant_of(info.suspend_time);
  job.last_evaluated = instant_of(info.last_sched_eval);
  const int status = static_cast<int>(number_of(info.exit_code, 0));
  job.exit_code = exit_code_of(WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                               WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  job.request = request_of(info);
  finish_job(job, texts_of(info));
  return job;
}

}  // namespace

Result<bool> LibslurmReader::read_jobs(SlurmFacts& facts) {
  job_info_msg_t* raw = nullptr;
  if (slurm_load_jobs(updated_[Part::jobs], &raw, SHOW_ALL | SHOW_DETAIL) != 0) {
    if (errno == SLURM_NO_CHANGE_IN_DATA) return false;
    return slurm_failure("loading jobs", errno);
  }
  const Message<job_info_msg_t, slurm_free_job_info_msg> message(raw);
  facts.jobs.clear();
  facts.jobs.reserve(message->record_count);
  for (uint32_t i = 0; i < message->record_count; ++i) {
    const job_info_t& info = message->job_array[i];
    if (info.job_id == 0) continue;  // a record whose partition is hidden from us
    facts.jobs.push_back(
        job_of(info, info.user_name != nullptr ? info.user_name : user_name(info.user_id)));
  }
  updated_[Part::jobs] = message->last_update;
  return true;
}

Result<bool> LibslurmReader::read_steps(SlurmFacts& facts) {
  job_step_info_response_msg_t* raw = nullptr;
  if (load_steps(&raw) != 0) {
    if (errno == SLURM_NO_CHANGE_IN_DATA || errno == ESLURM_INVALID_JOB_ID) return false;
    return slurm_failure("loading steps", errno);
  }
  const Message<job_step_info_response_msg_t, slurm_free_job_step_info_response_msg> message(raw);
  facts.steps.clear();
  for (uint32_t i = 0; i < message->job_step_count; ++i)
    ++facts.steps[message->job_steps[i].step_id.job_id];
  return true;
}

}  // namespace fairlead::slurm
