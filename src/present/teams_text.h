// Teams in a terminal: the tree, what is nobody's, what is misspelt.
#pragma once

#include <string>

#include "present/layout.h"
#include "views/teams_view.h"

namespace fairlead {

std::string teams_text(const TeamList& list, const TextOptions& options = {});
Table teams_table(const TeamList& list);  // for programs

}  // namespace fairlead
