// What teams ought to hold at an instant, and how far they are from it.
//
// Down the tree, for each device class: a team's amount goes to its children and to its own work up
// to what they own, none more than it can use (holds or waits for); what is left goes by weight to
// those who can use more, until nobody can. The team's own work is one more child, which owns
// nothing and has weight 1. What nobody can use stays free.
//
// Windows (`during`) are not followed here: what a team owns is what it owns outside of them.
#pragma once

#include <optional>
#include <vector>

#include "contest/match.h"

namespace fairlead::contest {

// By team, then by device; in devices, rounded down. `wants`: what each team itself holds and waits
// for.
std::vector<int64_t> fair_amounts(const Match& match, const std::vector<int64_t>& wants);

// Half the sum of what teams hold too much and too little, as parts in a million of the fleet.
// Nothing where nobody waits: then everybody has all it wants.
std::optional<int64_t> share_error_ppm(const Match& match, const std::vector<int64_t>& held,
                                       const std::vector<int64_t>& waiting);

}  // namespace fairlead::contest
