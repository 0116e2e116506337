#include "lang/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/words.h"

namespace fairlead::lang {
namespace {

struct Unit {
  std::string_view name;
  Dimension dimension;
  int64_t base;        // base units in one
  bool money = false;  // stands after `$`
};

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t k3 = 1000, k6 = k3 * k3, k9 = k6 * k3, k12 = k6 * k6, k15 = k12 * k3;
constexpr int64_t kKi = 1024, kMi = kKi * kKi, kGi = kMi * kKi, kTi = kMi * kMi;

using enum Dimension;
constexpr Unit kUnits[] = {
    {"us", time, 1},
    {"ms", time, 1000},
    {"s", time, kSecond},
    {"m", time, 60 * kSecond},
    {"h", time, kHour},
    {"d", time, 24 * kHour},
    {"w", time, 168 * kHour},
    {"B", data, 1},
    {"kB", data, k3},
    {"MB", data, k6},
    {"GB", data, k9},
    {"TB", data, k12},
    {"PB", data, k15},
    {"KiB", data, kKi},
    {"MiB", data, kMi},
    {"GiB", data, kGi},
    {"TiB", data, kTi},
    {"B/s", data_rate, 1},
    {"kB/s", data_rate, k3},
    {"MB/s", data_rate, k6},
    {"GB/s", data_rate, k9},
    {"TB/s", data_rate, k12},
    {"tok", tokens, 1},
    {"ktok", tokens, k3},
    {"Mtok", tokens, k6},
    {"tok/s", token_rate, k3},
    {"ktok/s", token_rate, k6},
    {"Mtok/s", token_rate, k9},
    {"", money, k6, true},
    {"/h", money_rate, k6, true},
    {"/gpu/h", device_price, k6, true},
    {"%", ratio, 10'000},
    {"", count, k6},
    {"k", count, k9},
    {"M", count, k12},
    {"C", temperature, k3},
    {"W", power, k3},
    {"kW", power, k6},
    {"MW", power, k9},
    {"Wh", energy, k3},
    {"kWh", energy, k6},
    {"MWh", energy, k9},
    {"g", mass, k3},
    {"kg", mass, k6},
    {"g/kWh", carbon, k3},
};

bool is_number(char c) { return (c >= '0' && c <= '9') || c == '_' || c == '.'; }

struct Parts {
  bool money = false;
  std::string_view number, unit;
};

Parts split(std::string_view text) {
  Parts parts;
  parts.money = text.starts_with('$');
  if (parts.money) text.remove_prefix(1);
  const auto end = std::ranges::find_if_not(text, is_number);
  const auto size = static_cast<size_t>(end - text.begin());
  parts.number = text.substr(0, size);
  parts.unit = text.substr(size);
  return parts;
}

}  // namespace

std::string_view described(Dimension dimension) {
  static constexpr std::array<std::string_view, 15> kDescribed = {"a time",
                                                                  "an amount of data",
                                                                  "a data rate",
                                                                  "a number of tokens",
                                                                  "a token rate",
                                                                  "an amount of money",
                                                                  "a price per hour",
                                                                  "a price per gpu and hour",
                                                                  "a ratio",
                                                                  "a count",
                                                                  "a temperature",
                                                                  "a power",
                                                                  "an energy",
                                                                  "a mass",
                                                                  "a carbon intensity"};
  return kDescribed[static_cast<size_t>(dimension)];
}

std::expected<Quantity, QuantityError> read_quantity(std::string_view text) {
  const Parts parts = split(text);
  const auto unit = std::ranges::find_if(
      kUnits, [&](const Unit& u) { return u.name == parts.unit && u.money == parts.money; });
  if (unit == std::end(kUnits)) return std::unexpected(QuantityError::unknown_unit);
  constexpr __int128 kMost = std::numeric_limits<int64_t>::max();
  constexpr int kPlacesMax = 18;  // more digits than any base unit has behind the point
  __int128 digits = 0;
  __int128 scale = 1;
  int places = -1;  // behind the point; -1 before it
  bool any = false;
  for (const char c : parts.number) {
    if (c == '_') continue;
    if (c == '.') {
      if (places >= 0) return std::unexpected(QuantityError::not_a_number);
      places = 0;
      continue;
    }
    any = true;
    if (places >= 0) {
      if (c == '0' && places >= kPlacesMax) continue;
      if (++places > kPlacesMax) return std::unexpected(QuantityError::not_exact);
      scale *= 10;
    }
    digits = digits * 10 + (c - '0');
    if (digits / scale > kMost) return std::unexpected(QuantityError::too_large);
  }
  if (!any) return std::unexpected(QuantityError::not_a_number);
  // digits < 2^63 * 10^18 < 2^123: split it, so that times the unit stays below 2^127.
  const __int128 whole = digits / scale;
  const __int128 rest = digits % scale * unit->base;  // < 10^18 * 10^15
  if (rest % scale != 0) return std::unexpected(QuantityError::not_exact);
  const __int128 value = whole * unit->base + rest / scale;
  if (value > kMost) return std::unexpected(QuantityError::too_large);
  return Quantity{static_cast<int64_t>(value), unit->dimension};
}

std::string_view unit_of(std::string_view text) { return split(text).unit; }

std::string nearest_unit(std::string_view unit) {
  static constexpr std::pair<std::string_view, std::string_view> kSpelledOut[] = {
      {"sec", "s"},   {"secs", "s"},   {"second", "s"},  {"seconds", "s"}, {"min", "m"},
      {"mins", "m"},  {"minute", "m"}, {"minutes", "m"}, {"hr", "h"},      {"hrs", "h"},
      {"hour", "h"},  {"hours", "h"},  {"day", "d"},     {"days", "d"},    {"week", "w"},
      {"weeks", "w"}, {"msec", "ms"},  {"usec", "us"},   {"D", "d"},       {"H", "h"}};
  for (const auto& [word, meant] : kSpelledOut)
    if (word == unit) return std::string(meant);
  std::vector<std::string> names;
  for (const Unit& u : kUnits)
    if (!u.name.empty() && !u.money) names.emplace_back(u.name);
  return nearest_word(unit, names);
}

std::optional<int64_t> read_integer(std::string_view text) {
  int64_t value = 0;
  bool any = false;
  for (const char c : text) {
    if (c == '_') continue;
    if (c < '0' || c > '9') return std::nullopt;
    any = true;
    if (value > (std::numeric_limits<int64_t>::max() - (c - '0')) / 10) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  if (!any) return std::nullopt;
  return value;
}

std::string to_literal(Duration duration) {
  static constexpr std::pair<int64_t, std::string_view> kSteps[] = {
      {24 * kHour, "d"}, {kHour, "h"}, {60 * kSecond, "m"},
      {kSecond, "s"},    {1000, "ms"}, {1, "us"}};
  if (duration.us == 0) return "0s";
  for (const auto& [base, name] : kSteps)
    if (duration.us % base == 0) return fmt::format("{}{}", duration.us / base, name);
  return {};  // not reached: every count is whole in microseconds
}

std::string money_literal(int64_t micro_dollars) {
  const int64_t whole = micro_dollars / k6;
  const int64_t rest = micro_dollars % k6;
  if (rest == 0) return fmt::format("${}", whole);
  if (rest % 10'000 == 0) return fmt::format("${}.{:02}", whole, rest / 10'000);
  return fmt::format("${}.{:06}", whole, rest);
}

}  // namespace fairlead::lang
