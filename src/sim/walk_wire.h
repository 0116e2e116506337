// What goes wrong between a source and the engine of a random walk: events are lost, come twice or
// late, and samples lie.
#pragma once

#include <vector>

#include "base/rng.h"
#include "model/event.h"

namespace fairlead {

class WalkWire {
 public:
  struct Faults {  // parts in a million
    uint64_t lost = 0, doubled = 0, late = 0, lying = 0;
  };
  Faults faults;

  void pass(std::vector<Event>& events, Rng& rng);
  void forget_late() { late_.clear(); }

 private:
  static void lie(DeviceSample& sample, Rng& rng);
  std::vector<Event> late_;
};

}  // namespace fairlead
