// The chance of Go's math/rand: the same seed gives the same draws.
//
// Published experiments of schedulers were often run by Go programs; to repeat one to the last
// digit its draws are needed. The generator is the additive lagged Fibonacci sequence
//
//   y[n] = y[n - 607] + y[n - 273]  (mod 2^64)
//
// whose first 607 values are mixed from the seed and from a table: the state that the sequence
// begun with seed 1 has after 7.8e12 steps. The sequence is linear, so the table is not copied but
// computed, by squaring polynomials, in some 30 ms once a process.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fairlead {

class GoRandom {
 public:
  explicit GoRandom(int64_t seed);

  uint64_t uint64();
  int64_t int63() { return static_cast<int64_t>(uint64() & INT64_MAX); }
  int32_t int31() { return static_cast<int32_t>(int63() >> 32); }
  int32_t intn(int32_t bound);   // as Intn. Requires: bound > 0.
  int32_t below(int32_t bound);  // as Shuffle draws. Requires: bound > 0.
  void skip_float64();           // as many draws as Float64 makes
  void shuffle(std::span<int32_t> values);
  std::vector<int32_t> perm(int32_t count);

 private:
  static constexpr int kLength = 607;
  static constexpr int kTap = 273;
  static const std::array<uint64_t, kLength>& cooked();

  std::array<uint64_t, kLength> state_{};
  int tap_ = 0;
  int feed_ = kLength - kTap;
};

}  // namespace fairlead
