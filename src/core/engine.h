// The one place where anything is concluded.
//
// step() is a pure function of the state and the event: the same two give the same state and the
// same decisions, byte for byte, on any machine and with any compiler. It always does, in this
// order:
//
//   1 apply    the event to the facts
//   2 book     every device into its column, at the second the fact is about
//   3 conclude idle holds opened and closed, work lost, sources lost and back
//     plan     where an organisation is known and a look at the scheduler ended well: what would be
//              started and taken back (core/suggestion.h), and when what waits will start
//              (core/estimate.h)
//   4 check    that the columns add up to the hardware; a mismatch stops the process
//
// There are no further steps: what is planned is suggested, and nothing can be written.
// Cost: O(log workloads + devices of the job) an event; O(devices) when a poll ends.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <set>
#include <vector>

#include "core/allocator.h"
#include "core/state.h"
#include "model/decision.h"

namespace fairlead {

class Engine {
 public:
  Engine(std::string site, EngineRules rules);
  explicit Engine(State state);  // continues from a snapshot

  std::vector<Decision> step(const Event& event);

  const State& state() const { return state_; }
  Digest digest() const;

  // What the planner would say of a workload like this one, which need not be among those that wait
  // (Allocator::ask). Nothing: it takes no part, or no organisation is known. Nothing that could be
  // asked about afterwards changes by it.
  std::optional<Answer> ask(const Workload& workload, bool may_take_back) const;

  // Where a workload like this could stand now (Allocator::stands); nothing also where no
  // organisation is known.
  std::optional<Stands> stands(const Workload& workload, size_t most) const;

  // A workload that this job would be if it were submitted now: its team, class and slips; its id
  // is that of the next.
  Workload suppose(Job job) const;

  // Whether what accounting says of this run is known, or is the scheduler's to tell.
  bool knows_run(const Job& run) const;

  // Recounts everything that is kept up in steps. Returns what does not agree, or an empty text.
  std::string recount() const;

 private:
  struct Poll {  // what a full poll has restated so far; told apart by itself, since a clock may
                 // stand
    bool full = false;
    std::set<std::pair<std::string, std::string>> rules;  // kind, name
    std::set<NodeIndex> nodes;
    boost::unordered_flat_set<uint32_t> jobs;
  };

  void apply(const Tick&);
  void apply(const PollBegan& began);
  void apply(const PollEnded& ended);
  void apply(const Scheduler& scheduler) { state_.scheduler = scheduler; }
  void apply(const Node& node);
  void apply(const NodeGone& gone);
  void apply(const Job& job);
  void apply(const JobGone& gone);
  void apply(const Partition& partition);
  void apply(const Qos& qos);
  void apply(const Association& association);
  void apply(const Reservation& reservation);
  void apply(const Licence& licence);
  void apply(const RuleGone& gone);
  void apply(const Topology& topology) { state_.fleet.set_switches(topology.switches); }
  void apply(const Samples& samples);
  void apply(const AccountedRun& told);
  void apply(const OrganisationStated& stated);

  void advance(Instant at);
  void restated(const char* kind, const std::string& name);
  void check_sources();
  void place_unplaced();
  void look(DeviceIndex device, Instant at, Seen seen);
  void expire_looks();
  void drop_unrestated(const Poll& poll);
  void find_idle_holds();
  void suggest();
  void score(const Workload& workload, bool waited);
  void estimate();
  void score_estimate(const Workload& workload, bool waited);
  void lose_source(Source source, const std::string& why);
  void freeze(Instant since);
  void index_workloads();
  void intern_organisation();
  Workload& workload_of(const Job& job);
  Workload& add_workload(const Job& job);
  const Workload* array_of(const Job& job) const;
  void state_job(Workload& workload, const Job& job);
  void retire(WorkloadId id);
  void vanish(Workload& workload);
  void come_back(Workload& workload, const Job& job);
  void move_to_past(WorkloadId id);
  void index_past(const PastWorkload& past);
  void take_unseen(Workload& workload, Job run);
  void settle(Workload& workload, const Job& run);
  void finish_accounted();
  void decide(DecisionKind kind, const Workload* workload, std::string reason, int64_t devices = 0,
              int64_t device_seconds = 0, IdleKind idle_kind = IdleKind::none);

  State state_;
  std::vector<Decision> decisions_;
  Poll polls_[3];
  bool waiting_changed_ = true;  // the shapes that wait, or what is free
  mutable Allocator allocator_;  // answers questions without being another afterwards
  RunLengths lengths_;           // of `past`
  boost::unordered_flat_map<uint32_t, WorkloadId> by_job_;
  boost::unordered_flat_set<uint64_t> past_runs_;  // of `past`: number and submission of each run
};

}  // namespace fairlead
