// Why a workload waits: all its blockers at once, not the scheduler's one.
//
// An Explainer answers any number of questions about one state; what is common to them (sums of
// what runs, rooms of the nodes, the order of what waits) is made once. It only reads. Cost:
// O(workloads that hold) to make; then O(nodes) for the first question of a shape and O(depth of
// the account tree) for each further one of that shape.
#pragma once

#include <map>
#include <optional>

#include "core/books.h"
#include "core/team_books.h"
#include "explain/blocker.h"
#include "explain/holders.h"
#include "explain/usage.h"

namespace fairlead {

class Explainer {
 public:
  explicit Explainer(const State& state);

  // What is asked for by its name or number, also after the scheduler has forgotten it. A
  // heterogeneous job is told with all its components. Nothing where nobody has heard of it.
  std::optional<Explanation> explain(std::string_view label);

  Explanation explain(const Workload& workload);
  std::vector<Blocker> blockers_of(const Workload& workload);  // in the order of their codes

  // The workload that the scheduler calls so, or that has this number.
  const Workload* find(std::string_view label) const;

 private:
  friend struct PolicyRules;
  friend struct CapacityRules;
  friend struct OrganisationRules;

  void add_components(const Workload& workload, Explanation& explanation);
  const Fit& fit_of(const Shape& shape);
  const std::vector<bool>& members(const std::string& partition);
  int64_t ahead_of(const Workload& workload, std::vector<Holder>* first) const;
  const policy::Quota& quota();  // Requires: an organisation is known.

  const State& state_;
  Usage usage_;
  std::vector<NodeRoom> rooms_;
  std::map<Shape, Fit> fits_;
  std::map<std::string, std::vector<bool>> members_;
  std::optional<policy::Quota> quota_;
};

}  // namespace fairlead
