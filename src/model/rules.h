// The scheduler's own rules: partitions, QOS, associations, reservations, licences.
//
// Amounts of trackable resources are maps from the scheduler's word ("gres/gpu", "cpu", "node",
// "mem" in MB) to a whole number. A limit that is absent from a map is no limit; -1 is none.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/describe.h"

namespace fairlead {

using Amounts = std::map<std::string, int64_t>;

struct Partition {
  std::string name;
  bool up = true;       // DOWN and INACTIVE start no job
  bool accepts = true;  // DRAIN and INACTIVE take no submission
  std::string state = "UP";
  std::vector<std::string> nodes;
  bool is_default = false;
  int64_t time_max_s = -1;
  int64_t time_default_s = -1;
  int32_t nodes_max = -1;
  int32_t nodes_min = 0;
  int32_t cpus_per_node_max = -1;
  std::vector<std::string> accounts_allowed, accounts_denied;  // empty: all, none
  std::vector<std::string> qos_allowed, qos_denied;
  std::vector<std::string> groups_allowed;
  std::string qos;  // whose limits apply to every job of the partition
  int64_t priority_tier = 1;
  int64_t priority_factor = 1;
  bool exclusive = false;
  bool reservation_required = false;
  bool operator==(const Partition&) const = default;
};
BOOST_DESCRIBE_STRUCT(Partition, (),
                      (name, up, accepts, state, nodes, is_default, time_max_s, time_default_s,
                       nodes_max, nodes_min, cpus_per_node_max, accounts_allowed, accounts_denied,
                       qos_allowed, qos_denied, groups_allowed, qos, priority_tier, priority_factor,
                       exclusive, reservation_required))

// The limits that QOS and associations share.
struct Limits {
  Amounts tres_group;          // all running jobs together
  Amounts tres_minutes_group;  // used and still promised, in TRES-minutes
  Amounts tres_running_minutes_group;
  Amounts tres_per_job, tres_per_node;
  Amounts tres_minutes_per_job;
  int64_t jobs_group = -1;    // running
  int64_t submit_group = -1;  // running and waiting
  int64_t wall_group_s = -1;
  int64_t wall_per_job_s = -1;
  int64_t jobs_max = -1;  // of one user (QOS) or of this association
  int64_t submit_max = -1;
  bool operator==(const Limits&) const = default;
};
BOOST_DESCRIBE_STRUCT(Limits, (),
                      (tres_group, tres_minutes_group, tres_running_minutes_group, tres_per_job,
                       tres_per_node, tres_minutes_per_job, jobs_group, submit_group, wall_group_s,
                       wall_per_job_s, jobs_max, submit_max))

// What counts against limits in TRES-minutes and wall time: used by runs that are over and by those
// that go on, and decayed, as the scheduler keeps it. Told for what is limited alone.
struct GroupUse {
  Amounts tres_minutes;
  int64_t wall_s = 0;
  bool operator==(const GroupUse&) const = default;
};
BOOST_DESCRIBE_STRUCT(GroupUse, (), (tres_minutes, wall_s))

struct Qos {
  std::string name;
  int64_t priority = 0;
  std::vector<std::string> preempts;
  Limits limits;
  Amounts tres_per_user, tres_per_account;  // most of one user or account in this QOS
  Amounts tres_min_per_job;
  int64_t jobs_per_user = -1, jobs_per_account = -1;
  int64_t submit_per_user = -1, submit_per_account = -1;
  std::vector<std::string> flags;  // "DenyOnLimit", "NoReserve", …
  GroupUse used;
  bool operator==(const Qos&) const = default;
};
BOOST_DESCRIBE_STRUCT(Qos, (),
                      (name, priority, preempts, limits, tres_per_user, tres_per_account,
                       tres_min_per_job, jobs_per_user, jobs_per_account, submit_per_user,
                       submit_per_account, flags, used))

// One line of the account tree: an account, or a user in an account (perhaps for one partition).
struct Association {
  int64_t id = 0;
  int64_t parent = 0;  // its id; 0: none
  std::string account, user, partition;
  int64_t shares = 1;
  int64_t usage_raw = 0;       // decayed, in the scheduler's own unit
  int64_t fairshare_ppm = -1;  // factor, in millionths
  Limits limits;
  std::vector<std::string> qos;
  std::string qos_default;
  GroupUse used;
  bool operator==(const Association&) const = default;
};
BOOST_DESCRIBE_STRUCT(Association, (),
                      (id, parent, account, user, partition, shares, usage_raw, fairshare_ppm,
                       limits, qos, qos_default, used))

struct Reservation {
  std::string name;
  Instant start, end;
  std::vector<std::string> nodes;
  std::vector<std::string> users, accounts;
  std::string partition;
  std::string licences;
  Amounts tres;
  std::vector<std::string> flags;  // "MAINT", "IGNORE_JOBS", …
  bool operator==(const Reservation&) const = default;
};
BOOST_DESCRIBE_STRUCT(Reservation, (),
                      (name, start, end, nodes, users, accounts, partition, licences, tres, flags))

struct Licence {
  std::string name;
  int64_t total = 0, used = 0, reserved = 0;
  bool operator==(const Licence&) const = default;
};
BOOST_DESCRIBE_STRUCT(Licence, (), (name, total, used, reserved))

// The scheduler itself.
struct Scheduler {
  std::string cluster;
  std::string release;           // "22.05.8"
  bool enforces_limits = false;  // AccountingStorageEnforce holds limits
  bool enforces_qos = false;
  bool enforces_associations = false;
  bool enforces_safe = false;  // a job starts only if it can end within the limits in TRES-minutes
  int64_t usage_half_life_s = 0;  // of what counts as used; 0: it does not decay
  Instant booted;                 // of the controller
  Amounts priority_weights;       // "age", "fairshare", "qos", …
  std::string parameters;         // SchedulerParameters
  Amounts statistics;             // "backfill_depth_last", "jobs_pending", …
  bool operator==(const Scheduler&) const = default;
};
BOOST_DESCRIBE_STRUCT(Scheduler, (),
                      (cluster, release, enforces_limits, enforces_qos, enforces_associations,
                       enforces_safe, usage_half_life_s, booted, priority_weights, parameters,
                       statistics))

}  // namespace fairlead
