// Between two nodes: the switches from the one up to where both meet, and down to the other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "views/fabric_view.h"

namespace fairlead {

struct PathStop {
  std::string name;
  std::string kind;    // "node" or "switch"
  int32_t level = -1;  // of a switch
  bool operator==(const PathStop&) const = default;
};
BOOST_DESCRIBE_STRUCT(PathStop, (), (name, kind, level))

struct FabricPath {
  std::string apiVersion = "fairlead/v1", kind = "FabricPath";
  std::string site;
  Instant as_of;
  std::string from, to;
  bool joined = false;  // some switch holds both; else nobody says how they are joined
  int64_t hops = 0;     // links that are passed
  std::vector<PathStop> stops;
  bool operator==(const FabricPath&) const = default;
};
BOOST_DESCRIBE_STRUCT(FabricPath, (),
                      (apiVersion, kind, site, as_of, from, to, joined, hops, stops))

// Fails with node-unknown. Cost: O(nodes under the switches that hold one of the two).
Result<FabricPath> path_between(const Fabric& fabric, std::string_view from, std::string_view to);

}  // namespace fairlead
