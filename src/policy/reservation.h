// When work that does not fit now will, if what runs ends as predicted.
//
// Cost: O(running) to begin with, O(log running) for each end that is asked for.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "policy/quota.h"
#include "policy/room.h"

namespace fairlead::policy {

// What runs on one class of devices, the first to end first; sorted as far as it is asked.
class Ends {
 public:
  enum class By : uint8_t {
    limit,  // at the latest: what others may count on
    likely  // as runs like it have gone: what waiting is worth
  };
  Ends(std::span<const RunningWork> running, DeviceId device, By by);

  struct End {
    Instant at;
    const RunningWork* of = nullptr;
  };
  // The n-th; null: there are not so many whose end is known.
  const End* find(size_t n);

 private:
  std::vector<End> heap_;    // the first to end on top
  std::vector<End> sorted_;  // taken from it
};

// The earliest time at which somebody fits, and what will be gone by then.
struct Reservation {
  const Work* of = nullptr;
  Instant at;  // unknown: nobody can move what nobody knows
  std::vector<const RunningWork*> gone;
};

struct Standing {
  const Quota& quota;
  const Room& room;
  Instant now;
};
// `counts` says of whose end nobody else makes use.
Reservation earliest(const Work& work, const Standing& standing, Ends& ends,
                     const std::function<bool(const RunningWork&)>& counts = {});

}  // namespace fairlead::policy
