#include "base/time.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace fairlead {

// Days since 1970-01-01, after Howard Hinnant's "chrono-compatible low-level date algorithms".
int64_t civil_to_seconds(const Civil& c) {
  const int64_t y = c.month <= 2 ? c.year - 1 : c.year;
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const int64_t year_of_era = y - era * 400;
  const int64_t day_of_year = (153 * (c.month + (c.month > 2 ? -3 : 9)) + 2) / 5 + c.day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  const int64_t days = era * 146097 + day_of_era - 719468;
  return days * 86400 + c.hour * 3600 + c.minute * 60 + c.second;
}

Civil seconds_to_civil(int64_t s) {
  int64_t days = s / 86400;
  int64_t rest = s % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t mp = (5 * day_of_year + 2) / 153;
  const int month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  return {.year = static_cast<int>(year_of_era + era * 400 + (month <= 2 ? 1 : 0)),
          .month = month,
          .day = static_cast<int>(day_of_year - (153 * mp + 2) / 5 + 1),
          .hour = static_cast<int>(rest / 3600),
          .minute = static_cast<int>(rest / 60 % 60),
          .second = static_cast<int>(rest % 60)};
}

std::string to_rfc3339(Instant at) {
  int64_t s = at.us / kMicrosPerSecond;
  int64_t us = at.us % kMicrosPerSecond;
  if (us < 0) {
    us += kMicrosPerSecond;
    --s;
  }
  const Civil c = seconds_to_civil(s);
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", c.year, c.month, c.day,
                                 c.hour, c.minute, c.second);
  if (us != 0) text += fmt::format(".{:06}", us);
  return text + "Z";
}

namespace {

// Takes exactly `digits` digits from the front of `text`.
std::optional<int> take_number(std::string_view& text, size_t digits) {
  int value = 0;
  if (text.size() < digits) return std::nullopt;
  for (size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<int64_t> take_fraction_micros(std::string_view& text) {
  int64_t us = 0;
  int64_t scale = 100'000;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    us += scale * (text.front() - '0');
    scale /= 10;
    text.remove_prefix(1);
  }
  return us;
}

std::optional<int64_t> take_offset_seconds(std::string_view& text) {
  if (text.empty() || take(text, 'Z') || take(text, 'z')) return 0;
  const int sign = text.front() == '-' ? -1 : 1;
  if (!take(text, '+') && !take(text, '-')) return std::nullopt;
  const auto hours = take_number(text, 2);
  take(text, ':');
  const auto minutes = take_number(text, 2);
  if (!hours || !minutes) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

}  // namespace

std::optional<Instant> parse_rfc3339(std::string_view text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || *month < 1 || *month > 12 || !take(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day || *day < 1 || *day > 31 || (!take(text, 'T') && !take(text, ' '))) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take(text, ':')) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *second > 60) return std::nullopt;
  int64_t us = 0;
  if (take(text, '.')) {
    const auto fraction = take_fraction_micros(text);
    if (!fraction) return std::nullopt;
    us = *fraction;
  }
  const auto offset = take_offset_seconds(text);
  if (!offset || !text.empty()) return std::nullopt;
  const int64_t s = civil_to_seconds({*year, *month, *day, *hour, *minute, *second}) - *offset;
  return Instant{s * kMicrosPerSecond + us};
}

namespace {
struct Unit {
  char letter;
  int64_t seconds;
};
constexpr std::array kUnits = {Unit{'w', 7 * 86400}, Unit{'d', 86400}, Unit{'h', 3600},
                               Unit{'m', 60}, Unit{'s', 1}};
}  // namespace

std::string to_short_text(Duration d) {
  if (d.us < 0) return "-" + to_short_text(Duration{-d.us});
  int64_t s = whole_seconds(d);
  if (s == 0) return d.us == 0 ? "0s" : fmt::format("{}ms", d.us / 1000);
  std::string text;
  int shown = 0;
  for (const Unit& unit : kUnits) {
    if (unit.letter == 'w') continue;
    const int64_t n = s / unit.seconds;
    s %= unit.seconds;
    if (n == 0 && shown == 0) continue;
    if (n != 0) text += fmt::format("{}{}", n, unit.letter);
    if (++shown == 2) break;
  }
  return text;
}

std::optional<Duration> parse_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  constexpr int64_t kMost = int64_t{200} * 366 * 86400;  // chosen: two hundred years
  int64_t total = 0;
  while (!text.empty()) {
    int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc{} || n < 0 || n > kMost) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    int64_t scale = 1;
    if (!text.empty()) {
      bool found = false;
      for (const Unit& unit : kUnits) {
        if (unit.letter != text.front()) continue;
        scale = unit.seconds;
        found = true;
      }
      if (!found) return std::nullopt;
      text.remove_prefix(1);
    }
    if (n > kMost / scale) return std::nullopt;
    total += n * scale;
    if (total > kMost) return std::nullopt;
  }
  return seconds(total);
}

}  // namespace fairlead
