#include "policy/room.h"

namespace fairlead::policy {

bool CountedRoom::fits_without(const Work& work, std::span<const RunningWork* const> gone) const {
  Milli free = free_[work.device];
  for (const RunningWork* r : gone)
    if (r->work.device == work.device) free = free + r->work.size;
  return work.size <= free;
}

void CountedRoom::give_back(const RunningWork& gone) {
  Milli& free = free_[gone.work.device];
  free = free + gone.work.size;
}

}  // namespace fairlead::policy
