#include "policy/calendar.h"

#include <set>

#include "policy/week.h"

namespace fairlead::policy {
namespace {

// Minutes since Monday 00:00 of the local week.
int local_minute(const Zone& zone, Instant at) {
  constexpr int64_t kThursday = int64_t{3} * kMinutesOfDay;  // 1970-01-01
  const int64_t local = floor_seconds(at) + zone.offset_seconds(at);
  const int64_t minute = (local >= 0 ? local : local - 59) / 60 + kThursday;
  return static_cast<int>((minute % kMinutesOfWeek + kMinutesOfWeek) % kMinutesOfWeek);
}

}  // namespace

std::vector<std::string> zones_of(const Organisation& organisation) {
  std::set<std::string> zones;
  for (const Team& team : organisation.teams)
    for (const Window& window : team.windows) zones.insert(window.zone);
  return {zones.begin(), zones.end()};
}

const Window* open_window(const Team& team, const Zones& zones, Instant at) {
  for (const Window& w : team.windows) {
    const auto zone = zones.find(w.zone);
    if (zone == zones.end()) continue;
    if (is_open({w.days, w.begin_minute, w.end_minute}, local_minute(zone->second, at))) return &w;
  }
  return nullptr;
}

const std::vector<Limits>& limits_at(const Team& team, const Zones& zones, Instant at) {
  const Window* window = open_window(team, zones, at);
  return window == nullptr ? team.limits : window->limits;
}

int64_t weight_at(const Team& team, const Zones& zones, Instant at) {
  const Window* window = open_window(team, zones, at);
  return window == nullptr ? team.weight : window->weight;
}

void follow_calendar(const Organisation& organisation, const Zones& zones, Instant at,
                     Quota& quota) {
  for (TeamId t = 0; t < organisation.teams.size(); ++t) {
    const std::vector<Limits>& limits = limits_at(organisation.teams[t], zones, at);
    for (DeviceId d = 0; d < limits.size(); ++d) quota.set_limits(t, d, limits[d]);
  }
}

}  // namespace fairlead::policy
