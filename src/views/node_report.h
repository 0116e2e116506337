// The fleet by node, as it is now. The ledger keeps no nodes, so there are no seconds here.
#pragma once

#include <string>
#include <vector>

#include "views/fabric_view.h"

namespace fairlead {

struct NodeRow {
  std::string node, state, leaf, models;
  int64_t gpus_total = 0;
  ByColumn gpus;
  std::vector<std::string> workloads;  // that hold its GPUs
  bool operator==(const NodeRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeRow, (), (node, state, leaf, models, gpus_total, gpus, workloads))

struct NodeReport {
  std::string apiVersion = "fairlead/v1", kind = "NodeReport";
  std::string site;
  Instant as_of;
  std::vector<NodeRow> nodes;
  bool operator==(const NodeReport&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeReport, (), (apiVersion, kind, site, as_of, nodes))

NodeReport by_node(const Fabric& fabric);

}  // namespace fairlead
