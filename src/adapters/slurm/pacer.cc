#include "adapters/slurm/pacer.h"

#include <algorithm>

namespace fairlead::slurm {
namespace {

// Jobs take 6 parts of 10 of the share; the small parts that are read every few seconds the rest.
struct Pace {
  Duration shortest, longest;
  int64_t tenths;
};
Pace pace_of(Part part, const PaceLimits& limits) {
  const auto at_least = [&](int64_t s) { return std::max(seconds(s), limits.shortest); };
  switch (part) {
    case Part::jobs:
      return {limits.shortest, std::max(limits.jobs_longest, limits.shortest), 6};
    case Part::nodes:
      return {at_least(2), at_least(15), 1};
    case Part::config:
      return {at_least(5), at_least(30), 1};
    case Part::reservations:
      return {at_least(5), at_least(30), 1};
    case Part::partitions:
    case Part::licences:
    case Part::rules:
      return {at_least(10), at_least(60), 1};
    case Part::steps:
      return {at_least(15), at_least(120), 1};
    case Part::statistics:
      return {at_least(60), at_least(120), 1};
    case Part::topology:
      return {at_least(300), at_least(600), 1};
  }
  return {at_least(60), at_least(60), 1};
}

}  // namespace

Duration Pacer::interval(Part part, Duration cost) const {
  const Pace pace = pace_of(part, limits_);
  const int64_t share = std::max<int64_t>(limits_.share_ppm * pace.tenths / 10, 1);
  const int64_t cost_us = std::clamp<int64_t>(cost.us, 0, seconds(3600).us);
  return std::clamp(Duration{cost_us * 1'000'000 / share}, pace.shortest, pace.longest);
}

std::vector<Part> Pacer::due(Instant now) const {
  std::vector<Part> parts;
  for (const Part part : kParts) {
    if (due_[part] <= now) parts.push_back(part);
  }
  return parts;
}

Instant Pacer::next() const { return *std::ranges::min_element(due_.values); }

void Pacer::was_read(Part part, Instant at, Duration cost, bool ok) {
  due_[part] = at + (ok ? interval(part, cost) : limits_.shortest);
}

void Pacer::hold_off(Instant until) {
  for (Instant& due : due_.values) due = std::max(due, until);
}

}  // namespace fairlead::slurm
