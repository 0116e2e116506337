// A node as its scheduler states it.
#pragma once

#include <string>
#include <vector>

#include "base/describe.h"

namespace fairlead {

enum class NodeState : uint8_t { unknown, idle, mixed, allocated, down, error, future };
BOOST_DESCRIBE_ENUM(NodeState, unknown, idle, mixed, allocated, down, error, future)

// Devices of one model on a node; their indices follow those of the entry before.
struct DeviceGroup {
  std::string model;  // the scheduler's own word ("h100"); empty where it gives none
  int32_t count = 0;
  bool operator==(const DeviceGroup&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeviceGroup, (), (model, count))

struct Node {
  std::string name;
  std::string hostname;  // where it differs from the name
  NodeState state = NodeState::unknown;
  bool drain = false;           // takes no new work
  bool fail = false;            // about to leave service
  bool maintenance = false;     // in a maintenance reservation
  bool reserved = false;        // in a reservation now
  bool not_responding = false;  //
  bool powered_down = false;
  bool planned = false;  // the scheduler's backfill keeps it for a job
  std::string reason;    // why it is down or drained, and who said so
  Instant reason_since;
  std::vector<DeviceGroup> devices;
  int32_t cpus = 0;
  int64_t memory_mb = 0;
  int32_t cpus_used = 0;
  int64_t memory_used_mb = 0;
  std::vector<std::string> features;
  int64_t weight = 0;
  std::string topology;  // "core.spine0.leaf1" where the scheduler states it so
  bool operator==(const Node&) const = default;
};
BOOST_DESCRIBE_STRUCT(Node, (),
                      (name, hostname, state, drain, fail, maintenance, reserved, not_responding,
                       powered_down, planned, reason, reason_since, devices, cpus, memory_mb,
                       cpus_used, memory_used_mb, features, weight, topology))

// A switch of the topology tree: it has nodes (a leaf) or switches below it.
struct Switch {
  std::string name;
  int32_t level = 0;               // 0 is a leaf
  std::vector<std::string> nodes;  // every node below it, at any depth
  std::vector<std::string> switches;
  bool operator==(const Switch&) const = default;
};
BOOST_DESCRIBE_STRUCT(Switch, (), (name, level, nodes, switches))

}  // namespace fairlead
