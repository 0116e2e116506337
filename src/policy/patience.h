// Whether taking back is worth it. A claimant may take by the rules of take_back.h; it does where
// that gives more than it loses, and else waits for what ends by itself:
//
//   lost    device-seconds that the victims would do again
//   saved   devices of the claimant, times how long it would wait otherwise: until so much of what
//           runs has ended, as it is likely to, that it fits
//
// So an owner waits for churn that is near. Where that was predicted wrong it takes as soon as it
// has waited for as much as taking back would have lost when its claim began. Where nobody's end
// can be predicted, waiting is without end, and what is its own is taken. What one claimant waits
// for is not counted on by those behind it. Not weighed: work that `reclaim idle` has found, and
// what an `anywhere` class claims of those that it preempts, since an organisation declares that
// for what cannot wait.
//
// Cost: O(running) for the first claimant of a look, O(log running) for each end it waits for.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/describe.h"
#include "policy/reservation.h"
#include "policy/take_back.h"

namespace fairlead::policy {

// What a claimant waits for that could take back.
struct Patience {
  WorkId of = 0;                     // of those that are alike, the first
  Milli ends;                        // devices of work that is likely to have ended
  Instant by;                        // by then
  int64_t lost_device_seconds = 0;   // by taking back now
  int64_t saved_device_seconds = 0;  // by it
  bool operator==(const Patience&) const = default;
};
BOOST_DESCRIBE_STRUCT(Patience, (), (of, ends, by, lost_device_seconds, saved_device_seconds))

// Since when those have waited, look after look, who could take back.
using Claims = std::map<WorkId, Instant>;

// "taking back now would lose 340 GPU-hours to save 20"
std::string to_text(const Patience& patience);

// Weighs the claims of one look, in their order.
class Scales {
 public:
  Scales(const Organisation& organisation, const Claims* claims)
      : org_(organisation), claims_(claims) {}

  // Nothing: it is worth it.
  std::optional<Patience> weigh(const Field& field, const Work& claimant,
                                const std::vector<Victim>& victims, const std::vector<bool>& gone);

 private:
  Instant claims_since(const Work& claimant, Instant now) const;

  const Organisation& org_;
  const Claims* claims_;
  std::map<DeviceId, Ends> ends_;
  std::set<const RunningWork*> counted_on_;
};

}  // namespace fairlead::policy
