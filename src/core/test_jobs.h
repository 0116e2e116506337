// For tests: jobs as a scheduler states them, of H100s in one partition.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/job.h"

namespace fairlead {

inline Job waiting_job(uint32_t id, std::string account, int32_t nodes, int32_t per_node,
                       Instant submit) {
  Job j{.id = id,
        .label = std::to_string(id),
        .user = "ana",
        .account = std::move(account),
        .qos = "batch",
        .partition = "all"};
  j.state = JobState::pending;
  j.reason = "Resources";
  j.may_requeue = true;
  j.priority = 100;
  j.submit = submit;
  j.request = {.devices = {.model = "h100", .per_node = per_node, .total = nodes * per_node},
               .nodes_min = nodes,
               .time_limit_s = 3600};
  return j;
}

// On each node it holds the first devices.
inline Job started_job(Job j, Instant start, const std::vector<std::string>& nodes) {
  j.state = JobState::running;
  j.reason = "None";
  j.start = start;
  for (const std::string& node : nodes) {
    NodeShare share{.node = node, .device_count = j.request.devices.per_node};
    for (int32_t d = 0; d < share.device_count; ++d) share.devices.push_back(d);
    j.held.push_back(share);
  }
  return j;
}

inline Job ended_job(Job j, Instant end) {
  j.state = JobState::completed;
  j.end = end;
  j.held.clear();
  return j;
}

}  // namespace fairlead
