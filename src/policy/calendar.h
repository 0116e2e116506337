// Which `during` window of a team is open at an instant, and what limits hold then.
#pragma once

#include <map>
#include <string>

#include "policy/organisation.h"
#include "policy/quota.h"
#include "policy/zone.h"

namespace fairlead::policy {

using Zones = std::map<std::string, Zone, std::less<>>;

// Every zone that a window names, once, sorted.
std::vector<std::string> zones_of(const Organisation& organisation);

// Returns the open window of the team, or null. Windows of one team never overlap. A window in a
// zone that is not in `zones` is never open: what a team owns outside is what it then has.
const Window* open_window(const Team& team, const Zones& zones, Instant at);

const std::vector<Limits>& limits_at(const Team& team, const Zones& zones, Instant at);
int64_t weight_at(const Team& team, const Zones& zones, Instant at);

// Sets the limits of every team to those that hold at the instant.
void follow_calendar(const Organisation& organisation, const Zones& zones, Instant at,
                     Quota& quota);

}  // namespace fairlead::policy
