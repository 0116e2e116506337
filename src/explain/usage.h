// What runs now, summed as the scheduler's limits count it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/state.h"

namespace fairlead {

// What one job counts for: "gres/gpu", "gres/gpu:<model>", "cpu", "node", "mem" (MB), "license/<name>".
Amounts amounts_of(const State& state, const Workload& workload);

struct UsageSum {
  Amounts tres;
  Amounts running_minutes;  // amounts times the minutes that are still promised
  int64_t jobs = 0;
};

class Usage {
 public:
  explicit Usage(const State& state);

  const UsageSum& of_qos(const std::string& qos) const;
  const UsageSum& of_qos_user(const std::string& qos, const std::string& user) const;
  const UsageSum& of_qos_account(const std::string& qos, const std::string& account) const;
  const UsageSum& of_association(int64_t id) const;  // with all below it
  int64_t running_tasks(uint32_t array) const;

  // The association of a job and those above it, up to the root; empty where there is none.
  std::vector<const Association*> chain_of(const Job& job) const;

 private:
  void add(UsageSum& sum, const Amounts& amounts, int64_t minutes);

  const State& state_;
  std::map<std::string, UsageSum> qos_;
  std::map<std::pair<std::string, std::string>, UsageSum> qos_user_, qos_account_;
  std::map<int64_t, UsageSum> association_;
  std::map<uint32_t, int64_t> array_;
  std::map<std::pair<std::string, std::string>, std::vector<int64_t>> by_account_user_;
};

}  // namespace fairlead
