// Blockers that come from room on nodes, and from who comes first.
#pragma once

#include "explain/explain.h"

namespace fairlead {

struct CapacityRules {
  static void reservation(Explainer& e, const Workload& w, std::vector<Blocker>& out);
  static void room(Explainer& e, const Workload& w, std::vector<Blocker>& out);
  static void order(Explainer& e, const Workload& w, std::vector<Blocker>& out);

 private:
  static void room_for(Explainer& e, const Workload& w, const Shape& shape,
                       std::vector<Blocker>& out);
};

}  // namespace fairlead
