// The page of an exporter: Prometheus's text format, and OpenMetrics as far as it is the same.
//
//   DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-…",Hostname="n012"} 97 1796025540000
//
// A line that cannot be read is counted and passed over, since one broken collector must not hide
// the others. A page of which nothing can be read is refused: it is some other page.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::evidence {

struct Label {
  std::string_view name, value;
};

struct Point {
  std::string_view metric;
  std::span<const Label> labels;
  double value = 0;           // may be NaN or infinite
  std::optional<Instant> at;  // where the page states it
};

struct PageReport {
  int64_t points = 0;
  int64_t bad_lines = 0;
  int first_bad_line = 0;
};

// Calls `on_point` for each; what it is given lives as long as the call.
// Fails with exposition-html, exposition-bad.
Result<PageReport> read_exposition(std::string_view text,
                                   const std::function<void(const Point&)>& on_point);

// Reads a number as both formats write it: "97", "1e+06", "NaN", "+Inf".
std::optional<double> read_number(std::string_view text);

}  // namespace fairlead::evidence
