// What happened, as the engine is told it.
//
// A source (the Slurm adapter, the telemetry adapter) restates facts: each record is whole and
// replaces what was known under its key. A poll is bracketed:
//
//   poll_began{source, full}  records…  poll_ended{source, ok}
//
// After a full poll that ended well, what the source did not restate is gone; within any other poll
// only what is named gone is. A record that a source cannot read is left out and counted in
// poll_ended.unreadable. Within a poll, jobs that hold nothing come before jobs that hold devices.
//
// Accounting tells of runs that are over, in the order of their starts. It never says that
// something is gone, and what the scheduler lists is the scheduler's to tell
// (docs/design/accounting.md).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/describe.h"
#include "model/job.h"
#include "model/node.h"
#include "model/organisation.h"
#include "model/rules.h"
#include "model/sample.h"

namespace fairlead {

enum class Source : uint8_t { scheduler, telemetry, accounting };
BOOST_DESCRIBE_ENUM(Source, scheduler, telemetry, accounting)

struct PollBegan {
  Source source = Source::scheduler;
  bool full = false;
  bool operator==(const PollBegan&) const = default;
};
BOOST_DESCRIBE_STRUCT(PollBegan, (), (source, full))

struct PollEnded {
  Source source = Source::scheduler;
  bool ok = true;
  int64_t unreadable = 0;  // records that could not be read
  std::string detail;      // what went wrong, for a person
  bool operator==(const PollEnded&) const = default;
};
BOOST_DESCRIBE_STRUCT(PollEnded, (), (source, ok, unreadable, detail))

struct NodeGone {
  std::string name;
  bool operator==(const NodeGone&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeGone, (), (name))

struct JobGone {
  uint32_t id = 0;
  bool operator==(const JobGone&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobGone, (), (id))

// A rule that is gone; `kind` is "partition", "qos", "association", "reservation" or "licence".
struct RuleGone {
  std::string kind, name;
  bool operator==(const RuleGone&) const = default;
};
BOOST_DESCRIBE_STRUCT(RuleGone, (), (kind, name))

// One run of a job that is over, as the accounting keeps it: where, when, and how it ended. A run
// that ended with the job back in line has the state pending and is `requeued`.
struct AccountedRun {
  Job job;
  bool operator==(const AccountedRun&) const = default;
};
BOOST_DESCRIBE_STRUCT(AccountedRun, (), (job))

// The whole topology; replaces the former.
struct Topology {
  std::vector<Switch> switches;
  bool operator==(const Topology&) const = default;
};
BOOST_DESCRIBE_STRUCT(Topology, (), (switches))

// Devices of a node that were looked at and say what they said at their last look.
struct UnchangedLook {
  std::string node;
  Instant at;
  std::vector<int32_t> devices;
  bool operator==(const UnchangedLook&) const = default;
};
BOOST_DESCRIBE_STRUCT(UnchangedLook, (), (node, at, devices))

struct Samples {
  std::vector<DeviceSample> samples;
  std::vector<UnchangedLook> unchanged;
  bool operator==(const Samples&) const = default;
};
BOOST_DESCRIBE_STRUCT(Samples, (), (samples, unchanged))

// Time passed; nothing else is known to have happened.
struct Tick {
  bool operator==(const Tick&) const = default;
};
BOOST_DESCRIBE_STRUCT(Tick, (), ())

using What = std::variant<Tick, PollBegan, PollEnded, Scheduler, Node, NodeGone, Job, JobGone,
                          Partition, Qos, Association, Reservation, Licence, RuleGone, Topology,
                          Samples, AccountedRun, OrganisationStated>;

// The key under which each alternative of What is written, in the same order.
inline constexpr const char* kWhatNames[] = {
    "tick",    "poll_began", "poll_ended", "scheduler", "node",          "node_gone",
    "job",     "job_gone",   "partition",  "qos",       "association",   "reservation",
    "licence", "rule_gone",  "topology",   "samples",   "accounted_run", "organisation_stated"};
static_assert(std::size(kWhatNames) == std::variant_size_v<What>);

struct Event {
  uint64_t seq = 0;  // the journal's number; 0: not journaled
  Instant at;        // when the source looked
  What what;
  bool operator==(const Event&) const = default;
};

}  // namespace fairlead
