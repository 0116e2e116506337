// The state as Prometheus's text exposition.
//
// Cardinality is bounded: one series per (model, team, class, column) that ever held something, and
// small fixed sets else. Work that turns out lost moves from one column to another; a counter never
// goes back, so it waits until the sum has caught up.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/state.h"
#include "model/decision.h"
#include "views/report.h"

namespace fairlead {

class Metrics {
 public:
  void count(const std::string& site, const std::vector<Decision>& decisions);
  void observe_step(double seconds);

  // The page of all sites.
  std::string page(const std::vector<const State*>& sites);

 private:
  void never_back(const std::string& series, double value);
  void write_counter(std::string& out, const std::string& name) const;

  std::map<std::string, double> last_;  // of counters, by series
  std::map<std::string, int64_t> decisions_;
  std::vector<int64_t> step_buckets_ = std::vector<int64_t>(8, 0);
  double step_sum_ = 0;
  int64_t steps_ = 0;
};

}  // namespace fairlead
