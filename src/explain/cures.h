// Cures that were tried: each change of a request that is told is put to the planner first.
//
// A cure is told only where, with the change made, its blocker is gone. Where nothing else is left
// that keeps the job, and the planner would start it without taking anything back, it is told that
// the job starts; else what is left. Where no change does it, waiting is all there is to tell.
//
// Tried are few changes, from the largest that could do: kCuresTried of each blocker. Cost: a
// question to the planner (Engine::ask) and the job's rules anew for each.
#pragma once

#include "core/engine.h"
#include "explain/blocker.h"

namespace fairlead {

class Explainer;

constexpr size_t kCuresTried = 6;  // chosen

// What the job asks for, with `request` instead of what it does.
Job with_request(Job job, const CureRequest& request);

// Of blockers of room and of the organisation's rules. Requires: an organisation is known, and the
// workload waits.
void try_cures(Explainer& explainer, const Engine& engine, const Workload& workload,
               Explanation& explanation);

}  // namespace fairlead
