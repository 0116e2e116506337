// Work that the scheduler below refuses: it is parked with the cause, and does not hold the front.
//
// Two refusals for one cause may be chance. From the third on the work is left out of each look for
// a while: 10 s, twice as long after each refusal more, 10 min at most; then it is tried again.
// What starts, or is refused for another cause, begins anew.
#pragma once

#include <map>
#include <string>

#include "base/describe.h"
#include "base/time.h"
#include "policy/work.h"

namespace fairlead::policy {

constexpr int kRefusalsMax = 3;                                          // given
constexpr Duration kParkedMin = seconds(10), kParkedMax = seconds(600);  // given

class Parking {
 public:
  struct Stay {
    std::string cause;  // the scheduler's own words
    int refusals = 0;
    Instant until;  // unknown: it is not parked
    bool operator==(const Stay&) const = default;
  };

  void refused(WorkId work, const std::string& cause, Instant now);
  void forget(WorkId work) { stays_.erase(work); }  // it started, or waits no more

  // Null: it takes part.
  const Stay* find(WorkId work, Instant now) const;

 private:
  std::map<WorkId, Stay> stays_;
};

}  // namespace fairlead::policy
