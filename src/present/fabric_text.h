// The fleet in a terminal: one line for each node, or the switches as a tree.
#pragma once

#include <string>

#include "present/layout.h"
#include "views/fabric_view.h"

namespace fairlead {

std::string fabric_text(const Fabric& fabric, const TextOptions& options = {});
std::string fabric_tree(const Fabric& fabric, const TextOptions& options = {});
Table fabric_table(const Fabric& fabric);  // one row for each node, for programs

}  // namespace fairlead
