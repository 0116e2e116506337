// Blockers that come from the rules of the organisation, and what the planner says.
//
// They hold back nothing as long as Fairlead only observes and suggests: they are told as what the
// rules say, and whether the scheduler agrees is not asked of them.
#pragma once

#include "explain/explain.h"

namespace fairlead {

struct OrganisationRules {
  // `verdict`: null, that of the last look.
  static void limits(Explainer& e, const Workload& w, const policy::Decision* verdict,
                     std::vector<Blocker>& out);
  static VerdictTold verdict(Explainer& e, const Workload& w);

 private:
  static bool tell_of_moves(const Explainer& e, const Workload& w, VerdictTold& told);
};

// When it will start. Requires: it waits.
StartTold start_of(const State& state, const Workload& workload);

}  // namespace fairlead
