// A placement as text and as a table of its places.
#pragma once

#include "present/layout.h"
#include "present/table.h"
#include "views/placement_view.h"

namespace fairlead {

std::string placement_text(const PlacementTold& placement, const TextOptions& options);
Table placement_table(const PlacementTold& placement);

}  // namespace fairlead
