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
#include "core/engine.h"
#include "core/team_books.h"
#include "explain/blocker.h"
#include "explain/holders.h"
#include "explain/usage.h"

namespace fairlead {

class Explainer {
 public:
  explicit Explainer(const State& state);
  // With cures that were put to the planner. Cost of these: explain/cures.h.
  explicit Explainer(const Engine& engine);

  // What is asked for by its name or number, also after the scheduler has forgotten it. A
  // heterogeneous job is told with all its components. Nothing where nobody has heard of it.
  std::optional<Explanation> explain(std::string_view label);

  Explanation explain(const Workload& workload);

  // The same of a workload that nobody submitted. Requires: made of an engine.
  Explanation explain_supposed(const Workload& workload);
  // In the order of their codes; by what the planner says, if not by its last look.
  std::vector<Blocker> blockers_of(const Workload& workload,
                                   const policy::Decision* verdict = nullptr);

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
  const Engine* engine_ = nullptr;  // of whom cures are asked
  std::optional<Answer> supposed_;  // what the planner says of what was not submitted
  Usage usage_;
  std::vector<NodeRoom> rooms_;
  std::map<Shape, Fit> fits_;
  std::map<std::string, std::vector<bool>> members_;
  std::optional<policy::Quota> quota_;
};

}  // namespace fairlead
