// The fleet as a table: each node with its devices by column, its state, and the age of the facts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/state.h"

namespace fairlead {

struct DeviceView {
  int32_t index = 0;
  std::string model;
  Column column = Column::free;
  std::string workload;  // that holds it
  Look look = Look::unknown;
  Instant looked_at;
  bool operator==(const DeviceView&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeviceView, (), (index, model, column, workload, look, looked_at))

struct NodeView {
  std::string node, state, models, leaf, reason;
  ByColumn gpus;
  int64_t gpus_total = 0;
  int64_t cpus = 0, cpus_used = 0, memory_mb = 0, memory_used_mb = 0;
  std::vector<std::string> features;
  Instant seen;
  std::vector<DeviceView> devices;
  bool operator==(const NodeView&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeView, (),
                      (node, state, models, leaf, reason, gpus, gpus_total, cpus, cpus_used,
                       memory_mb, memory_used_mb, features, seen, devices))

struct SwitchView {
  std::string name;
  int32_t level = 0;
  std::string nodes;  // hostlist
  int64_t gpus_total = 0, gpus_free = 0, nodes_whole_free = 0;
  bool operator==(const SwitchView&) const = default;
};
BOOST_DESCRIBE_STRUCT(SwitchView, (), (name, level, nodes, gpus_total, gpus_free, nodes_whole_free))

struct Fabric {
  std::string apiVersion = "fairlead/v1", kind = "Fabric";
  std::string site;
  Instant as_of;
  std::vector<NodeView> nodes;
  std::vector<SwitchView> switches;
  bool operator==(const Fabric&) const = default;
};
BOOST_DESCRIBE_STRUCT(Fabric, (), (apiVersion, kind, site, as_of, nodes, switches))

Fabric fabric_of(const State& state);

std::string state_text(const FleetNode& node);                     // "idle", "mixed+drain"
std::string models_text(const Node& node);                         // "8xh100"
std::map<std::string, std::string> leaves_of(const State& state);  // the leaf switch of each node

}  // namespace fairlead
