// What is asked of a CapacityIndex, and what it answers.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "fabric/divided.h"

namespace fairlead {

constexpr uint32_t kBlockNodes = 32;  // positions of one block

// Nodes that a partition or a feature allows.
class NodeMask {
 public:
  explicit NodeMask(size_t blocks) : words_(blocks, 0) {}
  void set(Position at) { words_[at / kBlockNodes] |= 1U << at % kBlockNodes; }
  bool has(Position at) const { return (block(at / kBlockNodes) >> at % kBlockNodes & 1) != 0; }
  uint32_t block(size_t block) const { return words_[block]; }
  NodeMask& operator&=(const NodeMask& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }

 private:
  std::vector<uint32_t> words_;
};

// Workers that start together or not at all.
struct Gang {
  int32_t workers = 1;
  int32_t devices = 1;      // whole ones of each worker; 1 where it asks for a part
  int32_t share_milli = 0;  // above 0: this much of one device
  int32_t profile = -1;     // from 0: a slice of one device, by the class's SliceTable
  bool apart = false;       // no two on one node
  int32_t level_max = std::numeric_limits<int32_t>::max();  // of the domain they share
  int32_t cpus = 0;                                         // of each worker
  int64_t memory_mb = 0;
  const NodeMask* only = nullptr;

  bool asks_part() const { return share_milli > 0 || profile >= 0; }
  bool plain() const { return only == nullptr && cpus == 0 && memory_mb == 0 && !asks_part(); }
};

// Workers that stand on one node; those with parts, on one device.
struct Grant {
  Position at = 0;
  int32_t workers = 1;
  uint8_t device = 0;  // of parts: number of the divided device
  uint8_t start = 0;   // of a slice
  bool operator==(const Grant&) const = default;
};

constexpr int kOneNode = -1;

struct Placement {
  int level = kOneNode;  // of the lowest domain that holds all workers
  std::vector<Grant> grants;
};

}  // namespace fairlead
