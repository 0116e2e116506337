// The site of a scenario: made from its lines, and changed by later ones.
//
// Rules may stand anywhere before the first event, so lines are kept until then. Each function
// that reads words returns what is wrong with them, or nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario_words.h"
#include "sim/watched_site.h"

namespace fairlead {

class ScenarioSite {
 public:
  // A line that is no event.
  std::string take_line(std::string_view line);

  // With the lines so far; says whether it was made just now.
  std::string make(bool& made);
  WatchedSite& watched() { return *site_; }  // Requires: made.
  SlurmModel& slurm() { return site_->slurm(); }

  // "nodes", "partition", "qos", "account", "licence"; replaces what had the name.
  std::string set(std::string_view what, ScenarioWords& words);
  std::string change_partition(ScenarioWords& words);  // up or down
  std::string reserve(std::string_view verb, ScenarioWords& words);

  // Slurm takes a job only from a user whom it knows in the account.
  void know(const Job& job);
  const std::string& default_partition() const { return partition_; }  // the first one

 private:
  std::string set_rule(std::string_view what, ScenarioWords& words);
  std::string set_nodes(ScenarioWords& words);
  std::string set_partition(ScenarioWords& words);
  std::string set_limit(std::string_view what, ScenarioWords& words);
  // Ids of the account tree, given once; 1 is the root.
  int64_t association_id(const std::string& account, const std::string& user);

  WatchRules rules_;
  ModelRules model_;
  std::vector<std::string> lines_;  // until it is made
  std::unique_ptr<WatchedSite> site_;
  std::string partition_;
  std::map<std::pair<std::string, std::string>, int64_t> associations_;  // by account and user
};

}  // namespace fairlead
