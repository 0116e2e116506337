#include "contest/board_room.h"

#include "base/check.h"

namespace fairlead::contest {

using policy::RunningWork;
using policy::Work;

Gang BoardRoom::gang_of(const Work& work) const {
  const Job& job = arena_.job(static_cast<JobIndex>(work.id));
  if (job.gang.device == work.device) return job.gang;
  return arena_.match().form_of(job, *arena_.match().form_on(job, work.device)).gang;
}

const Places& BoardRoom::places_of(const Work& work) const {
  const auto job = static_cast<JobIndex>(work.id);
  const auto taken = taken_.find(job);
  return taken != taken_.end() ? taken->second : arena_.run(job).places;
}

bool BoardRoom::fits_without(const Work& work, std::span<const RunningWork* const> gone) const {
  const Gang gang = gang_of(work);
  free_ = board_.free_by_node();
  for (const RunningWork* r : gone) {
    const Gang other = gang_of(r->work);
    const Places& places = places_of(r->work);
    for (size_t i = 0; i < places.size(); ++i)
      free_[places[i]] += i < static_cast<size_t>(other.full) ? other.each : other.rest;
  }
  int32_t full = 0, rest = 0;  // nodes with room for a whole part, and for the rest alone
  for (NodeNumber n = board_.first(gang.device); n < board_.end(gang.device); ++n) {
    full += free_[n] >= gang.each ? 1 : 0;
    rest += free_[n] >= gang.rest ? 1 : 0;
  }
  return full >= gang.full && (gang.rest == 0 || rest > gang.full);
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
