// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

#include "adapters/slurm/words.h"
#include "base/hostlist.h"
#include "bridge/libslurm.h"
#include "bridge/reader.h"

namespace fairlead::slurm {
namespace {

// Each element of a list of libslurm's; `f` takes a T*.
template <class T, class List, class F>
void for_each_in(List* list, F&& f) {
  if (list == nullptr) return;
  auto* const at = slurm_list_iterator_create(list);
  while (void* const item = slurm_list_next(at)) f(static_cast<T*>(item));
  slurm_list_iterator_destroy(at);
}

// Amounts by place in the controller's list of TRES; limits are absent where there is none.
struct Tres {
  uint32_t count;
  char** names;
  Amounts of(const uint64_t* values) const {
    Amounts out;
    for (uint32_t i = 0; values != nullptr && i < count; ++i) {
      if (const int64_t n = number_of(values[i], -1); n >= 0 && names[i] != nullptr)
        out[names[i]] = n;
    }
    return out;
  }
};

// Of what `limits` names: slurmctld keeps seconds, and decays them.
template <class Usage>
GroupUse group_use(const Usage* usage, const Limits& limits, const Tres& tres) {
  GroupUse out;
  if (usage == nullptr) return out;
  for (uint32_t i = 0;
       usage->usage_tres_raw != nullptr && i < std::min(tres.count, usage->tres_cnt); ++i) {
    if (tres.names[i] == nullptr || !limits.tres_minutes_group.contains(tres.names[i])) continue;
    out.tres_minutes[tres.names[i]] =
        static_cast<int64_t>(std::clamp<long double>(usage->usage_tres_raw[i] / 60, 0, 9e18L));
  }
  if (limits.wall_group_s >= 0)
    out.wall_s = static_cast<int64_t>(std::clamp(usage->grp_used_wall, 0.0, 9e18)) / 60 * 60;
  return out;
}

int64_t minutes_to_s(int64_t minutes) { return minutes < 0 ? -1 : minutes * 60; }

Qos qos_of(const slurmdb_qos_rec_t& rec, const Tres& tres,
           const std::map<uint32_t, std::string>& names) {
  Qos qos{.name = text_of(rec.name), .priority = number_of(rec.priority, 0)};
  for (const auto& [id, name] : names) {
    if (rec.preempt_bitstr != nullptr && slurm_bit_test(rec.preempt_bitstr, id) != 0)
      qos.preempts.push_back(name);
  }
  std::ranges::sort(qos.preempts);
  qos.limits = {.tres_group = tres.of(rec.grp_tres_ctld),
                .tres_minutes_group = tres.of(rec.grp_tres_mins_ctld),
                .tres_running_minutes_group = tres.of(rec.grp_tres_run_mins_ctld),
                .tres_per_job = tres.of(rec.max_tres_pj_ctld),
                .tres_per_node = tres.of(rec.max_tres_pn_ctld),
                .tres_minutes_per_job = tres.of(rec.max_tres_mins_pj_ctld),
                .jobs_group = number_of(rec.grp_jobs, -1),
                .submit_group = number_of(rec.grp_submit_jobs, -1),
                .wall_group_s = minutes_to_s(number_of(rec.grp_wall, -1)),
                .wall_per_job_s = minutes_to_s(number_of(rec.max_wall_pj, -1))};
  qos.used = group_use(rec.usage, qos.limits, tres);
  qos.tres_per_user = tres.of(rec.max_tres_pu_ctld);
  qos.tres_per_account = tres.of(rec.max_tres_pa_ctld);
  qos.tres_min_per_job = tres.of(rec.min_tres_pj_ctld);
  qos.jobs_per_user = number_of(rec.max_jobs_pu, -1);
  qos.jobs_per_account = number_of(rec.max_jobs_pa, -1);
  qos.submit_per_user = number_of(rec.max_submit_jobs_pu, -1);
  qos.submit_per_account = number_of(rec.max_submit_jobs_pa, -1);
  if ((rec.flags & QOS_FLAG_BASE) != 0) {
    qos.flags = split_names(
        take_text(slurmdb_qos_flags_str(static_cast<uint32_t>(rec.flags & QOS_FLAG_BASE))));
    std::ranges::sort(qos.flags);
  }
  return qos;
}

Association association_of(const slurmdb_assoc_rec_t& rec, const Tres& tres,
                           const std::map<uint32_t, std::string>& names) {
  Association out{.id = rec.id, .parent = number_of(rec.parent_id, 0)};
  out.account = text_of(rec.acct);
  out.user = text_of(rec.user);
  out.partition = text_of(rec.partition);
  out.shares = rec.shares_raw == SLURMDB_FS_USE_PARENT ? -1 : number_of(rec.shares_raw, 1);
  if (rec.usage != nullptr) {
    out.usage_raw = static_cast<int64_t>(std::min<long double>(rec.usage->usage_raw, 9e18L));
    if (!out.user.empty() && std::isfinite(rec.usage->fs_factor)) {
      out.fairshare_ppm = std::llround(std::clamp(rec.usage->fs_factor, 0.0, 1e6) * 1e6);
    }
  }
  out.limits = {.tres_group = tres.of(rec.grp_tres_ctld),
                .tres_minutes_group = tres.of(rec.grp_tres_mins_ctld),
                .tres_running_minutes_group = tres.of(rec.grp_tres_run_mins_ctld),
                .tres_per_job = tres.of(rec.max_tres_ctld),
                .tres_per_node = tres.of(rec.max_tres_pn_ctld),
                .tres_minutes_per_job = tres.of(rec.max_tres_mins_ctld),
                .jobs_group = number_of(rec.grp_jobs, -1),
                .submit_group = number_of(rec.grp_submit_jobs, -1),
                .wall_group_s = minutes_to_s(number_of(rec.grp_wall, -1)),
                .wall_per_job_s = minutes_to_s(number_of(rec.max_wall_pj, -1)),
                .jobs_max = number_of(rec.max_jobs, -1),
                .submit_max = number_of(rec.max_submit_jobs, -1)};
  out.used = group_use(rec.usage, out.limits, tres);
  const auto name_of_qos = [&](uint32_t id) {
    const auto found = names.find(id);
    return found == names.end() ? std::string() : found->second;
  };
  for_each_in<char>(rec.qos_list, [&](const char* id) {
    const auto number = parse_whole(id);
    out.qos.push_back(number ? name_of_qos(static_cast<uint32_t>(*number)) : std::string(id));
  });
  std::ranges::sort(out.qos);
  out.qos_default = name_of_qos(rec.def_qos_id);
  return out;
}

Partition partition_of(const partition_info_t& info) {
  Partition out{.name = text_of(info.name)};
  out.up = (info.state_up & PARTITION_SCHED) != 0;
  out.accepts = (info.state_up & PARTITION_SUBMIT) != 0;
  out.state = out.up ? (out.accepts ? "UP" : "DRAIN") : (out.accepts ? "DOWN" : "INACTIVE");
  out.nodes = expand_hostlist(text_of(info.nodes)).value_or(std::vector<std::string>{});
  out.is_default = (info.flags & PART_FLAG_DEFAULT) != 0;
  out.time_max_s = minutes_to_s(number_of(info.max_time, -1));
  out.time_default_s = minutes_to_s(number_of(info.default_time, -1));
  const int64_t nodes_max = number_of(info.max_nodes, -1);
  out.nodes_max =
      static_cast<int32_t>(std::min<int64_t>(nodes_max, std::numeric_limits<int32_t>::max()));
  out.nodes_min = static_cast<int32_t>(
      std::min<int64_t>(number_of(info.min_nodes, 0), std::numeric_limits<int32_t>::max()));
  out.cpus_per_node_max = static_cast<int32_t>(std::min<int64_t>(
      number_of(info.max_cpus_per_node, -1), std::numeric_limits<int32_t>::max()));
  out.accounts_allowed = split_names(text_of(info.allow_accounts));
  out.accounts_denied = split_names(text_of(info.deny_accounts));
  out.qos_allowed = split_names(text_of(info.allow_qos));
  out.qos_denied = split_names(text_of(info.deny_qos));
  out.groups_allowed = split_names(text_of(info.allow_groups));
  out.qos = text_of(info.qos_char);
  out.priority_tier = info.priority_tier;
  out.priority_factor = info.priority_job_factor;
  out.exclusive = info.max_share == 0;
  out.reservation_required = (info.flags & PART_FLAG_REQ_RESV) != 0;
  return out;
}

Reservation reservation_of(reserve_info_t& info) {
  Reservation out{.name = text_of(info.name),
                  .start = instant_of(info.start_time),
                  .end = instant_of(info.end_time)};
  out.nodes = expand_hostlist(text_of(info.node_list)).value_or(std::vector<std::string>{});
  out.users = split_names(text_of(info.users));
  out.accounts = split_names(text_of(info.accounts));
  out.partition = text_of(info.partition);
  out.licences = text_of(info.licenses);
  out.tres = parse_tres(text_of(info.tres_str));
  out.flags = split_names(take_text(slurm_reservation_flags_string(&info)));
  std::ranges::sort(out.flags);
  return out;
}

}  // namespace

Result<bool> LibslurmReader::read_rules(SlurmFacts& facts) {
  assoc_mgr_info_request_msg_t request{};
  request.flags = ASSOC_MGR_INFO_FLAG_ASSOC | ASSOC_MGR_INFO_FLAG_QOS;
  assoc_mgr_info_msg_t* raw = nullptr;
  if (slurm_load_assoc_mgr_info(&request, &raw) != 0)
    return slurm_failure("loading associations and QOS", errno);
  const Message<assoc_mgr_info_msg_t, slurm_free_assoc_mgr_info_msg> message(raw);
  const Tres tres{.count = message->tres_cnt, .names = message->tres_names};
  std::map<uint32_t, std::string> names;
  for_each_in<slurmdb_qos_rec_t>(message->qos_list,
                                 [&](auto* rec) { names[rec->id] = text_of(rec->name); });
  facts.qos.clear();
  for_each_in<slurmdb_qos_rec_t>(
      message->qos_list, [&](auto* rec) { facts.qos.push_back(qos_of(*rec, tres, names)); });
  facts.associations.clear();
  for_each_in<slurmdb_assoc_rec_t>(message->assoc_list, [&](auto* rec) {
    facts.associations.push_back(association_of(*rec, tres, names));
  });
  return true;
}

Result<bool> LibslurmReader::read_partitions(SlurmFacts& facts) {
  partition_info_msg_t* raw = nullptr;
  if (slurm_load_partitions(updated_[Part::partitions], &raw, SHOW_ALL) != 0) {
    if (errno == SLURM_NO_CHANGE_IN_DATA) return false;
    return slurm_failure("loading partitions", errno);
  }
  const Message<partition_info_msg_t, slurm_free_partition_info_msg> message(raw);
  facts.partitions.clear();
  for (uint32_t i = 0; i < message->record_count; ++i) {
    facts.partitions.push_back(partition_of(message->partition_array[i]));
  }
  updated_[Part::partitions] = message->last_update;
  return true;
}

Result<bool> LibslurmReader::read_reservations(SlurmFacts& facts) {
  reserve_info_msg_t* raw = nullptr;
  if (slurm_load_reservations(updated_[Part::reservations], &raw) != 0) {
    if (errno == SLURM_NO_CHANGE_IN_DATA) return false;
    return slurm_failure("loading reservations", errno);
  }
  const Message<reserve_info_msg_t, slurm_free_reservation_info_msg> message(raw);
  facts.reservations.clear();
  for (uint32_t i = 0; i < message->record_count; ++i) {
    facts.reservations.push_back(reservation_of(message->reservation_array[i]));
  }
  updated_[Part::reservations] = message->last_update;
  return true;
}

Result<bool> LibslurmReader::read_licences(SlurmFacts& facts) {
  license_info_msg_t* raw = nullptr;
  if (slurm_load_licenses(updated_[Part::licences], &raw, SHOW_ALL) != 0) {
    if (errno == SLURM_NO_CHANGE_IN_DATA) return false;
    return slurm_failure("loading licences", errno);
  }
  const Message<license_info_msg_t, slurm_free_license_info_msg> message(raw);
  facts.licences.clear();
  for (uint32_t i = 0; i < message->num_lic; ++i) {
    const slurm_license_info_t& info = message->lic_array[i];
    facts.licences.push_back({.name = text_of(info.name),
                              .total = info.total,
                              .used = info.in_use,
                              .reserved = info.reserved});
  }
  updated_[Part::licences] = message->last_update;
  return true;
}

}  // namespace fairlead::slurm
