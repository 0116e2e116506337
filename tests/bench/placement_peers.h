// Kueue's and Slurm's rules for choosing nodes below switches, in our own words and in C++, for the
// benchmark of the capacity index. What these systems do around the rule (objects, plugins, queues,
// an API) is left out, so that rules are compared and nothing else.
//
//   Kueue   topology-aware scheduling, BestFit: counts for each request how many workers each node
//           takes, sums up by leaf and pod, sorts the leaves, takes the smallest that suffices,
//           else the same among pods, else across; then descends, largest first and best fit last.
//   Slurm   topology/tree: the nodes that can serve as a bitmap, its overlap with each switch's,
//   the
//           smallest switch that suffices, then leaf by leaf, tightest fit or most nodes first and
//           near ones preferred; nodes in the bitmap's order.
//
// Both recompute from all nodes each time, as the originals do. Compiled with -O3 -march=native.
#pragma once

#include <cstdint>
#include <vector>

namespace peers {

struct Site {
  uint32_t leaf_nodes = 32, pod_leaves = 16;
  std::vector<uint8_t> free;  // by node, of 8

  uint32_t nodes() const { return static_cast<uint32_t>(free.size()); }
  uint32_t leaves() const { return nodes() / leaf_nodes; }
  uint32_t pods() const { return leaves() / pod_leaves; }
};

// `workers` nodes with `devices` free each, into `out`; false: they do not fit.
class Kueue {
 public:
  explicit Kueue(const Site& site);
  bool place(const Site& site, uint32_t workers, uint32_t devices, std::vector<uint32_t>& out);

 private:
  struct Domain {
    uint32_t workers = 0, pods = 0, index = 0;
  };
  void take(std::vector<Domain>& domains, uint32_t workers, std::vector<Domain>& picked);
  std::vector<uint32_t> by_node_, by_leaf_, by_pod_;
  std::vector<Domain> leaves_, pods_, nodes_, picked_pods_, picked_leaves_, picked_nodes_;
};

class SlurmTree {
 public:
  explicit SlurmTree(const Site& site);
  bool place(const Site& site, uint32_t workers, uint32_t devices, std::vector<uint32_t>& out);

 private:
  std::vector<uint64_t> available_;
  std::vector<uint8_t> serves_;
  std::vector<uint64_t> switches_;  // leaves, pods, the core, one bitmap after the other
  std::vector<uint32_t> count_;
};

}  // namespace peers
