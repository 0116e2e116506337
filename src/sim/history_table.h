// The compact table that every reader fills and the cursor walks.
//
// A run is one stretch of one job on its devices (or its wait, where it never began). Names are
// numbers, longer texts lie in one pool. Seconds count from 1970; 0 is not known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/names.h"
#include "model/job.h"

namespace fairlead {

// Rows that were left out for one reason.
struct SkippedRows {
  std::string reason;  // "Submit is no time"
  int64_t count = 0;
  std::string source;  // of the first one
  int64_t line = 0;
  std::string excerpt;
  bool operator==(const SkippedRows&) const = default;
};
BOOST_DESCRIBE_STRUCT(SkippedRows, (), (reason, count, source, line, excerpt))

// What was read, and what it cannot tell.
struct HistoryNotes {
  std::string format;  // "sacct -P", "sacct --json", "swf", "philly", …
  int64_t rows = 0;    // of data, those left out included
  int64_t workloads = 0;
  int64_t runs = 0;         // that held something or could have: requeued jobs have several
  Instant from, until;      // first and last instant that is stated
  bool has_starts = false;  // else waits are not known
  bool has_ends = false;
  bool has_devices = false;  // else nothing is known of devices
  bool has_fleet = false;    // else there is no free, stranded or down
  bool has_teams = false;
  bool has_limits = false;      // time limits
  bool has_telemetry = false;   // else what was held is unmeasured
  bool has_polls = false;       // our own journal: it is replayed as it was
  int64_t without_devices = 0;  // workloads that asked for none
  int64_t still_open = 0;       // waiting or running at the end of the dump
  std::vector<SkippedRows> skipped;
  std::vector<std::string> remarks;  // one sentence each, for a person
  int64_t skipped_rows() const {
    int64_t sum = 0;
    for (const SkippedRows& s : skipped) sum += s.count;
    return sum;
  }
  bool operator==(const HistoryNotes&) const = default;
};
BOOST_DESCRIBE_STRUCT(HistoryNotes, (),
                      (format, rows, workloads, runs, from, until, has_starts, has_ends,
                       has_devices, has_fleet, has_teams, has_limits, has_telemetry, has_polls,
                       without_devices, still_open, skipped, remarks))

struct PoolText {
  uint32_t offset = 0, size = 0;
};

enum class RunEnd : uint8_t {
  final,     // the job ended with it
  requeued,  // thrown away; the same job waits again
  resized,   // goes on with another amount
};

constexpr int32_t kNotPlaced = -1;
constexpr int32_t kPlacedElsewhere = -2;  // what it holds is stated by another run

struct HistoryRun {
  int64_t submit = 0, eligible = 0, start = 0, end = 0;
  int64_t time_limit_s = -1;
  PoolText label, nodes;
  NameId user = 0, account = 0, qos = 0, partition = 0, model = 0, reservation = 0;
  int32_t devices_asked = 0, devices_held = 0;
  int32_t share_milli = 0;
  int32_t nodes_count = 1;
  int32_t cpus = 0;
  int32_t exit_code = 0;
  uint32_t id = 0;            // as printed
  int32_t task = -1;          // of an array
  int32_t waiting_count = 0;  // of an array's record that still waits
  int32_t het_offset = -1;
  int32_t restarts = 0;  // requeues before this run
  uint32_t cluster = 0;  // several clusters in one dump repeat ids
  int32_t device_first =
      kNotPlaced;             // placed by the reader: devices [first, first + held) of its node
  NameId models_allowed = 0;  // "V100M16|V100M32" where several are
  JobState state = JobState::unknown;
  RunEnd how = RunEnd::final;
  bool continues = false;  // the next run of the same workload
  bool open = false;       // had not ended when the dump was made
};

// Aggregate demand of one pool at an instant, where a trace has no jobs.
struct AggregateRow {
  int64_t second = 0;
  NameId pool = 0;
  int32_t total = 0, running = 0, waiting = 0;
  int32_t running_jobs = 0, waiting_jobs = 0;
};

constexpr size_t kHistoryRowsMax = 20'000'000;  // chosen: twenty years of a large site, 4 GB

class RunTable {
 public:
  PoolText put(std::string_view text) {
    const PoolText at{static_cast<uint32_t>(pool_.size()), static_cast<uint32_t>(text.size())};
    pool_.append(text);
    return at;
  }
  std::string_view text(PoolText at) const {
    return std::string_view(pool_).substr(at.offset, at.size);
  }
  NameTable& names() { return names_; }
  const std::string& name(NameId id) const { return names_.name(id); }
  std::vector<HistoryRun>& runs() { return runs_; }
  const std::vector<HistoryRun>& runs() const { return runs_; }
  bool full() const { return runs_.size() >= kHistoryRowsMax || pool_.size() > 0xf000'0000U; }
  size_t memory_bytes() const { return pool_.capacity() + runs_.capacity() * sizeof(HistoryRun); }

 private:
  std::string pool_;
  NameTable names_;
  std::vector<HistoryRun> runs_;
};

}  // namespace fairlead
