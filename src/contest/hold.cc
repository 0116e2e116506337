#include "contest/hold.h"

#include <algorithm>

namespace fairlead::contest {

Hold::Hold(const Arena& arena, const Gang& gang) : later_(arena.board()), left_(arena.board()) {
  if (later_.fits(gang)) at_ = arena.now();
  for (const auto& [due, running] : arena.due(gang.device)) {
    if (at_ != kNever) break;
    later_.give_back(arena.run(running).form.gang, arena.run(running).places);
    if (later_.fits(gang)) at_ = std::max(due, arena.now() + 1);
  }
  if (at_ == kNever) return;
  later_.take(gang, *later_.places_for(gang));
  for (NodeNumber n = later_.first(gang.device); n < later_.end(gang.device); ++n)
    left_.set_free(n, std::min(left_.free_of(n), later_.free_of(n)));
}

std::optional<Places> Hold::places_for(const Board& now, const Gang& gang, int64_t due) const {
  return due <= at_ ? now.places_for(gang) : left_.places_for(gang);
}

void Hold::started(const Board& now, const Gang& gang, const Places& places, int64_t due) {
  if (due > at_) later_.take(gang, places);
  for (const NodeNumber n : places) left_.set_free(n, std::min(now.free_of(n), later_.free_of(n)));
}

}  // namespace fairlead::contest
