// What runs now, summed as the scheduler's limits count it.
//
// Cost: O(workloads that hold) once; then O(log) for a sum.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/state.h"

namespace fairlead {

// What one job or many count for, by the kinds that limits name.
struct TresSum {
  int64_t nodes = 0, cpus = 0, memory_mb = 0, devices = 0;
  std::vector<std::pair<NameId, int64_t>> models;  // devices of each; few

  void add(const TresSum& other, int64_t times = 1);

  // "node", "cpu", "mem", "gres/gpu", "gres/gpu:<model>"; 0 for a kind that we do not count.
  int64_t amount(std::string_view tres, const NameTable& names) const;
};

TresSum tres_of(const State& state, const Workload& workload);

// Until the time limit ends it; 0 where it has none.
int64_t promised_minutes(const State& state, const Workload& workload);

struct UsageSum {
  TresSum tres;
  TresSum running_minutes;  // amounts times the minutes that are still promised
  int64_t jobs = 0;
};

class Usage {
 public:
  explicit Usage(const State& state);

  const UsageSum& of_qos(NameId qos) const;
  const UsageSum& of_qos_user(NameId qos, NameId user) const;
  const UsageSum& of_qos_account(NameId qos, NameId account) const;
  const UsageSum& of_association(int64_t id) const;  // with all below it
  int64_t running_tasks(uint32_t array) const;

  // The association of a workload and those above it, up to the root; empty where there is none.
  const std::vector<const Association*>& chain_of(const Workload& workload) const;

 private:
  using Pair = std::pair<NameId, NameId>;
  std::vector<const Association*> find_chain(const Job& job) const;

  const State& state_;
  std::map<NameId, UsageSum> qos_;
  std::map<Pair, UsageSum> qos_user_, qos_account_;
  std::map<int64_t, UsageSum> association_;
  std::map<uint32_t, int64_t> array_;
  std::map<std::pair<std::string, std::string>, std::vector<int64_t>> by_account_user_;
  mutable std::map<std::tuple<NameId, NameId, NameId>, std::vector<const Association*>> chains_;
};

}  // namespace fairlead
