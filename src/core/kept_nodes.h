// What reservations keep from a job: nodes that it would still hold when they begin.
//
// A job may use a reservation that it names (Slurm's --reservation), and one that is open to it
// besides (FLEX, for its users and accounts). Of a reservation of some cores of a node the whole
// node is taken to be kept.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"

namespace fairlead {

bool may_use(const Reservation& reservation, const Job& job);

// If it started now; a job without a limit ends in a year.
Instant would_end(const State& state, const Job& job);

// Requires: `end` is when the job would end.
bool is_in_the_way(const Reservation& reservation, const Job& job, Instant now, Instant end);

struct KeptNodes {
  std::string nodes;  // as a hostlist, in which a node may come twice
  Instant from;       // when the first of those that are to come begins; unknown: none does
  Instant changes;    // when they will be others because time passes; unknown: never
};
KeptNodes kept_from(const State& state, const Job& job);

// The same job, and it excludes these nodes.
Job beside_reservations(const State& state, Job job);

}  // namespace fairlead
