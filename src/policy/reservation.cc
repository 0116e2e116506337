#include "policy/reservation.h"

#include <algorithm>

namespace fairlead::policy {
namespace {

Instant end_of(const RunningWork& r, Ends::By by) {
  if (by == Ends::By::limit || !r.ends_likely.known()) return r.ends;
  return r.ends.known() ? std::min(r.ends, r.ends_likely) : r.ends_likely;
}
bool later(const Ends::End& a, const Ends::End& b) {
  return std::pair(a.at, a.of->work.id) > std::pair(b.at, b.of->work.id);
}

}  // namespace

Ends::Ends(std::span<const RunningWork> running, DeviceId device, By by) {
  for (const RunningWork& r : running) {
    const Instant at = end_of(r, by);
    if (r.work.device == device && at.known()) heap_.push_back({at, &r});
  }
  std::ranges::make_heap(heap_, later);
}

const Ends::End* Ends::find(size_t n) {
  while (sorted_.size() <= n && !heap_.empty()) {
    std::ranges::pop_heap(heap_, later);
    sorted_.push_back(heap_.back());
    heap_.pop_back();
  }
  return n < sorted_.size() ? &sorted_[n] : nullptr;
}

// By count first, which is cheap. Where it stands is asked of those lengths alone that are long
// enough: twice as many more, until it fits, and then between the last two.
Reservation earliest(const Work& work, const Standing& standing, Ends& ends,
                     const std::function<bool(const RunningWork&)>& counts) {
  Quota then = standing.quota;
  Milli free = standing.room.free(work.device);
  std::vector<const RunningWork*> gone;  // in the order in which they end
  std::vector<Instant> at;               // when
  size_t next = 0;
  const auto end_next = [&] {
    const Ends::End* end = ends.find(next++);
    while (end != nullptr && counts && !counts(*end->of)) end = ends.find(next++);
    if (end == nullptr) return false;
    gone.push_back(end->of);
    at.push_back(end->at);
    return true;
  };
  const auto enough = [&] {
    return work.size <= std::min(free, then.headroom(work.team, work.device));
  };
  while (!enough()) {
    if (!end_next()) return {.of = &work, .at = {}, .gone = {}};
    const Work& ended = gone.back()->work;
    then.refund(ended.team, ended.device, ended.size);
    free = free + ended.size;
  }
  const auto fits = [&](size_t n) {
    return standing.room.fits_without(work, std::span(gone).first(n));
  };
  size_t least = gone.size();
  for (size_t more = 1; !fits(gone.size()); more *= 2) {
    least = gone.size() + 1;
    size_t ended = 0;
    while (ended < more && end_next()) ++ended;
    if (ended == 0) return {.of = &work, .at = {}, .gone = {}};
  }
  size_t most = gone.size();  // the more is gone, the more fits
  while (least < most) {
    const size_t half = (least + most) / 2;
    if (fits(half))
      most = half;
    else
      least = half + 1;
  }
  gone.resize(least);
  const Instant when = least == 0 ? standing.now : std::max(at[least - 1], standing.now);
  return {.of = &work, .at = when, .gone = std::move(gone)};
}

}  // namespace fairlead::policy
