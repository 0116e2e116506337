#include "policy/usage.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace fairlead::policy {
namespace {

constexpr int kPoint = 62;     // bits behind the point of powers
constexpr int kSumPoint = 16;  // and of sums
constexpr uint64_t kOne = uint64_t{1} << kPoint;
constexpr uint64_t kOneByLn2 = 6'653'256'548'922'161'246;  // 1 / ln 2, rounded, from its 36 digits
constexpr Wide kWideMax = ~Wide{0};

constexpr uint64_t root(Wide square) {
  uint64_t low = 0, high = uint64_t{1} << 63;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    if (Wide{middle} * middle <= square)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// Entry i is 2^(2^-(i+1)): each the square root of the one before.
constexpr auto kRoots = [] {
  std::array<uint64_t, kPoint> roots{};
  uint64_t power = kOne * 2;
  for (uint64_t& r : roots) r = power = root(Wide{power} << kPoint);
  return roots;
}();

// a * b / 2^62, rounded down. Requires: the result fits.
Wide times(Wide a, uint64_t b) {
  const auto low = static_cast<uint64_t>(a);
  const auto high = static_cast<uint64_t>(a >> 64);
  return ((Wide{high} * b) << (64 - kPoint)) + ((Wide{low} * b) >> kPoint);
}

Wide plus(Wide a, Wide b) { return a > kWideMax - b ? kWideMax : a + b; }

Wide shifted(Wide value, int64_t by) { return by >= 128 ? 0 : value >> by; }

}  // namespace

uint64_t power_of_two(int64_t part, int64_t whole) {
  CHECK(0 <= part && part <= whole && whole > 0);
  if (part == whole) return kOne * 2;
  auto fraction =
      static_cast<uint64_t>((static_cast<Wide>(part) << kPoint) / static_cast<Wide>(whole));
  Wide power = kOne;
  for (int i = 0; i < kPoint; ++i)
    if ((fraction >> (kPoint - 1 - i) & 1) != 0) power = power * kRoots[i] >> kPoint;
  return static_cast<uint64_t>(power);
}

FadingUsage::FadingUsage(Duration half_life) : half_life_(half_life) {
  CHECK(half_life >= kHalfLifeMin && half_life <= kHalfLifeMax);
}

void FadingUsage::move_to(int64_t epoch) {
  if (epoch <= epoch_) return;
  sum_ = shifted(sum_, epoch - epoch_);
  epoch_ = epoch;
}

void FadingUsage::charge(Milli amount, Instant begin, Instant end) {
  CHECK(amount.value >= 0 && amount <= devices(kDevicesMax));
  CHECK(begin.us >= 0 && begin <= end);
  if (begin == end || amount.value == 0) return;
  const int64_t h = half_life_.us;
  const int64_t epoch = end.us / h;
  move_to(epoch);
  // 2^(end/H) - 2^(begin/H), relative to the half-life that the end lies in: below two.
  const uint64_t at_end = power_of_two(end.us % h, h);
  const uint64_t at_begin = power_of_two(begin.us % h, h);
  const int64_t halved = epoch - begin.us / h;
  const uint64_t grown = at_end - (halved >= 64 ? 0 : at_begin >> halved);
  // Below 2^40 * 2^49 * 2^16 = 2^105, times 1.45, times two.
  const Wide scale =
      times(static_cast<Wide>(amount.value) * static_cast<Wide>(h) << kSumPoint, kOneByLn2);
  sum_ = plus(sum_, shifted(times(scale, grown), epoch_ - epoch));
}

Wide FadingUsage::at(Instant now) const {
  CHECK(now.us >= 0);
  const int64_t h = half_life_.us;
  const int64_t epoch = now.us / h;
  // 2^-x = 2^(1-x) / 2; what was charged after `now` (a clock that went back) counts as of now.
  if (epoch < epoch_) return sum_ >> kSumPoint;
  const uint64_t divided = power_of_two(h - now.us % h, h) >> 1;
  return times(shifted(sum_, epoch - epoch_), divided) >> kSumPoint;
}

// a/wa < b/wb as a*wb < b*wa, over 192 bits.
bool operator<(const Share& a, const Share& b) {
  if (a.weight == 0 || b.weight == 0) {
    if ((a.weight == 0) != (b.weight == 0)) return b.weight == 0;
    return a.usage < b.usage;
  }
  const auto product = [](Wide usage, int64_t weight) {
    const Wide low = static_cast<Wide>(static_cast<uint64_t>(usage)) * static_cast<Wide>(weight);
    const Wide high = (usage >> 64) * static_cast<Wide>(weight) + (low >> 64);
    return std::pair(high, static_cast<uint64_t>(low));
  };
  return product(a.usage, b.weight) < product(b.usage, a.weight);
}

Share share_of(const FadingUsage& usage, Milli held, int64_t weight, Instant now) {
  return share_of(usage.at(now), usage.half_life(), held, weight);
}

Share share_of(Wide faded, Duration half_life, Milli held, int64_t weight) {
  CHECK(held.value >= 0 && weight >= 0);
  const Wide soon = static_cast<Wide>(held.value) * static_cast<Wide>(half_life.us);
  return {.usage = plus(faded, soon), .weight = weight};
}

}  // namespace fairlead::policy
