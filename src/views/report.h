// The report: what the fleet held, what of it was useful, what was wasted by whom, who waited.
//
// Every number is a projection of the one ledger, so the columns add up to the hardware, and the
// teams' columns to what is held. Keys are the contract of the JSON form (more may be added).
#pragma once

#include <string>
#include <vector>

#include "core/state.h"
#include "explain/explain.h"

namespace fairlead {

struct ColumnSeconds {
  int64_t useful = 0, held_idle = 0, held_unmeasured = 0, lost = 0, reserved = 0, free = 0,
          stranded = 0, down = 0;
  int64_t total = 0;
  bool operator==(const ColumnSeconds&) const = default;
};
BOOST_DESCRIBE_STRUCT(ColumnSeconds, (),
                      (useful, held_idle, held_unmeasured, lost, reserved, free, stranded, down,
                       total))

// From milli-seconds; where shares leave thousandths, the largest column takes the rest of
// rounding.
ColumnSeconds columns_of(const ByColumn& milli_seconds);

struct WaitQuantiles {
  int64_t p50 = 0, p90 = 0, p99 = 0;
  bool operator==(const WaitQuantiles&) const = default;
};
BOOST_DESCRIBE_STRUCT(WaitQuantiles, (), (p50, p90, p99))

WaitQuantiles quantiles_of(std::vector<int64_t> waits_us);  // nearest rank

// One team, class, user or partition.
struct ReportRow {
  std::string name;
  ColumnSeconds gpu_seconds;
  int64_t workloads = 0;              // that waited, ran or ended in the window
  int64_t started = 0;                // that got their devices in the window
  int64_t never_started = 0;          // that wait still, or ended without a start
  WaitQuantiles wait_us;              // submission to devices (time-to-GPU), of those that started
  int64_t requested_gpu_seconds = 0;  // devices times time limit, of those that ended
  int64_t used_gpu_seconds = 0;       // devices times run time, of the same
  bool operator==(const ReportRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReportRow, (),
                      (name, gpu_seconds, workloads, started, never_started, wait_us,
                       requested_gpu_seconds, used_gpu_seconds))

struct TeamRow : ReportRow {
  std::string team;
  int64_t held_gpus = -1;  // now, of the organisation's classes of devices; -1: none says
  int64_t own_gpus = -1;   // what it has a right to; the same
  bool operator==(const TeamRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(TeamRow, (),
                      (team, held_gpus, own_gpus, gpu_seconds, workloads, started, never_started,
                       wait_us, requested_gpu_seconds, used_gpu_seconds))

struct ModelRow {
  std::string model;
  ColumnSeconds gpus;  // devices now, not seconds
  ColumnSeconds gpu_seconds;
  bool operator==(const ModelRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(ModelRow, (), (model, gpus, gpu_seconds))

struct IdleHoldRow {
  std::string workload, team, user;
  IdleKind kind = IdleKind::none;
  int64_t gpus = 0;
  Instant since;
  int64_t gpu_seconds = 0;  // idle ones of this run so far
  bool operator==(const IdleHoldRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(IdleHoldRow, (), (workload, team, user, kind, gpus, since, gpu_seconds))

struct WaitingRow {
  std::string workload, team, user, klass, partition, gang;
  int64_t wait_us = 0;
  int64_t gpus = 0;
  int64_t tasks = 1;  // of an array, that share the line
  int64_t priority = 0;
  std::vector<BlockerCode> blockers;
  std::string message;  // of the first
  bool can_never_start = false;
  std::string verdict;  // of the planner: start, reserve, defer; empty: none, or it takes no part
  Instant start_p50, start_p90;  // zero: not known
  std::string scheduler_reason;
  bool scheduler_agrees = true;
  bool operator==(const WaitingRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(WaitingRow, (),
                      (workload, team, user, klass, partition, gang, wait_us, gpus, tasks, priority,
                       blockers, message, can_never_start, verdict, start_p50, start_p90,
                       scheduler_reason, scheduler_agrees))

struct ShapeRow {
  std::string gang;
  std::string partition;
  std::string constraint;  // what else is asked: "features h100&nvlink, nodes n[1-2], 1 switch"
  int64_t count = 0;
  int64_t fits = 0;     // how many of them could start on what is free now, each alone
  bool enough = false;  // enough devices are free, whether together or not
  bool operator==(const ShapeRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(ShapeRow, (), (gang, partition, constraint, count, fits, enough))

struct Fragmentation {
  int64_t free_gpus = 0, stranded_gpus = 0;
  int64_t fgd_ppm =
      -1;  // expected share of free devices that the mix of work cannot use; -1: nothing free
  std::vector<ShapeRow> waiting_shapes;
  bool operator==(const Fragmentation&) const = default;
};
BOOST_DESCRIBE_STRUCT(Fragmentation, (), (free_gpus, stranded_gpus, fgd_ppm, waiting_shapes))

struct EndedRow {
  JobState state = JobState::unknown;
  int64_t workloads = 0;
  int64_t gpu_seconds = 0;  // of their runs, whatever the column
  bool operator==(const EndedRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(EndedRow, (), (state, workloads, gpu_seconds))

struct SourceRow {
  Source source = Source::scheduler;
  bool ok = false;
  bool known = false;
  Instant last_ok;
  int64_t unreadable = 0;
  std::string detail;
  bool operator==(const SourceRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(SourceRow, (), (source, ok, known, last_ok, unreadable, detail))

struct Report {
  std::string apiVersion = "fairlead/v1", kind = "Report";
  std::string site;
  std::string scheduler;  // "slurm": teams are its accounts, classes its QOS; empty: not known
  Instant from, to;
  bool fleet_known = false;  // without it there is no free, stranded or down to report
  int64_t gpus = 0;          // devices now
  ColumnSeconds gpu_seconds;
  int64_t telemetry_coverage_ppm = 0;  // measured share of held device-seconds
  int64_t useful_ppm = 0;              // useful share of all device-seconds
  std::vector<std::string> sentences;  // three that a director can repeat
  std::vector<ModelRow> models;
  std::vector<TeamRow> teams;
  std::vector<ReportRow> classes, users, partitions;
  std::vector<IdleHoldRow> idle_holds;
  std::vector<WaitingRow> waiting;
  int64_t waiting_more = 0;  // beyond what `waiting` lists
  Fragmentation fragmentation;
  std::vector<EndedRow> ended;
  std::vector<SourceRow> sources;
  std::vector<std::string> notes;  // what the report does not know
  bool operator==(const Report&) const = default;
};
BOOST_DESCRIBE_STRUCT(Report, (),
                      (apiVersion, kind, site, scheduler, from, to, fleet_known, gpus, gpu_seconds,
                       telemetry_coverage_ppm, useful_ppm, sentences, models, teams, classes, users,
                       partitions, idle_holds, waiting, waiting_more, fragmentation, ended, sources,
                       notes))

std::vector<SourceRow> sources_of(const State& state);

struct ReportOptions {
  Instant from;  // zero: since the books opened; taken to the full hour
  size_t waiting_max = 200;
};

Report report_of(const State& state, const ReportOptions& options);

struct Queue {
  std::string apiVersion = "fairlead/v1", kind = "Queue";
  std::string site;
  Instant as_of;
  std::string note;  // why these are not the facts of now; empty while the scheduler is seen
  std::vector<WaitingRow> waiting;
  int64_t waiting_more = 0;
  bool operator==(const Queue&) const = default;
};
BOOST_DESCRIBE_STRUCT(Queue, (), (apiVersion, kind, site, as_of, note, waiting, waiting_more))

// Telemetry is configured, and says nothing of any GPU that is held now.
bool is_blind_now(const Report& report);

// Waiting work, highest priority first, then the longest wait.
Queue queue_of(const State& state, size_t most);

}  // namespace fairlead
