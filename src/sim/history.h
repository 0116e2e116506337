// A site's past as events for the Engine.
//
// A dump (what sacct printed, a public trace, our own journal) becomes one table of runs: when a
// job was submitted, began and ended, and what it held. A cursor walks the table in time order and
// says
//
//   job (pending) at its submission   job (running) at its start   job (ended) at its end job_gone
//
// so that the engine keeps of each finished job what reports need and nothing else. A requeued or
// resized job has several runs: they are one workload. There are no polls in a history.
//
// Job.id is a number of ours, unique in the history (dumps repeat ids); Job.label is what the
// scheduler prints ("4242", "4240_7", "77+1"). Where the dump does not state nodes (`fleet` of
// HistoryOptions does), devices count as hardware while they are held, and only then.
//
// What a dump cannot tell is said in HistoryNotes, and so is every row that was left out, with its
// reason and first place. A row is never fatal: only a history of which nothing can be read is.
//
// Memory: about 200 bytes a run and the running jobs' events; the text is dropped once read.
// docs/howto/replay.md
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "sim/history_table.h"

namespace fairlead {

// How to dump a Slurm site's past; the hint of every diagnostic about a missing column.
inline constexpr const char* kSacctCommand =
    "sacct -P -a -X -D -S 2026-01-01 -E now -o "
    "JobID,User,Account,QOS,Partition,State,Submit,Eligible,Start,End,"
    "Timelimit,NNodes,ReqTRES,AllocTRES,NodeList";

struct HistoryInput {
  std::string source;  // a file's name: for diagnostics, and where a format keeps something in it
  std::string text;    // unpacked
};

struct HistoryOptions {
  Duration
      utc_offset;  // of the site's clock, where times are printed without zone: east is positive
  Instant base =
      instant_of_seconds(1'577'836'800);  // 2020-01-01: zero of traces that do not say when
  std::vector<Node> fleet;         // where the caller knows the nodes; jobs are then held on them
  double arrivals_per_hour = 4.0;  // of traces that state only relative arrivals (Gavel)
};

class History {
 public:
  const HistoryNotes& notes() const { return notes_; }
  int64_t workloads() const { return static_cast<int64_t>(order_.size()); }
  Instant from() const { return notes_.from; }
  Instant until() const { return notes_.until; }
  size_t memory_bytes() const;
  const RunTable& table() const { return table_; }
  const std::vector<uint32_t>& order() const { return order_; }  // first run of each workload
  const std::vector<Node>& fleet() const { return fleet_; }

 private:
  friend class HistoryCursor;
  friend Result<History> read_history(std::vector<HistoryInput> inputs,
                                      const HistoryOptions& options);
  friend struct HistoryBuilder;
  HistoryNotes notes_;
  RunTable table_;
  std::vector<uint32_t> order_;          // by its first instant
  std::vector<Node> fleet_;              // stated once, at `from`
  std::vector<AggregateRow> aggregate_;  // by time
  std::vector<HistoryInput> journal_;    // event lines, read as they are asked for
};

// Reads dumps of one format; several inputs are parts of one history (a month each, or pods and
// nodes). Fails with history-empty, history-unknown-format, history-mixed, history-column-missing,
// history-nothing-readable, history-too-large, event-version.
Result<History> read_history(std::vector<HistoryInput> inputs, const HistoryOptions& options = {});

// Walks a history once, in time order. Requires: the history outlives the cursor and stays as it
// is. Memory: O(jobs that are waiting or running).
class HistoryCursor {
 public:
  explicit HistoryCursor(const History& history);

  // The next event, or nothing at the end. It is valid until the next call.
  const Event* next();
  int64_t workloads_done() const { return done_; }

 private:
  enum class Fact : uint8_t { end, gone, submit, start };  // at one second, in this order
  struct Due {
    int64_t second = 0;
    Fact fact = Fact::submit;
    uint32_t run = 0;
    uint32_t workload = 0;
    friend auto operator<=>(const Due&, const Due&) = default;
  };
  void push(Due due);
  Due pop();
  const Event* next_of_fleet();
  const Event* next_of_runs();
  const Event* next_of_aggregate();
  const Event* next_of_journal();
  void state_run(const Due& due);
  void follow(const Due& due);
  bool has_next_run(const Due& due) const;

  const History& history_;
  std::vector<Due> due_;  // a heap, the earliest first
  size_t next_workload_ = 0;
  size_t next_node_ = 0;
  size_t next_aggregate_ = 0;
  int aggregate_part_ = 0;
  size_t journal_input_ = 0, journal_offset_ = 0;
  int64_t done_ = 0;
  Event job_event_;  // its strings keep their room
  Event other_event_;
};

}  // namespace fairlead
