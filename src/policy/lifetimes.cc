#include "policy/lifetimes.h"

#include <algorithm>
#include <bit>

namespace fairlead::policy {
namespace {

size_t quarter_of(Duration length) {
  const auto s = static_cast<uint64_t>(std::clamp<int64_t>(whole_seconds(length), 1, UINT32_MAX));
  const auto octave = static_cast<size_t>(std::bit_width(s)) - 1;
  return octave * 4 + static_cast<size_t>((s * 4 >> octave) & 3);
}
Duration begin_of(size_t quarter) {
  return seconds(static_cast<int64_t>((4 + quarter % 4) << (quarter / 4)) / 4);
}

}  // namespace

void Lifetimes::learn(Duration length) { ++counts_[quarter_of(length)]; }

std::optional<Duration> Lifetimes::length_beyond(Duration age, uint32_t part) const {
  const size_t first = age.us <= 0 ? 0 : quarter_of(age) + 1;
  int64_t beyond = 0;
  for (size_t q = first; q < kCounts; ++q) beyond += counts_[q];
  if (beyond < kFewest) return std::nullopt;
  const int64_t wanted = (beyond * part >> 32) + 1;
  int64_t ended = 0;
  for (size_t q = first; q < kCounts; ++q) {
    ended += counts_[q];
    if (ended < wanted) continue;
    const int64_t begin = begin_of(q).us, width = begin_of(q + 1).us - begin;
    return Duration{begin + width * (wanted - (ended - counts_[q])) / counts_[q]};
  }
  return std::nullopt;
}

}  // namespace fairlead::policy
