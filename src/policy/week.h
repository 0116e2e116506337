// Windows as minutes of a week, which begins on Monday at 00:00 in the window's own zone.
#pragma once

#include <vector>

#include "policy/organisation.h"

namespace fairlead::policy {

constexpr int kMinutesOfDay = 24 * 60;
constexpr int kMinutesOfWeek = 7 * kMinutesOfDay;

struct WeekSpan {  // begin < kMinutesOfWeek; the end may lie in the next week
  int begin = 0, end = 0;
};

// The days and times at which a window is open: `days` as in Window.
struct Opening {
  uint8_t days = 0;
  int begin_minute = 0, end_minute = 0;
};

inline std::vector<WeekSpan> spans_of(const Opening& opening) {
  std::vector<WeekSpan> spans;
  const int over = opening.end_minute > opening.begin_minute ? 0 : kMinutesOfDay;
  for (int day = 0; day < 7; ++day) {
    if ((opening.days >> day & 1) == 0) continue;
    const int midnight = day * kMinutesOfDay;
    spans.push_back({midnight + opening.begin_minute, midnight + opening.end_minute + over});
  }
  return spans;
}

// Requires: 0 <= minute < kMinutesOfWeek.
inline bool is_open(const Opening& opening, int minute) {
  for (const WeekSpan& span : spans_of(opening)) {
    if ((minute >= span.begin && minute < span.end) || minute + kMinutesOfWeek < span.end)
      return true;
  }
  return false;
}

inline bool overlap(const Opening& a, const Opening& b) {
  for (const WeekSpan& span : spans_of(a))
    if (is_open(b, span.begin)) return true;
  for (const WeekSpan& span : spans_of(b))
    if (is_open(a, span.begin)) return true;
  return false;
}

}  // namespace fairlead::policy
