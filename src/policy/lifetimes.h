// How long runs go, learnt from those that ended.
//
// Lengths are counted in quarters of an octave, which errs by a fifth at most and needs no more
// than some hundred counts. What was taken back tells nothing of its length.
//
// A run of which nothing is known but its age goes on as those did that got as old, and which of
// them it will be like is chance. So that of many such runs as many end, soon and late, as is
// likely, each is given a part of its own by its id: of ten, one ends in the first tenth of the
// lengths that there were. How many devices come free by when is so predicted well, and never which
// run frees them. By middles alone nothing would ever end soon.
//
// Cost: O(1) to learn, O(counts) to ask.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace fairlead::policy {

// Spreads ids evenly, however they are numbered.
constexpr uint32_t part_of(uint64_t id) {
  return static_cast<uint32_t>(id * 0x9E37'79B9'7F4A'7C15 >> 32);  // by the golden ratio
}

class Lifetimes {
 public:
  void learn(Duration length);

  // The length that the given part (of 2^32) of those does not reach that got older than `age`.
  // Nothing where fewer than kFewest did.
  std::optional<Duration> length_beyond(Duration age, uint32_t part) const;

  static constexpr int64_t kFewest = 16;  // chosen

 private:
  static constexpr size_t kCounts = 128;  // 2^32 seconds
  std::array<int64_t, kCounts> counts_{};
};

}  // namespace fairlead::policy
