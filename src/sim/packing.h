// Packing policies on a stream of pods: the experiment of "Beware of Fragmentation" (Weng et al.,
// USENIX ATC 2023) on the trace openb, in virtual time and without a scheduler.
//
// Pods arrive one after the other in an order that a seed makes, until what they ask for is 130 %
// of the devices. Each goes to one of the nodes that have room for it, as the policy says, and
// stays; one that fits nowhere is lost. What a pod holds is taken from a CapacityIndex of its
// node's model, parts of devices by their thousandths, CPU and memory as its side constraints.
// After every pod we note what has arrived, what is allocated and what is fragmented:
//
//   allocated[c], fragmented[c]   in % of all devices with two decimals, as the authors' simulator
//                                 prints it; mean over the pods after which the arrived request,
//                                 rounded half to even, is c % of the devices
//
// With the original's pods and the seeds of the paper the published figures come out to their last
// digit (tests/bench/openb_bench.cc), but for `random`, whose draws depended on Go's goroutines.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/result.h"

namespace fairlead {

constexpr int32_t kPackDevicesMax = 16;  // of one node; openb's have up to 8
constexpr int kPackPercentMax = 130;

struct PackNode {
  std::string name;
  int32_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int32_t devices = 0;
  std::string model;
};

struct PackPod {
  std::string name;
  int32_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int32_t devices = 0;
  int32_t milli = 0;   // of each device: 1000, or less of a single one
  std::string models;  // "G2|G3"; empty: any

  bool shared() const { return devices == 1 && milli < 1000; }
  int64_t milli_all() const { return int64_t{devices} * milli; }
};

struct PackTrace {
  std::vector<PackNode> nodes;
  std::vector<PackPod> pods;  // by name
};

// Reads openb's two tables. A source is a file's name, for diagnostics. Fails with
// packing-column-missing, packing-bad-row, packing-empty.
struct PackText {
  std::string_view source, text;
};
Result<PackTrace> read_pack_trace(PackText pods, PackText nodes);

// Pods by their number in PackTrace::pods, and the rank of each node: where scores are equal the
// lowest wins.
struct Arrivals {
  std::vector<int32_t> pods;
  std::vector<int32_t> rank;
};
// As the published experiment makes them of a seed. Works for any seed.
Arrivals arrivals_of(const PackTrace& trace, int64_t seed);

enum class PackPolicy : uint8_t {
  random,
  dot_product,
  gpu_clustering,
  gpu_packing,
  best_fit,
  fgd,
  tightest  // what the capacity index answers
};
BOOST_DESCRIBE_ENUM(PackPolicy, random, dot_product, gpu_clustering, gpu_packing, best_fit, fgd,
                    tightest)

struct PackRule {
  PackPolicy policy{};
  // Of fgd. How many thousandths of a device less fragmentation a full node is worth over an empty
  // one, and into how many steps the score is cut: within a step the lowest rank wins.
  int32_t fullness_milli = 0;
  int32_t steps = 100;
  bool operator==(const PackRule&) const = default;
};
BOOST_DESCRIBE_STRUCT(PackRule, (), (policy, fullness_milli, steps))
std::string to_text(const PackRule& rule);  // "fgd", "fgd, fullness 100, steps 25"

struct PackResult {
  std::array<double, kPackPercentMax + 1> allocated{};
  std::array<double, kPackPercentMax + 1> fragmented{};
  int64_t arrived = 0, lost = 0;  // pods
};

// `seed` is used by `random` alone.
PackResult pack(const PackTrace& trace, const Arrivals& arrivals, const PackRule& rule,
                uint64_t seed = 0);

// Our own rule for a trace: fgd, or one of seven variants of it (fullness 0 or 100; 25, 50, 100 or
// 200 steps), whichever allocates most when pods drawn at random from the trace arrive; fgd as
// published stays unless another gains a tenth of a point. So it knows what fgd knows, which pods
// are typical, and nothing of the order to come: the draws have seeds of their own.
PackRule rehearsed_rule(const PackTrace& trace);

}  // namespace fairlead
