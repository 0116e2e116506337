// Where a workload could stand, and what that leaves of the room.
#pragma once

#include <string>
#include <vector>

#include "fabric/fleet.h"

namespace fairlead {

// What is free of the models that the workload could have.
struct RoomLeft {
  int64_t devices = 0;      // free
  int64_t whole_nodes = 0;  // with all of their devices free
  int64_t loose = 0;        // free devices on nodes that are partly taken
  bool operator==(const RoomLeft&) const = default;
};
BOOST_DESCRIBE_STRUCT(RoomLeft, (), (devices, whole_nodes, loose))

struct Stand {
  struct Part {
    NodeIndex node = 0;
    int32_t devices = 0;
    int32_t free_before = 0;
  };
  std::vector<Part> parts;  // by node
  std::string model;
  std::vector<std::string> leaves;  // that it stands under; empty name: no switch
  int level = 0;                    // of the lowest switch above all of it; 0: one leaf
  std::string lowest;               // its name
  RoomLeft left;                    // afterwards
};

struct Stands {
  RoomLeft before;
  std::vector<Stand> found;  // the one that is taken, then others, each without the nodes of those
};

}  // namespace fairlead
