// What could not stand even if every device were free: no node is such, too few are, or too few lie
// so near each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state.h"
#include "explain/blocker.h"
#include "fabric/shape.h"

namespace fairlead {

// "under 1 switch".
std::string under_switches(int64_t count);

// Fewer nodes could ever take a worker than the request wants. `members`: which nodes its
// partitions have, by NodeIndex.
Blocker never_blocker(const State& state, const Shape& shape, const Fit& found,
                      const std::vector<bool>& members);

// Enough could, and never so many under the leaf switches it allows; empty where they could. Slurm
// drops that wish after a while (slurm.conf, SchedulerParameters=max_switch_wait).
std::optional<Blocker> never_together(const State& state, const Job& job, const Shape& shape,
                                      const Fit& found);

}  // namespace fairlead
