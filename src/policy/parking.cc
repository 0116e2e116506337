#include "policy/parking.h"

#include <algorithm>

namespace fairlead::policy {

void Parking::refused(WorkId work, const std::string& cause, Instant now) {
  Stay& stay = stays_[work];
  if (stay.cause != cause) stay = {.cause = cause, .refusals = 0, .until = {}};
  ++stay.refusals;
  if (stay.refusals < kRefusalsMax) return;
  constexpr int kDoublingsMax = 6;  // more are above the most, whatever
  const int doublings = std::min(stay.refusals - kRefusalsMax, kDoublingsMax);
  stay.until = now + std::min(Duration{kParkedMin.us << doublings}, kParkedMax);
}

const Parking::Stay* Parking::find(WorkId work, Instant now) const {
  const auto stay = stays_.find(work);
  return stay != stays_.end() && now < stay->second.until ? &stay->second : nullptr;
}

}  // namespace fairlead::policy
