// Workloads as a list, in the order of first sight.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"
#include "views/report.h"

namespace fairlead {

struct WorkloadRow {
  WorkloadId id = 0;
  std::string workload, name, user, team, klass, account, qos, partition;
  JobState state = JobState::unknown;
  int64_t gpus = 0;
  std::string gang, nodes;
  Instant submitted, started, ended;
  int32_t epoch = 0;
  IdleKind idle_kind = IdleKind::none;
  ColumnSeconds gpu_seconds;
  bool operator==(const WorkloadRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(WorkloadRow, (),
                      (id, workload, name, user, team, klass, account, qos, partition, state, gpus,
                       gang, nodes, submitted, started, ended, epoch, idle_kind, gpu_seconds))

struct WorkloadList {
  std::string apiVersion = "fairlead/v1", kind = "WorkloadList";
  std::string site;
  Instant as_of;
  std::vector<WorkloadRow> workloads;
  WorkloadId next_cursor = 0;  // 0: this was the last page
  bool operator==(const WorkloadList&) const = default;
};
BOOST_DESCRIBE_STRUCT(WorkloadList, (), (apiVersion, kind, site, as_of, workloads, next_cursor))

struct WorkloadFilter {
  std::string state, team, user;  // empty: any
  size_t most = 500;
  WorkloadId after = 0;
};

WorkloadList workloads_of(const State& state, const WorkloadFilter& filter);

}  // namespace fairlead
