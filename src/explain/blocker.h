// One reason why a workload waits, and all of them together.
//
// Codes are stable: programs, metrics and dashboards branch on them. `code_text` documents each,
// and `fairlead explain --code` prints it. docs/design/explain.md says how each is found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/time.h"
#include "core/estimate.h"
#include "model/column.h"

namespace fairlead {

// In the order in which they are told: what waiting cannot cure comes first.
enum class BlockerCode : uint8_t {
  SHAPE_NEVER,
  DEVICES_NO_NODE,
  FEATURES_NO_NODE,
  DEPENDENCY_NEVER,
  PARTITION_TIME_LIMIT,
  PARTITION_NODE_LIMIT,
  PARTITION_ACCESS,
  ASSOCIATION_MISSING,
  QOS_JOB_LIMIT,
  ASSOCIATION_JOB_LIMIT,
  CLASS_LIMIT,
  HELD_BY_ADMIN,
  HELD_BY_USER,
  PARTITION_DOWN,
  BEGIN_TIME,
  DEPENDENCY,
  ARRAY_LIMIT,
  QOS_LIMIT,
  ASSOCIATION_LIMIT,
  TEAM_LIMIT,
  BUDGET_SPENT,
  LICENCES,
  RESERVATION,
  NODES_DOWN,
  CAPACITY,
  FRAGMENTED,
  TOPOLOGY_FRAGMENTED,
  RESERVED_AHEAD,
  PRIORITY,
  UNEXPLAINED,
  NOT_YET_EXAMINED,
};
BOOST_DESCRIBE_ENUM(BlockerCode, SHAPE_NEVER, DEVICES_NO_NODE, FEATURES_NO_NODE, DEPENDENCY_NEVER,
                    PARTITION_TIME_LIMIT, PARTITION_NODE_LIMIT, PARTITION_ACCESS,
                    ASSOCIATION_MISSING, QOS_JOB_LIMIT, ASSOCIATION_JOB_LIMIT, CLASS_LIMIT,
                    HELD_BY_ADMIN, HELD_BY_USER, PARTITION_DOWN, BEGIN_TIME, DEPENDENCY,
                    ARRAY_LIMIT, QOS_LIMIT, ASSOCIATION_LIMIT, TEAM_LIMIT, BUDGET_SPENT, LICENCES,
                    RESERVATION, NODES_DOWN, CAPACITY, FRAGMENTED, TOPOLOGY_FRAGMENTED,
                    RESERVED_AHEAD, PRIORITY, UNEXPLAINED, NOT_YET_EXAMINED)

struct CodeText {
  BlockerCode code = BlockerCode::UNEXPLAINED;
  const char* meaning = "";
  const char* cure = "";
};
const CodeText& code_text(BlockerCode code);

// Whether the words that the scheduler uses for its one reason can mean this blocker.
bool scheduler_means(std::string_view reason, BlockerCode code);

enum class WaitingCures : uint8_t { unknown, yes, never };
BOOST_DESCRIBE_ENUM(WaitingCures, unknown, yes, never)

struct Holder {
  std::string workload, team, user;
  int64_t amount = 0;  // in the blocker's unit
  Instant ends;        // at the latest, by its time limit; zero: no limit
  IdleKind idle = IdleKind::none;
  bool operator==(const Holder&) const = default;
};
BOOST_DESCRIBE_STRUCT(Holder, (), (workload, team, user, amount, ends, idle))

// What was tried of a cure, by the planner.
enum class CureEffect : uint8_t {
  none,     // nothing was, or no change does it: the text is advice
  removes,  // the blocker is gone, and something else is left
  starts    // it would start now, and nothing would be taken back
};
BOOST_DESCRIBE_ENUM(CureEffect, none, removes, starts)

// What the job would ask for instead.
struct CureRequest {
  int32_t nodes = 0;
  int32_t per_node = 0;  // 0: `devices` may lie anywhere
  int32_t devices = 0;
  int64_t time_limit_s = -1;  // -1: none
  int32_t switches = 0;       // 0: any
  bool any_features = false;  // without its constraint
  bool operator==(const CureRequest&) const = default;
};
BOOST_DESCRIBE_STRUCT(CureRequest, (),
                      (nodes, per_node, devices, time_limit_s, switches, any_features))

struct Blocker {
  BlockerCode code = BlockerCode::UNEXPLAINED;
  std::string object;      // "qos small", "partition short", "account vision", "n[009-012]"
  std::string limit_name;  // the scheduler's own word: "GrpTRES gres/gpu"
  std::string unit;        // "devices", "nodes", "jobs", "s", "licences", …
  int64_t limit = 0, used = 0, wanted = 0, short_by = 0;
  std::string message;          // one sentence with the numbers
  std::vector<Holder> holders;  // the largest first
  int64_t holders_more = 0;
  WaitingCures waiting_cures = WaitingCures::unknown;
  Instant cured_at;  // if the holders run to their limits; zero: not known
  std::string cure;  // the smallest change we know, and what it does
  CureEffect cure_effect = CureEffect::none;
  CureRequest cure_request;  // where it was tried
  bool by_policy = false;  // of the organisation's rules: what the planner says, not the scheduler
  bool operator==(const Blocker&) const = default;
};
BOOST_DESCRIBE_STRUCT(Blocker, (),
                      (code, object, limit_name, unit, limit, used, wanted, short_by, message,
                       holders, holders_more, waiting_cures, cured_at, cure, cure_effect,
                       cure_request, by_policy))

// So many of a blocker's unit: "1 device", "3 devices", "1 MB".
std::string count_text(int64_t amount, std::string_view unit);
const char* is_or_are(int64_t amount);
std::string asked_for(int64_t amount);  // "1 is asked for", "3 are asked for"

// One run of the workload. `state` is how it ended; "requeued" where the job went back in line.
struct RunTold {
  int32_t epoch = 0;
  Instant submitted, started, ended;
  std::string state;
  int32_t exit_code = 0;  // 128 + the signal where one ended it
  std::string nodes;
  bool operator==(const RunTold&) const = default;
};
BOOST_DESCRIBE_STRUCT(RunTold, (), (epoch, submitted, started, ended, state, exit_code, nodes))

// Work that would be put back in line, to start elsewhere at once.
struct MoveTold {
  std::string workload, from, to;  // nodes
  int64_t gpus = 0;
  int64_t lost_gpu_seconds = 0;  // what would be done again
  bool operator==(const MoveTold&) const = default;
};
BOOST_DESCRIBE_STRUCT(MoveTold, (), (workload, from, to, gpus, lost_gpu_seconds))

// What the planner says of a workload that waits, by the rules of the organisation.
struct VerdictTold {
  std::string organisation;             // "acme v7"; empty: none is known
  std::string verdict;                  // start, make_room, reserve, defer; empty: it takes no part
  std::string because;                  // in a few words
  Instant since;                        // suggested without a break since then
  Instant at;                           // of reserve: the earliest start, as far as ends are known
  std::string nodes;                    // where it would stand
  std::vector<std::string> takes_back;  // of start: whose devices
  std::vector<MoveTold> moves;          // of make_room: who would go where
  bool operator==(const VerdictTold&) const = default;
};
BOOST_DESCRIBE_STRUCT(VerdictTold, (),
                      (organisation, verdict, because, since, at, nodes, takes_back, moves))

// When one that waits will start, as far as that can be said (core/estimate.h).
struct StartTold {
  Instant p50, p90;         // zero: not known
  std::string unknown;      // why there is no P50; empty where there is one
  bool by_history = false;  // of how long runs like these went; else by time limits alone
  Promise first;            // what was told first
  int64_t scored = 0;       // starts that had been promised after a wait
  int64_t held_ppm = -1;    // of these, those within their first P90; -1: none yet
  bool operator==(const StartTold&) const = default;
};
BOOST_DESCRIBE_STRUCT(StartTold, (), (p50, p90, unknown, by_history, first, scored, held_ppm))

struct Explanation {
  std::string apiVersion = "fairlead/v1", kind = "Explanation";
  std::string workload, name, user, team, klass, partition;
  std::string state;
  std::string wants;  // "16x8 h100, time limit 8h, licences sim:4"
  Instant as_of;      // of the facts
  Instant submitted, waiting_since, started, ended;
  int64_t wait_us = 0;
  int64_t priority = 0;
  int64_t ahead = 0;  // waiting workloads of its partitions that come first
  bool can_never_start = false;
  std::vector<Blocker> blockers;
  std::string enough;            // one change that does for all that can be cured by one, tried
  std::string scheduler_reason;  // its own word
  bool scheduler_agrees = true;  // its word is one of our blockers
  Instant scheduler_start_estimate;
  StartTold start;
  VerdictTold policy;
  // Of one that holds or has held devices:
  std::string nodes;
  int64_t devices = 0;
  int32_t epoch = 0;
  ByColumn gpu_seconds;
  IdleKind idle_kind = IdleKind::none;
  Instant idle_since;
  // Of one that has ended, and its life until then; `runs` also where it was requeued before.
  bool over = false;
  int64_t waited_us =
      0;               // from its submission to its first start, or to its end where it never ran
  int64_t ran_us = 0;  // all runs together
  int64_t time_limit_s = -1;
  int32_t exit_code = 0;
  std::vector<RunTold> runs;
  std::vector<std::string> misconfigured;  // names of it that fit nothing, with the nearest
  std::string note;                        // what is not known
  bool operator==(const Explanation&) const = default;
};
BOOST_DESCRIBE_STRUCT(Explanation, (),
                      (apiVersion, kind, workload, name, user, team, klass, partition, state, wants,
                       as_of, submitted, waiting_since, started, ended, wait_us, priority, ahead,
                       can_never_start, blockers, enough, scheduler_reason, scheduler_agrees,
                       scheduler_start_estimate, start, policy, nodes, devices, epoch, gpu_seconds,
                       idle_kind, idle_since, over, waited_us, ran_us, time_limit_s, exit_code,
                       runs, misconfigured, note))

}  // namespace fairlead
