// Where a workload would stand if it were the next, why there, where else, and what it leaves. Who
// is ahead of it, and what would be taken back for it, the planner knows: `start_nodes`.
#pragma once

#include <string>
#include <vector>

#include "core/engine.h"
#include "core/stand.h"

namespace fairlead {

struct PlacementNode {
  std::string node;
  int64_t gpus = 0, free_before = 0;
  bool operator==(const PlacementNode&) const = default;
};
BOOST_DESCRIBE_STRUCT(PlacementNode, (), (node, gpus, free_before))

// One place; the first is the one that its rules choose.
struct PlacementOption {
  std::string nodes;  // hostlist
  int64_t gpus = 0;
  std::string model;
  int64_t leaves = 0;
  std::string under;  // the lowest switch above all of it; empty: no switch has a name
  RoomLeft left;      // afterwards
  std::string because;
  bool operator==(const PlacementOption&) const = default;
};
BOOST_DESCRIBE_STRUCT(PlacementOption, (), (nodes, gpus, model, leaves, under, left, because))

struct PlacementTold {
  std::string apiVersion = "fairlead/v1", kind = "Placement";
  std::string site;
  Instant as_of;
  std::string workload, team, klass, wants;
  std::string organisation;  // by whose rules
  bool fits = false;
  RoomLeft before;  // of the models that it could have
  std::vector<PlacementNode> nodes;
  std::vector<PlacementOption> options;
  std::string verdict;      // of the planner: start, reserve, defer; empty: it takes no part
  std::string start_nodes;  // of a start: where, with those ahead of it placed
  std::vector<std::string> takes_back;
  std::vector<std::string> keeps;  // what keeps it, each with its cure
  std::string note;
  bool operator==(const PlacementTold&) const = default;
};
BOOST_DESCRIBE_STRUCT(PlacementTold, (),
                      (apiVersion, kind, site, as_of, workload, team, klass, wants, organisation,
                       fits, before, nodes, options, verdict, start_nodes, takes_back, keeps, note))

constexpr size_t kPlacementOptions = 3;  // chosen

// Of one that waits. Nothing where nobody waits under this name.
std::optional<PlacementTold> placement_of(const Engine& engine, std::string_view label);

// Of a job that would be submitted now.
PlacementTold placement_of(const Engine& engine, Job job);

}  // namespace fairlead
