// How many devices of a class will be free when, if all that runs ends when it is due; and who is
// promised some of them from when to when. Counts alone: where they stand is asked at the start.
//
// Cost: O(steps) to ask and to promise; there are at most as many steps as runs and promises.
#pragma once

#include "contest/arena.h"
#include "contest/line.h"

namespace fairlead::contest {

class Profile {
 public:
  Profile(const Arena& arena, DeviceId device);

  // The first instant from which `size` devices are free for so long; kNever: there are not so
  // many.
  int64_t earliest(int64_t size, int64_t length) const;
  void promise(int64_t from, int64_t length, int64_t size);

 private:
  struct Step {
    int64_t at = 0, free = 0;  // from then to the next step
  };
  size_t step_at(int64_t at);
  std::vector<Step> steps_;
};

// One pass of conservative backfill (Mu'alem and Feitelson 2001): each job of the line, in order,
// is promised the earliest time at which its devices are free as long as it may run; whoever's time
// is now starts. The promises are made anew at each pass, so nobody's gets later but by who is
// ahead. Behind the first `tests_most` nobody is tested.
void backfill(Arena& arena, Line& line, DeviceId device, int tests_most,
              const std::function<void(JobIndex)>& started = {});

}  // namespace fairlead::contest
