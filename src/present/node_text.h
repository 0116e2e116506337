// The fleet by node, the path between two nodes, what changed: in a terminal and as tables.
#pragma once

#include <string>

#include "present/layout.h"
#include "views/fabric_log.h"
#include "views/fabric_path.h"
#include "views/node_report.h"

namespace fairlead {

std::string node_report_text(const NodeReport& report, const TextOptions& options = {});
Table node_report_table(const NodeReport& report);

std::string fabric_path_text(const FabricPath& path, const TextOptions& options = {});
Table fabric_path_table(const FabricPath& path);

std::string fabric_diff_text(const FabricDiff& diff, const TextOptions& options = {});
Table fabric_diff_table(const FabricDiff& diff);

}  // namespace fairlead
