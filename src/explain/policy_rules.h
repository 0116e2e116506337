// Blockers that come from rules, holds and dates: everything but room on nodes. By kind of cause:
// job_rules.cc, partition_rules.cc, limit_rules.cc.
#pragma once

#include "explain/explain.h"
#include "explain/holders.h"

namespace fairlead {

struct PolicyRules {
  static void hold(Explainer& e, const Workload& w, std::vector<Blocker>& out);
  static void begin_time(Explainer& e, const Workload& w, std::vector<Blocker>& out);
  static void dependency(Explainer& e, const Workload& w, std::vector<Blocker>& out);
  static void partition(Explainer& e, const Workload& w, std::vector<Blocker>& out);
  static void association(Explainer& e, const Workload& w, std::vector<Blocker>& out);
  static void qos(Explainer& e, const Workload& w, std::vector<Blocker>& out);
  static void array(Explainer& e, const Workload& w, std::vector<Blocker>& out);
  static void licences(Explainer& e, const Workload& w, std::vector<Blocker>& out);

  // The partitions of the job that may still take it; all of them where none may.
  static std::string open_partitions(const State& state, const Job& job);

  // The running workloads that `counts` says count, largest first, with what they hold of `tres`.
  static void add_holders(Explainer& e, Blocker& blocker, const std::string& tres, auto&& counts);

  // The same for a limit on amount times time: what they hold, times the minutes they still have.
  static void add_promised(Explainer& e, Blocker& blocker, const std::string& tres, auto&& counts);

 private:
  struct LimitOf;
  static void qos_of(Explainer& e, const Workload& w, const Qos& qos, std::vector<Blocker>& out);
};

inline void PolicyRules::add_holders(Explainer& e, Blocker& blocker, const std::string& tres,
                                     auto&& counts) {
  if (blocker.waiting_cures == WaitingCures::never) return;  // nobody holds what it would need
  std::vector<Holder> holders;
  for (const WorkloadId id : e.state_.queues.holding()) {
    const Workload& other = e.state_.workloads.at(id);
    if (!counts(other)) continue;
    const int64_t amount =
        tres == "jobs" ? 1 : tres_of(e.state_, other).amount(tres, e.state_.names);
    if (amount == 0) continue;
    holders.push_back(holder_of(e.state_, other, amount));
  }
  blocker.cured_at = freed_at(holders, blocker.short_by);
  show_holders(blocker, std::move(holders));
}

inline void PolicyRules::add_promised(Explainer& e, Blocker& blocker, const std::string& tres,
                                      auto&& counts) {
  if (blocker.waiting_cures == WaitingCures::never) return;
  std::vector<Holder> holders;
  for (const WorkloadId id : e.state_.queues.holding()) {
    const Workload& other = e.state_.workloads.at(id);
    if (!counts(other)) continue;
    const int64_t amount =
        tres_of(e.state_, other).amount(tres, e.state_.names) * promised_minutes(e.state_, other);
    if (amount > 0) holders.push_back(holder_of(e.state_, other, amount));
  }
  blocker.cured_at = spent_at(e.state_.now, holders, blocker.short_by);
  show_holders(blocker, std::move(holders));
}

// "afterok:17(unfulfilled),afterany:18_3" -> its parts.
struct Dependency {
  std::string kind;  // "afterok", "singleton", …
  uint32_t job = 0;
  int64_t task = -1;  // of that array; -1: all of it
  std::string mark;   // "unfulfilled", "failed", "fulfilled"; empty where not stated
  bool operator==(const Dependency&) const = default;
};
std::vector<Dependency> parse_dependencies(std::string_view text);

}  // namespace fairlead
