// Telemetry mostly says the same again. A sample that tells the engine nothing but that it was
// taken is replaced by a mark of some bytes, so that neither the journal nor a replay pays for the
// rest.
//
//   the engine after the thinned poll  =  the engine after the poll, byte for byte
#pragma once

#include <span>

#include "core/state.h"
#include "model/event.h"

namespace fairlead {

// Requires: the events of `poll` are the next that the engine of `state` is given.
void thin_samples(const State& state, std::span<Event> poll);

}  // namespace fairlead
