#include "sim/go_random.h"

#include <utility>

#include "base/check.h"

namespace fairlead {
namespace {

constexpr size_t kN = 607;
constexpr size_t kLag = 273;

// x -> 48271 x mod 2^31 - 1, Go's generator of seeds (Park and Miller's).
int32_t seed_step(int32_t x) { return static_cast<int32_t>(int64_t{48271} * x % INT32_MAX); }

int32_t seed_start(int64_t seed) {
  int64_t x = seed % INT32_MAX;
  if (x < 0) x += INT32_MAX;
  if (x == 0) x = 89482311;
  for (int i = 0; i < 20; ++i) x = seed_step(static_cast<int32_t>(x));
  return static_cast<int32_t>(x);
}

// Three draws, one after the other, shifted into one word.
uint64_t seed_word(int32_t& x, int shift_first, int shift_second) {
  x = seed_step(x);
  uint64_t word = static_cast<uint64_t>(x) << shift_first;
  x = seed_step(x);
  word ^= static_cast<uint64_t>(x) << shift_second;
  x = seed_step(x);
  return word ^ static_cast<uint64_t>(x);
}

using Polynomial = std::array<uint64_t, kN>;  // coefficients modulo x^607 - x^334 - 1, over 2^64

void reduce(std::vector<uint64_t>& wide) {
  for (size_t i = wide.size() - 1; i >= kN; --i) {
    wide[i - kLag] += wide[i];  // x^607 = x^(607 - 273) + 1
    wide[i - kN] += wide[i];
    wide[i] = 0;
  }
}

Polynomial squared(const Polynomial& p) {
  std::vector<uint64_t> wide(2 * kN - 1, 0);
  for (size_t i = 0; i < kN; ++i) {
    for (size_t j = 0; j < kN; ++j) wide[i + j] += p[i] * p[j];
  }
  reduce(wide);
  Polynomial result;
  for (size_t i = 0; i < kN; ++i) result[i] = wide[i];
  return result;
}

Polynomial power_of_x(uint64_t exponent) {
  Polynomial result{};
  result[0] = 1;
  for (int bit = 63; bit >= 0; --bit) {
    result = squared(result);
    if ((exponent >> bit & 1) == 0) continue;
    std::vector<uint64_t> wide(kN + 1, 0);
    for (size_t i = 0; i < kN; ++i) wide[i + 1] = result[i];
    reduce(wide);
    for (size_t i = 0; i < kN; ++i) result[i] = wide[i];
  }
  return result;
}

}  // namespace

// Go keeps the values in a ring that is walked downwards: step n writes place (333 - n) mod 607, so
// the value before the first step, y[-607 + m], lies at (333 + 607 - m) mod 607.
const std::array<uint64_t, 607>& GoRandom::cooked() {
  static const std::array<uint64_t, kLength> table = [] {
    constexpr uint64_t kSteps = 7'800'000'000'000;
    const auto place = [](uint64_t step) {  // of y[step - 607]
      const uint64_t down = step % kN;
      return static_cast<size_t>((kN - kLag - 1 + kN - down) % kN);
    };
    std::array<uint64_t, kN> ring{};
    int32_t x = seed_start(1);
    for (uint64_t& word : ring) word = seed_word(x, 20, 10);
    std::vector<uint64_t> y(2 * kN - 1);  // y[m] is the m-th value from the first of the ring
    for (size_t m = 0; m < y.size(); ++m) y[m] = m < kN ? ring[place(m)] : y[m - kN] + y[m - kLag];
    const Polynomial jump = power_of_x(kSteps);
    std::array<uint64_t, kN> result{};
    for (size_t j = 0; j < kN; ++j) {
      uint64_t value = 0;
      for (size_t i = 0; i < kN; ++i) value += jump[i] * y[i + j];
      result[place(kSteps + j)] = value;
    }
    return result;
  }();
  return table;
}

GoRandom::GoRandom(int64_t seed) {
  int32_t x = seed_start(seed);
  for (size_t i = 0; i < kN; ++i) state_[i] = seed_word(x, 40, 20) ^ cooked()[i];
}

uint64_t GoRandom::uint64() {
  if (--tap_ < 0) tap_ += kLength;
  if (--feed_ < 0) feed_ += kLength;
  return state_[static_cast<size_t>(feed_)] += state_[static_cast<size_t>(tap_)];
}

int32_t GoRandom::intn(int32_t bound) {
  CHECK(bound > 0);
  if ((bound & (bound - 1)) == 0) return int31() & (bound - 1);
  const auto most = static_cast<int32_t>(INT32_MAX - (uint32_t{1} << 31) % bound);
  int32_t draw = int31();
  while (draw > most) draw = int31();
  return draw % bound;
}

int32_t GoRandom::below(int32_t bound) {
  CHECK(bound > 0);
  const auto n = static_cast<uint32_t>(bound);
  const auto draw = [&] { return static_cast<uint64_t>(static_cast<uint32_t>(int63() >> 31)) * n; };
  uint64_t product = draw();
  if (static_cast<uint32_t>(product) < n) {
    const uint32_t least = -n % n;
    while (static_cast<uint32_t>(product) < least) product = draw();
  }
  return static_cast<int32_t>(product >> 32);
}

void GoRandom::skip_float64() {
  while (static_cast<double>(int63()) / 0x1p63 == 1.0) {
  }
}

void GoRandom::shuffle(std::span<int32_t> values) {
  for (auto i = static_cast<int32_t>(values.size()) - 1; i > 0; --i)
    std::swap(values[static_cast<size_t>(i)], values[static_cast<size_t>(below(i + 1))]);
}

std::vector<int32_t> GoRandom::perm(int32_t count) {
  std::vector<int32_t> result(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    const auto j = static_cast<size_t>(intn(i + 1));
    result[static_cast<size_t>(i)] = result[j];
    result[j] = i;
  }
  return result;
}

}  // namespace fairlead
