// To which team and class a workload belongs.
//
// Where an organisation is known, it decides when the workload is first seen, and the answer stays:
// through requeues, restarts of ours and later organisations. Until one is known, the team is the
// Slurm account and the class the QOS, as the job states them; the first organisation decides on
// what was there already. A task of an array belongs where its array does.
#pragma once

#include <optional>

#include "core/state.h"

namespace fairlead {

// The team of what no rule of the organisation matches, as books and reports call it.
inline constexpr const char* kUnassigned = "(unassigned)";

// "acme v7"; empty where none is known.
std::string organisation_title(const State& state);

// Suggests where an organisation is known, unless whoever stated it wants us only to observe.
Stage stage_of(const State& state);

struct Belonging {
  std::string team, klass;  // kUnassigned where no rule matches; no class
  std::vector<policy::Slip> slips;
};
// What would be decided of a job. Requires: an organisation is known.
Belonging belonging_of(const State& state, const Job& job);

// Decides on a workload that is not assigned yet. Requires: an organisation is known.
// `array` is the record of the array that it is a task of, or null.
void assign(State& state, Workload& workload, const Workload* array);

// Decides on everything that the scheduler lists and is not assigned yet; what its present run has
// used goes with it. Requires: an organisation is known.
void assign_all(State& state);

// One sentence: what is wrong, and what to do.
std::string told(const policy::Slip& slip);

// As the organisation of today has them: nothing for what is nobody's, for what was not assigned,
// and for a team or class that is no longer there.
std::optional<policy::TeamId> team_of(const State& state, const Workload& workload);
std::optional<policy::ClassId> class_of(const State& state, const Workload& workload);

}  // namespace fairlead
