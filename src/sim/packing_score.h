// What a packing policy thinks of putting a pod on a node: a whole number, the higher the better.
//
// The published policies are written as their authors' simulator computes them, down to the order
// of the sums, so that equal scores are equal. Their scores have steps of one in a hundred, and the
// ties that this makes, which fall to the node of lowest rank, carry much of their results.
//
// fragmentation   Of a node, in thousandths of devices: for each typical shape of pod what of the
//                 idle devices it cannot use, weighted by how often it is asked for. A shape that
//                 does not fit, or asks for no device, can use nothing; one that fits cannot use
//                 the devices of which less is left than it wants.
// typical shapes  The most frequent ones that make up 95 % of the pods; shares sum to one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/packing.h"

namespace fairlead {

// A pod without its name; `models` as a mask over the trace's models.
struct PackShape {
  int32_t cpu_milli = 0, devices = 0, milli = 0;
  uint32_t models = UINT32_MAX;
  bool operator==(const PackShape&) const = default;

  bool shared() const { return devices == 1 && milli < 1000; }
  bool accepts(int32_t model) const { return devices == 0 || (models >> model & 1) != 0; }
};

// What is left of a node.
struct PackRoom {
  int32_t cpu_milli = 0;
  int32_t model = 0;
  int32_t devices = 0;
  std::array<int32_t, kPackDevicesMax> left{};    // thousandths of each device
  std::array<int32_t, kPackDevicesMax + 1> of{};  // pods by devices; 0: those that share one

  std::span<const int32_t> lefts() const { return {left.data(), static_cast<size_t>(devices)}; }
  int32_t idle_milli() const;
  int32_t whole() const;  // devices nobody has
  bool fits(const PackShape& shape) const;
  // The device that a share fills most tightly, or the first one with all left.
  int32_t device_for(const PackShape& shape) const;
  // Requires: it fits. `device`: of a share; whole devices are the first that are free.
  void take(const PackShape& shape, int32_t device);
};

struct TypicalShape {
  PackShape shape;
  double share = 0;
};
std::vector<TypicalShape> typical_shapes(const PackTrace& trace,
                                         std::span<const PackShape> shapes);  // by pod

double fragmentation(const PackRoom& room, std::span<const TypicalShape> typical);

struct PackScore {
  int32_t score = 0;
  int32_t device = -1;  // of a share
};

// Requires: the shape fits, and the policy is not `random`. `fragmented`: fragmentation of `room`.
PackScore score_of(const PackRule& rule, const PackRoom& room, const PackShape& shape,
                   double fragmented, std::span<const TypicalShape> typical);

}  // namespace fairlead
