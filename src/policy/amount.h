// Counts of devices, in whole thousandths: a slice of a device is the exact fraction that nobody
// else can use. Sums saturate; a document states at most kDevicesMax of one class.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

namespace fairlead::policy {

struct Milli {
  int64_t value = 0;
  auto operator<=>(const Milli&) const = default;

  static constexpr Milli unlimited() { return {std::numeric_limits<int64_t>::max()}; }
  constexpr bool is_unlimited() const { return *this == unlimited(); }
};

constexpr int64_t kDevicesMax = 1'000'000'000;

constexpr Milli devices(int64_t count) { return {count * 1000}; }

constexpr Milli operator+(Milli a, Milli b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a.value, b.value, &sum)) return {sum};
  return {b.value > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min()};
}
// Unlimited less anything is unlimited.
constexpr Milli operator-(Milli a, Milli b) {
  if (a.is_unlimited()) return a;
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a.value, b.value, &difference)) return {difference};
  return {b.value < 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min()};
}

// "256", "0.143", "-2", "unlimited"
inline std::string to_text(Milli amount) {
  if (amount.is_unlimited()) return "unlimited";
  const int64_t rest = amount.value % 1000;
  if (rest == 0) return fmt::format("{}", amount.value / 1000);
  std::string text = fmt::format("{}{}.{:03}", amount.value < 0 ? "-" : "",
                                 std::abs(amount.value / 1000), std::abs(rest));
  while (text.back() == '0') text.pop_back();
  return text;
}

}  // namespace fairlead::policy
