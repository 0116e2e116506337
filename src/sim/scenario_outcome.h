// What a scenario prints: decisions as they are made, and reports. Ids differ from one Slurm to the
// next; so workloads go by their names.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "sim/scenario.h"
#include "sim/watched_site.h"

namespace fairlead {

class ScenarioOutcome {
 public:
  ScenarioOutcome(WatchedSite& site, const ScenarioOptions& options)
      : site_(site), options_(options) {}

  void say(std::string_view verb, std::string_view who, std::string_view what);
  void remember(const Job& job);  // its name, for when only its label is told
  void tell(const Decision& decision);
  void report();
  std::string take() { return std::exchange(out_, {}); }

 private:
  std::string name_of(const std::string& label) const;
  void tell_devices(const State& state);
  void tell_workload(const State& state, const Workload& workload);

  WatchedSite& site_;
  const ScenarioOptions& options_;
  std::map<std::string, std::string> names_;  // by label
  std::map<WorkloadId, std::string> names_by_workload_;
  std::string out_;
};

}  // namespace fairlead
