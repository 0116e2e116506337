// A State as plain parts, for the way back from a snapshot.
#pragma once

#include "core/state.h"

namespace fairlead {

// The parts of for_each_part, under the same names.
struct StateParts {
  std::string site;
  EngineRules rules;
  Instant now;
  uint64_t seq = 0, steps = 0;
  bool frozen = false;
  int64_t events_refused = 0, samples_unmatched = 0;
  Scheduler scheduler;
  std::map<std::string, Partition> partitions;
  std::map<std::string, Qos> qos;
  std::map<int64_t, Association> associations;
  std::map<std::string, Reservation> reservations;
  std::map<std::string, Licence> licences;
  OrganisationStated organisation_stated;
  std::vector<SourceState> sources;
  std::vector<std::string> names;
  FleetData fleet;
  std::vector<DeviceBook> devices;
  std::vector<int32_t> node_free;
  int64_t unplaced_milli = 0;
  LedgerData ledger;
  std::map<WorkloadId, Workload> workloads;
  std::vector<PastWorkload> past;
  uint64_t past_dropped = 0;
  WorkloadId next_workload = 1;
  Suggested suggested;
  Estimates estimates;
  bool operator==(const StateParts&) const = default;
};
BOOST_DESCRIBE_STRUCT(StateParts, (),
                      (site, rules, now, seq, steps, frozen, events_refused, samples_unmatched,
                       scheduler, partitions, qos, associations, reservations, licences,
                       organisation_stated, sources, names, fleet, devices, node_free,
                       unplaced_milli, ledger, workloads, past, past_dropped, next_workload,
                       suggested, estimates))

State state_of(StateParts parts);

}  // namespace fairlead
