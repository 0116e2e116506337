// Instants and spans of time, in whole microseconds.
//
// An Instant counts from 1970-01-01T00:00:00Z without leap seconds; zero means "not known". The
// ledger works in whole seconds (`floor_seconds`), because schedulers state starts and ends so.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead {

struct Duration {
  int64_t us = 0;
  auto operator<=>(const Duration&) const = default;
};

struct Instant {
  int64_t us = 0;
  auto operator<=>(const Instant&) const = default;
  bool known() const { return us != 0; }
};

constexpr int64_t kMicrosPerSecond = 1'000'000;

constexpr Duration seconds(int64_t s) { return {s * kMicrosPerSecond}; }
constexpr Instant instant_of_seconds(int64_t s) { return {s * kMicrosPerSecond}; }
constexpr Duration operator-(Instant a, Instant b) { return {a.us - b.us}; }
constexpr Instant operator+(Instant a, Duration d) { return {a.us + d.us}; }
constexpr Instant operator-(Instant a, Duration d) { return {a.us - d.us}; }
constexpr int64_t whole_seconds(Duration d) { return d.us / kMicrosPerSecond; }

// Returns the second that `at` lies in. Requires: at is not before 1970.
constexpr int64_t floor_seconds(Instant at) { return at.us / kMicrosPerSecond; }

// "2026-01-31T08:09:10Z", with six digits of a second where they are not all zero.
std::string to_rfc3339(Instant at);

// Reads what to_rfc3339 writes, also with an offset ("+02:00"), also with a blank for the T.
std::optional<Instant> parse_rfc3339(std::string_view text);

// Civil time (proleptic Gregorian) to seconds since 1970, no zone applied.
struct Civil {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0;
};
int64_t civil_to_seconds(const Civil& civil);
Civil seconds_to_civil(int64_t seconds);

// "2h14m", "3d4h", "12s", "0s"; two units at most.
std::string to_short_text(Duration d);

// Reads "7d", "2h14m", "90s", "10" (seconds). Returns nothing where the text is no duration.
std::optional<Duration> parse_duration(std::string_view text);

}  // namespace fairlead
