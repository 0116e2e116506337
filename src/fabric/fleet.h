// The accelerators of a site: nodes, their devices, the switches above them.
//
// Nodes and devices have dense numbers that are never reused: a node that leaves stays as "absent"
// and comes back under its number with the same name. Device numbers of a node need not be
// consecutive, since a node may gain devices later.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "model/node.h"

namespace fairlead {

using NodeIndex = uint32_t;
using DeviceIndex = uint32_t;

struct Device {
  NodeIndex node = 0;
  int32_t index = 0;  // on its node
  NameId model = 0;
  bool present = true;
  bool operator==(const Device&) const = default;
};
BOOST_DESCRIBE_STRUCT(Device, (), (node, index, model, present))

struct FleetNode {
  Node facts;
  bool present = true;
  bool usable = false;               // takes work, as far as its last known state says
  Instant seen;                      // when its facts were last stated
  std::vector<DeviceIndex> devices;  // by index on the node; all present
  bool operator==(const FleetNode&) const = default;
};
BOOST_DESCRIBE_STRUCT(FleetNode, (), (facts, present, usable, seen, devices))

struct FleetData {
  std::vector<FleetNode> nodes;
  std::vector<Device> devices;
  std::vector<Switch> switches;
  bool operator==(const FleetData&) const = default;
};
BOOST_DESCRIBE_STRUCT(FleetData, (), (nodes, devices, switches))

struct FleetChange {
  NodeIndex node = 0;
  std::vector<DeviceIndex> added;
  std::vector<DeviceIndex> removed;
  bool changed = false;  // any fact
};

class Fleet {
 public:
  Fleet() = default;
  explicit Fleet(FleetData data);

  FleetChange state(const Node& facts, Instant at, NameTable& names);
  std::optional<FleetChange> remove(std::string_view name);
  void set_switches(std::vector<Switch> switches) { data_.switches = std::move(switches); }

  std::optional<NodeIndex> find(std::string_view name) const;
  const FleetNode& node(NodeIndex i) const { return data_.nodes[i]; }
  const Device& device(DeviceIndex i) const { return data_.devices[i]; }
  const std::vector<FleetNode>& nodes() const { return data_.nodes; }
  const std::vector<Device>& devices() const { return data_.devices; }
  const std::vector<Switch>& switches() const { return data_.switches; }
  std::optional<DeviceIndex> device_at(NodeIndex node, int32_t index) const;
  int64_t present_devices() const { return present_; }
  const FleetData& data() const { return data_; }

 private:
  FleetData data_;
  boost::unordered_flat_map<std::string, NodeIndex> by_name_;
  int64_t present_ = 0;
};

// Whether the scheduler may start work on a node in this state. Nothing where the state says
// nothing (a controller that has just started knows no state yet): the caller keeps what it knew.
std::optional<bool> usable(const Node& facts);

// A MIG instance, as Slurm names it: "1g.10gb", "a100_3g.20gb". It is numbered among the node's
// instances, not among its devices, so what an exporter says of device 3 says nothing of it.
bool is_slice_model(std::string_view model);

}  // namespace fairlead
