#include "sim/walk_wire.h"

#include <utility>

namespace fairlead {

void WalkWire::pass(std::vector<Event>& events, Rng& rng) {
  std::vector<Event> arrived = std::exchange(late_, {});
  for (Event& event : events) {
    if (Samples* samples = std::get_if<Samples>(&event.what)) {
      for (DeviceSample& sample : samples->samples)
        if (faults.lying > 0 && rng.chance(faults.lying)) lie(sample, rng);
    }
    if (rng.chance(faults.lost)) continue;
    if (rng.chance(faults.late)) {
      late_.push_back(event);
      continue;
    }
    if (rng.chance(faults.doubled)) arrived.push_back(event);
    arrived.push_back(std::move(event));
  }
  events = std::move(arrived);
}

void WalkWire::lie(DeviceSample& s, Rng& rng) {
  switch (rng.below(7)) {
    case 0:
      s.at = s.at + seconds(rng.between(-100'000, 100'000));
      break;
    case 1:
      s.index = static_cast<int32_t>(rng.between(-2, 40));
      break;
    case 2:
      s.node = "nowhere";
      break;
    case 3:
      s.utilisation_ppm = static_cast<int64_t>(rng.next());
      break;
    case 4:
      s.memory_used_mib = static_cast<int64_t>(rng.next());
      break;
    case 5:
      s.at = {INT64_MAX};
      break;
    default:
      s = {.node = s.node, .index = s.index, .at = s.at};
      break;
  }
}

}  // namespace fairlead
