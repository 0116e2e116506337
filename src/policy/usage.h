// Usage that fades: device-seconds, of which half is forgotten with every half-life.
//
// Nothing is ever decayed in place. What is charged at time t counts 2^(t/H) instead, and what is
// asked at time t is divided by it; so a charge is one multiplication, between two charges nothing
// happens, and siblings that share a half-life H are compared without any division. The integral of
// a holding over an interval is exact (not a sum of steps):
//
//   charge(milli, t0, t1)  adds  milli * H / ln 2 * (2^(t1/H) - 2^(t0/H))
//   at(t)                   is    sum * 2^(-t/H)            in thousandths of a device times us
//
// The sum is kept relative to the last whole half-life, with 16 bits behind the point, and moves on
// by a shift of whole bits. Powers come from a table of square roots of two in whole numbers, so
// two machines agree bit for bit, and a restart changes nothing: the two members are all there is.
// Splitting an interval in two moves the sum by some 2^-60 of it.
//
// Invariant: half-lives are from one second to ten years, instants from 1970 to the year 2500.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "policy/amount.h"

namespace fairlead::policy {

using Wide = unsigned __int128;

constexpr Duration kHalfLifeMin = seconds(1);
constexpr Duration kHalfLifeMax = seconds(int64_t{10} * 365 * 24 * 3600);

// 2^(part/whole) with 62 bits behind the point: from one up to two. Requires: 0 <= part <= whole.
uint64_t power_of_two(int64_t part, int64_t whole);

class FadingUsage {
 public:
  explicit FadingUsage(Duration half_life);  // Requires: within the two bounds above.

  // Requires: 0 <= amount <= kDevicesMax devices, begin <= end. Intervals come in any order.
  void charge(Milli amount, Instant begin, Instant end);

  // In thousandths of a device times microseconds; saturates far above any fleet's.
  Wide at(Instant now) const;

  Duration half_life() const { return half_life_; }
  bool operator==(const FadingUsage&) const = default;

 private:
  void move_to(int64_t epoch);

  Duration half_life_;
  int64_t epoch_ = 0;  // whole half-lives since 1970 that the sum is relative to
  Wide sum_ = 0;       // 16 bits behind the point
};

// How much of its share a team has had: what it used, and what it holds now as if for one half-life
// more, by weight. Compared only between siblings, at one instant, under one half-life.
struct Share {
  Wide usage = 0;
  int64_t weight = 1;  // zero is last

  // Returns whether `a` has had less: it goes first.
  friend bool operator<(const Share& a, const Share& b);
};

Share share_of(const FadingUsage& usage, Milli held, int64_t weight, Instant now);
// The same, of what usage.at(now) is; for who asks often.
Share share_of(Wide faded, Duration half_life, Milli held, int64_t weight);

}  // namespace fairlead::policy
