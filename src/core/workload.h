// One job over its whole life with us, and what its runs have used.
#pragma once

#include <cstdint>
#include <vector>

#include "base/names.h"
#include "fabric/fleet.h"
#include "ledger/ledger.h"
#include "model/job.h"
#include "policy/slip.h"

namespace fairlead {

using WorkloadId = uint64_t;  // from 1, in order of first sight, never reused; 0: none

// What a run has used of one model, by hour, so that work which turns out lost can be moved.
struct HourUse {
  int64_t hour = 0;
  int64_t useful = 0, held_idle = 0, held_unmeasured = 0;  // milli-seconds, as the ledger counts
  bool operator==(const HourUse&) const = default;
};
BOOST_DESCRIBE_STRUCT(HourUse, (), (hour, useful, held_idle, held_unmeasured))

struct RunUse {
  NameId model = 0;
  Running useful, held_idle, held_unmeasured;  // of the open hour
  std::vector<HourUse> hours;                  // closed ones
  bool operator==(const RunUse&) const = default;
};
BOOST_DESCRIBE_STRUCT(RunUse, (), (model, useful, held_idle, held_unmeasured, hours))

// An idle stretch of a hold that is long enough to be told.
struct IdleHold {
  IdleKind kind = IdleKind::none;
  int32_t devices = 0;
  Instant since;
  bool operator==(const IdleHold&) const = default;
};
BOOST_DESCRIBE_STRUCT(IdleHold, (), (kind, devices, since))

// A run that is over, as people ask for it afterwards.
struct RunRecord {
  Instant submit, start, end;
  JobState state = JobState::unknown;  // pending: put back in line
  int32_t exit_code = 0;
  std::string nodes;  // hostlist
  bool operator==(const RunRecord&) const = default;
};
BOOST_DESCRIBE_STRUCT(RunRecord, (), (submit, start, end, state, exit_code, nodes))

// One job over its whole life with us. It stays while the scheduler lists it, also after its end.
struct Workload {
  WorkloadId id = 0;
  Job job;                                              // as last stated
  NameId team = 0, klass = 0, user = 0, partition = 0;  // under which it is booked
  NameId account = 0, qos = 0;                          // of `job`, as numbers
  bool assigned = false;            // an organisation has decided on team and class, for good
  std::vector<policy::Slip> slips;  // names of its job that fit nothing
  Instant first_submit;             // a requeue resets the scheduler's own submit time, not this
  Instant first_seen, last_seen;
  int32_t epoch = 0;  // runs begun
  bool holding = false;
  bool ended = false;
  bool evicted = false;  // its last run was thrown away
  Instant run_start;     // of the present or last run
  Instant run_end;
  Instant first_start;               // of its first run: when it first got its devices
  std::vector<DeviceIndex> devices;  // held now
  int64_t unplaced_milli = 0;        // held now, on nodes nobody stated
  std::vector<RunUse> use;           // of the present run
  ByColumn before;                   // milli-seconds of the runs before this one
  std::vector<RunRecord> former;     // runs before the present or last one, in order
  bool unsettled = false;            // vanished, and accounting has not told yet what became of it
  bool accounted = false;            // known from accounting alone
  IdleHold idle;
  bool operator==(const Workload&) const = default;
};
BOOST_DESCRIBE_STRUCT(Workload, (),
                      (id, job, team, klass, user, partition, account, qos, assigned, slips,
                       first_submit, first_seen, last_seen, epoch, holding, ended, evicted,
                       run_start, run_end, first_start, devices, unplaced_milli, use, before,
                       former, unsettled, accounted, idle))

}  // namespace fairlead
