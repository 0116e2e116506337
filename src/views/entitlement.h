// What teams of a report hold now beside what they own.
#pragma once

#include "views/report.h"

namespace fairlead {

// Adds what the organisation says of them, over all classes of devices, in whole devices; nothing
// where none is known. Cost: O(devices + workloads that hold).
void add_entitlement(const State& state, std::vector<TeamRow>& teams);

}  // namespace fairlead
