#include "fabric/capacity_index.h"

namespace fairlead {

CapacityIndex capacity_of(const Fleet& fleet, const FleetTree& tree, std::string_view model,
                          const SliceTable* slices) {
  std::vector<CapacityNode> nodes;
  for (NodeIndex i = 0; i < fleet.nodes().size(); ++i) {
    const FleetNode& node = fleet.node(i);
    int64_t devices = 0;
    for (const DeviceGroup& group : node.facts.devices) {
      if (model.empty() || group.model == model) devices += group.count;
    }
    if (!node.present || devices <= 0) continue;
    nodes.push_back(
        {.node = i,
         .leaf = tree.leaf_of[i],
         .devices = static_cast<int32_t>(std::min<int64_t>(devices, kDevicesPerNodeMax)),
         .cpus = std::max(0, node.facts.cpus - node.facts.cpus_used),
         .memory_mb = std::max<int64_t>(0, node.facts.memory_mb - node.facts.memory_used_mb)});
  }
  CapacityIndex index(tree.tree, nodes, slices);
  for (const CapacityNode& n : nodes)
    index.set_in_service(index.position(n.node).value(), fleet.node(n.node).usable);
  return index;
}

}  // namespace fairlead
