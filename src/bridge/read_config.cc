// SPDX-License-Identifier: GPL-2.0-or-later
#include <cerrno>

#include "adapters/slurm/words.h"
#include "bridge/libslurm.h"
#include "bridge/reader.h"

namespace fairlead::slurm {
namespace {

// AccountingStorageEnforce, as slurmctld keeps it; in none of its headers.
constexpr uint16_t kEnforceAssociations = 0x01, kEnforceLimits = 0x02, kEnforceQos = 0x08,
                   kEnforceSafe = 0x10;

Scheduler scheduler_of(const slurm_conf_t& config) {
  Scheduler out{.cluster = text_of(config.cluster_name), .release = text_of(config.version)};
  const uint16_t enforce = config.accounting_storage_enforce;
  out.enforces_associations = (enforce & kEnforceAssociations) != 0;
  out.enforces_limits = (enforce & kEnforceLimits) != 0;
  out.enforces_qos = (enforce & kEnforceQos) != 0;
  out.enforces_safe = (enforce & kEnforceSafe) != 0;
  out.usage_half_life_s = number_of(config.priority_decay_hl, 0);
  out.booted = instant_of(config.boot_time);
  out.priority_weights = {
      {"age", config.priority_weight_age},        {"assoc", config.priority_weight_assoc},
      {"fairshare", config.priority_weight_fs},   {"job_size", config.priority_weight_js},
      {"partition", config.priority_weight_part}, {"qos", config.priority_weight_qos}};
  for (const auto& [name, weight] : parse_tres(text_of(config.priority_weight_tres)))
    out.priority_weights[name] = weight;
  out.parameters = text_of(config.sched_params);
  return out;
}

}  // namespace

Result<bool> LibslurmReader::read_config(SlurmFacts& facts) {
  slurm_conf_t* raw = nullptr;
  if (slurm_load_ctl_conf(updated_[Part::config], &raw) != 0) {
    if (errno == SLURM_NO_CHANGE_IN_DATA) return false;
    return slurm_failure("loading the configuration", errno);
  }
  const Message<slurm_conf_t, free_config<slurm_conf_t>> config(raw);
  Amounts statistics = std::move(facts.scheduler.statistics);
  facts.scheduler = scheduler_of(*config);
  facts.scheduler.statistics = std::move(statistics);
  facts.start_mark = std::to_string(config->boot_time);
  updated_[Part::config] = config->last_update;
  return true;
}

Result<bool> LibslurmReader::read_statistics(SlurmFacts& facts) {
  stats_info_request_msg_t request{};
  request.command_id = STAT_COMMAND_GET;
  stats_info_response_msg_t* stats = nullptr;
  if (slurm_get_statistics(&stats, &request) != 0)
    return slurm_failure("loading statistics", errno);
  facts.scheduler.statistics = {{"jobs_pending", stats->jobs_pending},
                                {"jobs_running", stats->jobs_running},
                                {"agent_queue", stats->agent_queue_size},
                                {"server_threads", stats->server_thread_count},
                                {"cycle_us_last", stats->schedule_cycle_last},
                                {"cycle_us_max", stats->schedule_cycle_max},
                                {"queue_last", stats->schedule_queue_len},
                                {"backfill_cycle_us_last", stats->bf_cycle_last},
                                {"backfill_cycle_us_max", stats->bf_cycle_max},
                                {"backfill_depth_last", stats->bf_last_depth},
                                {"backfill_depth_try_last", stats->bf_last_depth_try},
                                {"backfill_queue_last", stats->bf_queue_len}};
  slurm_free_stats_response_msg(stats);
  return true;
}

}  // namespace fairlead::slurm
