// Everything the engine knows: facts as last stated, who holds which device, the books.
//
// Only Engine changes a State; everybody else reads. It is a value: equal states have equal
// futures. Facts are *observed* (with the instant of the look); nothing here is a wish.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/names.h"
#include "core/estimate.h"
#include "core/organisation.h"
#include "core/queues.h"
#include "core/suggestion.h"
#include "core/workload.h"
#include "evidence/activity.h"
#include "fabric/fleet.h"
#include "ledger/ledger.h"
#include "model/event.h"

namespace fairlead {

struct Allocation;  // core/allocator.h

// One device in the books.
struct DeviceBook {
  Account account;    // where its seconds go now
  int64_t since = 0;  // second of the last move; a later fact cannot change what is before it
  WorkloadId holder = 0;
  bool stranded = false;  // free, and no waiting shape fits on its node
  Activity activity;
  bool operator==(const DeviceBook&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeviceBook, (), (account, since, holder, stranded, activity))

// A workload that the scheduler no longer lists, kept for reports.
struct PastWorkload {
  WorkloadId id = 0;
  std::string label;
  NameId name = 0;   // empty where it was one name too many
  NameId shape = 0;  // "4x8 h100"
  NameId team = 0, klass = 0, user = 0, partition = 0;
  JobState state = JobState::unknown;
  int32_t devices = 0;
  int32_t epochs = 0;
  Instant submit, eligible, first_start, end;
  int64_t time_limit_s = -1;
  int64_t run_s = 0;       // of its last run
  ByColumn milli_seconds;  // over all runs
  uint32_t job = 0;        // the scheduler's number; others may have it later
  RunRecord last;          // its last run; no start where it never ran
  std::vector<RunRecord> former;
  bool operator==(const PastWorkload&) const = default;
};
BOOST_DESCRIBE_STRUCT(PastWorkload, (),
                      (id, label, name, shape, team, klass, user, partition, state, devices, epochs,
                       submit, eligible, first_start, end, time_limit_s, run_s, milli_seconds, job,
                       last, former))

struct SourceState {
  bool known = false;  // has ever ended a poll
  bool ok = false;
  Instant last_ok;
  Instant lost_since;      // zero while ok
  int64_t unreadable = 0;  // records of the last poll that could not be read
  std::string detail;
  bool operator==(const SourceState&) const = default;
};
BOOST_DESCRIBE_STRUCT(SourceState, (), (known, ok, last_ok, lost_since, unreadable, detail))

// Names are never dropped, and jobs may each have another: above this, new ones are not kept of
// what is past. Chosen: 50 MB.
constexpr size_t kNamesMax = 500'000;

constexpr size_t kPastWorkloadsMax =
    2'000'000;  // chosen: two years of a 6,000-device fleet, 500 MB

struct EngineRules {
  EvidenceRules evidence;
  Duration source_grace = seconds(60);      // a source may be silent for so long
  Duration jump_max = seconds(40 * 86400);  // an event further ahead is a broken clock
  bool operator==(const EngineRules&) const = default;
};
BOOST_DESCRIBE_STRUCT(EngineRules, (), (evidence, source_grace, jump_max))

struct State {
  std::string site;
  EngineRules rules;
  Instant now;       // of the last event; never goes back
  uint64_t seq = 0;  // of the last journaled event
  uint64_t steps = 0;
  bool frozen = false;         // the scheduler cannot be seen: what is held is not measurable
  int64_t events_refused = 0;  // from a clock that cannot be right, or an organisation with errors
  int64_t samples_unmatched = 0;  // of devices that no node states

  Scheduler scheduler;
  std::map<std::string, Partition> partitions;
  std::map<std::string, Qos> qos;
  std::map<int64_t, Association> associations;
  std::map<std::string, Reservation> reservations;
  std::map<std::string, Licence> licences;
  OrganisationStated organisation_stated;
  std::vector<SourceState> sources = std::vector<SourceState>(3);  // by Source

  NameTable names;
  Fleet fleet;
  std::vector<DeviceBook> devices;  // by DeviceIndex
  std::vector<int32_t> node_free;   // devices in columns free and stranded, by NodeIndex
  int64_t unplaced_milli = 0;       // held on nodes nobody stated; counts as hardware
  Ledger ledger;

  std::map<WorkloadId, Workload> workloads;
  std::vector<PastWorkload> past;
  uint64_t past_dropped = 0;
  WorkloadId next_workload = 1;

  Suggested suggested;
  Estimates estimates;

  Queues queues;                                          // follows from `workloads`
  std::shared_ptr<const KnownOrganisation> organisation;  // from the texts; null: none is stated
  std::map<std::string, std::string> kept_hostlists;      // the nodes of `reservations`, by name
  std::shared_ptr<const Allocation> allocation;  // of the last look; null: none since the start

  const SourceState& source(Source s) const { return sources[static_cast<size_t>(s)]; }
  SourceState& source(Source s) { return sources[static_cast<size_t>(s)]; }
};

// Calls f(name, part) for every part of the state, in a fixed order: what a digest folds and a
// snapshot writes. The parts are plain values; indexes are made anew (see core/snapshot.h for the
// way back).
template <class F>
void for_each_part(const State& s, F&& f) {
  f("site", s.site);
  f("rules", s.rules);
  f("now", s.now);
  f("seq", s.seq);
  f("steps", s.steps);
  f("frozen", s.frozen);
  f("events_refused", s.events_refused);
  f("samples_unmatched", s.samples_unmatched);
  f("scheduler", s.scheduler);
  f("partitions", s.partitions);
  f("qos", s.qos);
  f("associations", s.associations);
  f("reservations", s.reservations);
  f("licences", s.licences);
  f("organisation_stated", s.organisation_stated);
  f("sources", s.sources);
  f("names", s.names.all());
  f("fleet", s.fleet.data());
  f("devices", s.devices);
  f("node_free", s.node_free);
  f("unplaced_milli", s.unplaced_milli);
  f("ledger", s.ledger.data());
  f("workloads", s.workloads);
  f("past", s.past);
  f("past_dropped", s.past_dropped);
  f("next_workload", s.next_workload);
  f("suggested", s.suggested);
  f("estimates", s.estimates);
}

// Milli-seconds of all runs of `workload` until now, by column.
ByColumn use_of(const State& state, const Workload& workload);

// The account that `workload` holds devices of `model` under.
Account account_of(const Workload& workload, NameId model, Column column);

}  // namespace fairlead
