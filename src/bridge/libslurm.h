// SPDX-License-Identifier: GPL-2.0-or-later
//
// libslurm of Slurm 22.05, 24.11 and 26.05 behind one face: each difference is decided by what the
// headers at hand declare, never by a version where a member or a call can be asked for.
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <slurm/slurmdb.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"

// Exported by libslurm and declared in none of its headers.
extern "C" {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
const char* slurm_job_state_reason_string(enum job_state_reason);
#else
char* slurm_job_reason_string(enum job_state_reason);
#endif
char* slurmdb_qos_flags_str(uint32_t flags);
int slurm_bit_test(bitstr_t* bits, long bit);
char* slurm_reservation_flags_string(reserve_info_t* reservation);
void slurm_free_stats_response_msg(stats_info_response_msg_t* message);
void slurm_xfree(void** text);
}

namespace fairlead::slurm {

inline std::string text_of(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

// A text that libslurm made for us.
inline std::string take_text(char* text) {
  std::string out = text_of(text);
  void* made = text;
  slurm_xfree(&made);
  return out;
}

inline Instant instant_of(time_t t) {
  return t <= 0 || t >= time_t{INFINITE} - 2 ? Instant{} : instant_of_seconds(t);
}

// Slurm's "no value" and "no limit" of each width, as `none`.
inline int64_t number_of(uint16_t n, int64_t none) { return n >= NO_VAL16 ? none : n; }
inline int64_t number_of(uint32_t n, int64_t none) { return n >= NO_VAL ? none : n; }
inline int64_t number_of(uint64_t n, int64_t none) {
  return n >= NO_VAL64 || n > uint64_t{INT64_MAX} ? none : static_cast<int64_t>(n);
}

// A message of libslurm, freed by the call that belongs to it.
template <class T, auto Free>
struct Freed {
  void operator()(T* message) const { Free(message); }
};
template <class T, auto Free>
using Message = std::unique_ptr<T, Freed<T, Free>>;

inline std::string reason_word(uint32_t reason) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
  return text_of(slurm_job_state_reason_string(static_cast<enum job_state_reason>(reason)));
#else
  return text_of(slurm_job_reason_string(static_cast<enum job_state_reason>(reason)));
#endif
}

// The unique name of a job's run, as Slurm prints it ("sFFHM8NW449900"); from 26.05 on.
template <class JobInfo>
uint64_t sluid_of(const JobInfo& job) {
  if constexpr (requires { job.step_id.sluid; })
    return job.step_id.sluid;
  else
    return 0;
}
std::string sluid_text(uint64_t sluid);

template <class JobInfo>
bool wants_whole_nodes(const JobInfo& job) {
  if constexpr (requires { job.exclusive; })
    return job.exclusive == 1;  // JOB_EXCLUSIVE_NODE
  else
    return job.shared == 0;
}

// CPUs of a job on a node; 0 where the release does not tell (after 22.05).
template <class JobInfo>
int32_t cpus_on_node([[maybe_unused]] const JobInfo& job, [[maybe_unused]] const char* node) {
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0)
  if (job.job_resrcs == nullptr) return 0;
  return std::max(slurm_job_cpus_allocated_on_node(job.job_resrcs, node), 0);
#else
  return 0;
#endif
}

struct NodeUse {
  int64_t cpus = 0, memory_mb = 0;
};
template <class NodeInfo>
NodeUse use_of(const NodeInfo& node) {
  if constexpr (requires { node.alloc_cpus; }) {
    return {.cpus = node.alloc_cpus, .memory_mb = number_of(uint64_t{node.alloc_memory}, 0)};
  } else {
    uint16_t cpus = 0;
    uint64_t memory = 0;  // 64 bits are written, whatever the header says
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 0)
    slurm_get_select_nodeinfo(node.select_nodeinfo, SELECT_NODEDATA_SUBCNT, NODE_STATE_ALLOCATED,
                              &cpus);
    slurm_get_select_nodeinfo(node.select_nodeinfo, SELECT_NODEDATA_MEM_ALLOC, NODE_STATE_ALLOCATED,
                              &memory);
#endif
    return {.cpus = cpus, .memory_mb = number_of(memory, 0)};
  }
}

template <class NodeInfo>
std::string topology_of(const NodeInfo& node) {
  if constexpr (requires { node.topology_str; })
    return text_of(node.topology_str);
  else
    return {};
}

// All steps that run now.
template <class Steps>
int load_steps(Steps** out) {
  if constexpr (requires {
                  slurm_get_job_steps(time_t{}, uint32_t{}, uint32_t{}, out, uint16_t{});
                }) {
    return slurm_get_job_steps(time_t{}, NO_VAL, NO_VAL, out, SHOW_ALL);
  } else {
    slurm_step_id_t all{};
    all.job_id = NO_VAL;
    all.step_het_comp = NO_VAL;
    all.step_id = NO_VAL;
    return slurm_get_job_steps(&all, out, SHOW_ALL);
  }
}

template <class Topology>
int load_topology(Topology** out) {
  if constexpr (requires { slurm_load_topo(out); })
    return slurm_load_topo(out);
  else
    return slurm_load_topo(out, nullptr);
}

template <class Topology>
void print_topology(FILE* to, Topology* topology) {
  if constexpr (requires { slurm_print_topo_info_msg(to, topology, 1); }) {
    slurm_print_topo_info_msg(to, topology, 1);
  } else if constexpr (requires { slurm_print_topo_info_msg(to, topology, nullptr, 1); }) {
    slurm_print_topo_info_msg(to, topology, nullptr, 1);
  } else {
    slurm_print_topo_info_msg(to, topology, nullptr, nullptr, 1);
  }
}

template <class Config>
void free_config(Config* config) {
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 0)
  slurm_free_ctl_conf(config);
#else
  slurm_free_conf(config);
#endif
}

}  // namespace fairlead::slurm
