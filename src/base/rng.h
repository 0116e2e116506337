// Chance that repeats: the same seed gives the same draws on every machine and compiler.
//
// xoshiro256** seeded by splitmix64 (Blackman and Vigna, prng.di.unimi.it, public domain). `below`
// is exact for any bound by rejection. No distribution of the standard library is used: theirs
// differ.
#pragma once

#include <cstdint>

#include "base/check.h"

namespace fairlead {

class Rng {
 public:
  explicit Rng(uint64_t seed) {
    for (uint64_t& word : state_) word = split_mix(seed);
  }

  uint64_t next() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound). Requires: bound > 0.
  uint64_t below(uint64_t bound) {
    CHECK(bound > 0);
    const uint64_t tail = -bound % bound;  // draws below it would favour small numbers
    uint64_t draw = next();
    while (draw < tail) draw = next();
    return draw % bound;
  }
  // Uniform in [least, most]. Requires: least <= most.
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(below(static_cast<uint64_t>(most - least) + 1));
  }
  bool chance(uint64_t ppm) { return below(1'000'000) < ppm; }

 private:
  static uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }
  static uint64_t split_mix(uint64_t& x) {
    uint64_t z = x += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
  }
  uint64_t state_[4];
};

}  // namespace fairlead
