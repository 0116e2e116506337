#include "views/node_report.h"

#include <set>

namespace fairlead {

NodeReport by_node(const Fabric& fabric) {
  NodeReport report{.site = fabric.site, .as_of = fabric.as_of, .nodes = {}};
  for (const NodeView& n : fabric.nodes) {
    std::set<std::string> holders;
    for (const DeviceView& d : n.devices) {
      if (!d.workload.empty()) holders.insert(d.workload);
    }
    report.nodes.push_back({.node = n.node,
                            .state = n.state,
                            .leaf = n.leaf,
                            .models = n.models,
                            .gpus_total = n.gpus_total,
                            .gpus = n.gpus,
                            .workloads = {holders.begin(), holders.end()}});
  }
  return report;
}

}  // namespace fairlead
