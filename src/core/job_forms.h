// The forms that a job says it accepts, as its scheduler states them.
//
//   --nodes=2-8                  each number of nodes, up to kFormsMax of them
//   --partition=a100,h100        each class of devices that its partitions have, where it names no
//                                model
//   --time-min=1h                a shorter time limit, of each of these: as long as is left until a
//                                reservation; or, of work that is promised, as the planner says
//                                (policy/form.h)
//
// A form leaves out the nodes that a reservation will keep from it before it would end: at another
// time it may be another (core/kept_nodes.h).
//
// What a scheduler fills in itself is no declaration: where most nodes are as many as tasks, nobody
// asked for more.
#pragma once

#include <vector>

#include "core/state.h"

namespace fairlead {

constexpr int32_t kFormsMax = 16;  // chosen

// The one it asks for first: the fewest nodes, the first partition.
std::vector<Job> forms_of(const State& state, const Job& job);

}  // namespace fairlead
