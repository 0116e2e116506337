// A job as its scheduler states it: what it asked for, where it runs, what became of it.
//
// Numbers that the scheduler does not state are 0 (amounts), -1 (limits: none) or the zero Instant.
#pragma once

#include <string>
#include <vector>

#include "base/describe.h"

namespace fairlead {

enum class JobState : uint8_t {
  unknown,
  pending,
  running,
  suspended,   // keeps its devices
  completing,  // has ended, its nodes are being cleaned; keeps its devices
  completed,
  cancelled,
  failed,
  timeout,
  node_fail,
  preempted,
  boot_fail,
  deadline,
  out_of_memory,
  vanished,  // was waiting or running when last seen, and the scheduler no longer knows it
};
BOOST_DESCRIBE_ENUM(JobState, unknown, pending, running, suspended, completing, completed,
                    cancelled, failed, timeout, node_fail, preempted, boot_fail, deadline,
                    out_of_memory, vanished)

inline constexpr bool holds_devices(JobState s) {
  return s == JobState::running || s == JobState::suspended || s == JobState::completing;
}
inline constexpr bool has_ended(JobState s) { return s >= JobState::completed; }

// What was asked of devices, in the words of the request; `total` is over the whole job.
struct DeviceRequest {
  std::string model;  // empty: any
  int32_t per_node = 0;
  int32_t per_task = 0;
  int32_t total = 0;
  int32_t share_milli = 0;  // thousandths of each device where it may be shared; 0: whole devices
  int32_t shares =
      0;  // of devices that are cut otherwise (gres/shard, gres/mps): no part of `total`
  bool operator==(const DeviceRequest&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeviceRequest, (), (model, per_node, per_task, total, share_milli, shares))

struct JobRequest {
  DeviceRequest devices;
  int32_t nodes_min = 1;
  int32_t nodes_max = 0;  // 0: as nodes_min
  int32_t cpus = 0;
  int32_t cpus_per_node = 0;  // least on each node; 0 where not stated
  int64_t memory_per_node_mb = 0;
  int64_t memory_per_cpu_mb = 0;  // one of the two, or neither
  int32_t tasks = 0;
  int64_t time_limit_s = -1;   // -1: none
  int64_t time_min_s = 0;      // it accepts a limit down to this; 0: only the one it asks for
  std::string features;        // "h100&ib", the scheduler's own grammar
  std::string nodes_required;  // hostlists
  std::string nodes_excluded;
  std::string licences;    // "sim:4,cap:1"
  std::string dependency;  // "afterok:17(unfulfilled)"
  int32_t switches = 0;    // most leaf switches; 0: any
  int64_t switches_wait_s = 0;
  bool contiguous = false;
  bool exclusive = false;  // whole nodes
  bool operator==(const JobRequest&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobRequest, (),
                      (devices, nodes_min, nodes_max, cpus, cpus_per_node, memory_per_node_mb,
                       memory_per_cpu_mb, tasks, time_limit_s, time_min_s, features, nodes_required,
                       nodes_excluded, licences, dependency, switches, switches_wait_s, contiguous,
                       exclusive))

// What a job holds on one node.
struct NodeShare {
  std::string node;
  std::vector<int32_t> devices;  // indices on the node, ascending; empty where not stated
  int32_t device_count = 0;      // also where the indices are not stated
  int32_t cpus = 0;
  int64_t memory_mb = 0;
  bool operator==(const NodeShare&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeShare, (), (node, devices, device_count, cpus, memory_mb))

// An array's tasks that still wait share one record; a task that runs has its own.
struct JobArray {
  uint32_t id = 0;      // 0: not of an array
  int64_t task = -1;    // -1: the record of the tasks that wait
  std::string waiting;  // "2-9%3"
  int32_t waiting_count = 0;
  int32_t running_max = 0;  // the %3; 0: no limit
  bool operator==(const JobArray&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobArray, (), (id, task, waiting, waiting_count, running_max))

struct Job {
  uint32_t id = 0;
  std::string run_id;  // the scheduler's unique name of this run, where it has one (SLUID)
  std::string label;   // what people call it: "4242", "4240_7", "77+1"
  std::string name;
  std::string user, account, qos;
  std::string partition;  // several where it may go to any: "a100,h100"
  std::string reservation;
  JobState state = JobState::unknown;
  std::string reason;        // the scheduler's one reason, its own word
  std::string reason_text;   // and sentence, where it has one
  bool requeued = false;     // waits again after a run
  bool may_requeue = false;  // it may be put back in line and run anew
  int32_t restarts = 0;
  int64_t priority = 0;  // 0 is held
  int64_t nice = 0;
  Instant submit, eligible, begin, start, end, suspended_since, last_evaluated;
  Instant start_planned;  // the scheduler's own estimate
  JobArray array;
  uint32_t het_id = 0;
  int32_t het_offset = 0;
  JobRequest request;
  std::vector<NodeShare> held;  // while it holds, and where known after
  std::string nodes;            // hostlist of where it ran
  int32_t exit_code = 0;
  int32_t steps = 0;  // running now
  std::string comment;
  bool operator==(const Job&) const = default;
};
BOOST_DESCRIBE_STRUCT(Job, (),
                      (id, run_id, label, name, user, account, qos, partition, reservation, state,
                       reason, reason_text, requeued, may_requeue, restarts, priority, nice, submit,
                       eligible, begin, start, end, suspended_since, last_evaluated, start_planned,
                       array, het_id, het_offset, request, held, nodes, exit_code, steps, comment))

}  // namespace fairlead
