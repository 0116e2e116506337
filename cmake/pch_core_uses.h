// What templates many files would otherwise make of these types anew: copies, moves, destructors.
#pragma once

#include <utility>

#include "core/engine.h"

namespace fairlead::precompiled {

template <class T>
void use(T& a, T& b) {
  T copy = a;
  T moved = std::move(copy);
  a = b;
  b = std::move(moved);
}

inline void use_of_state(State& state, Event& event, Job& job, std::vector<Event>& events) {
  use(state, state);
  use(event, event);
  use(job, job);
  use(events, events);
  events.push_back(event);
  events.emplace_back(std::move(event));
}

}  // namespace fairlead::precompiled
