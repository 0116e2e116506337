// The shape of a request, and where it fits.
//
// A shape is what a job asks of nodes, and nothing of who asks. Requests of one shape are answered
// once. `Room` is what every node has and has left; `fit` counts where the shape goes:
//
//   could   nodes that could take one worker if they were empty and in service
//   serves  of these, the nodes in service
//   slots   workers that fit into what is free now
//
// Cost: O(nodes) for a fit; rooms are made once per question.
#pragma once

#include <string>
#include <vector>

#include "fabric/fleet.h"
#include "model/job.h"
#include "model/rules.h"

namespace fairlead {

struct Shape {
  std::string partition;  // one, or several with commas
  std::string model;      // empty: any
  int32_t per_node = 0;   // devices of each worker's node; 0: `total` may lie anywhere
  int32_t total = 0;      // devices of the whole
  int32_t nodes = 1;
  int32_t cpus_per_node = 0;
  int64_t memory_per_node_mb = 0;
  std::string features, nodes_required, nodes_excluded;
  int32_t switches = 0;
  bool exclusive = false;
  auto operator<=>(const Shape&) const = default;
};
BOOST_DESCRIBE_STRUCT(Shape, (),
                      (partition, model, per_node, total, nodes, cpus_per_node, memory_per_node_mb,
                       features, nodes_required, nodes_excluded, switches, exclusive))

Shape shape_of(const Job& job);
std::string to_text(const Shape& shape);  // "4x8 h100", "8 h100"

// What one node has left for work.
struct NodeRoom {
  NodeIndex node = 0;
  int32_t devices_free = 0;  // in columns free or stranded
  int32_t cpus_free = 0;
  int64_t memory_free_mb = 0;
  bool in_service = false;
  bool reserved = false;  // by a reservation that is active now
};

struct Fit {
  std::vector<NodeIndex> could;   // ascending
  std::vector<NodeIndex> serves;  // of `could`
  std::vector<NodeIndex> takes;   // of `serves`: one worker fits now
  int32_t devices_free = 0;       // over `serves`
  int32_t slots = 0;              // workers that fit now, over `takes`
  bool fits_now = false;          // the whole shape, switches aside
  bool fits_switches = false;     // and within as many leaf switches as it allows
};

// `members`, by node, says whether the node belongs to the shape's partition.
Fit fit(const Shape& shape, const Fleet& fleet, const std::vector<NodeRoom>& rooms,
        const std::vector<bool>& members);

// Whether a node with these features satisfies the scheduler's expression: names joined by & and |,
// groups in () or [], counts ("h100*2") ignored. Evaluated from left to right, as Slurm does.
bool features_match(std::string_view expression, const std::vector<std::string>& features);

}  // namespace fairlead
