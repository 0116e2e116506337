#include "contest/board_room.h"

#include "base/check.h"

namespace fairlead::contest {

using policy::RunningWork;
using policy::Work;

const Places& BoardRoom::places_of(const Work& work) const {
  const auto job = static_cast<JobIndex>(work.id);
  const auto taken = taken_.find(job);
  return taken != taken_.end() ? taken->second : arena_.run(job).places;
}

bool BoardRoom::fits_without(const Work& work, std::span<const RunningWork* const> gone) const {
  for (const RunningWork* r : gone) board_.give_back(gang_of(r->work), places_of(r->work));
  const bool fits = board_.fits(gang_of(work));
  for (const RunningWork* r : gone) board_.take(gang_of(r->work), places_of(r->work));
  return fits;
}

void BoardRoom::take(const Work& work) {
  auto places = board_.places_for(gang_of(work));
  CHECK(places.has_value());
  board_.take(gang_of(work), *places);
  taken_[static_cast<JobIndex>(work.id)] = std::move(*places);
}

void BoardRoom::give_back(const RunningWork& gone) {
  board_.give_back(gang_of(gone.work), places_of(gone.work));
  taken_.erase(static_cast<JobIndex>(gone.work.id));
}

}  // namespace fairlead::contest
