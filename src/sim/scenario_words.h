// The words of a scenario's line, and its spans of time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sim/history_read.h"

namespace fairlead {

constexpr Instant kScenarioStart = instant_of_seconds(1'767'225'600);  // 2026-01-01T00:00:00Z

// Taken from the front of the line.
class ScenarioWords {
 public:
  explicit ScenarioWords(std::string_view line) : line_(line) {}
  std::string_view next();  // empty at the end
  std::string_view rest();
  bool empty() const { return without_blanks(line_).empty(); }

 private:
  std::string_view line_;
};

// "1h30m" since the beginning; nothing where it is none, or more than a scenario may last.
std::optional<Instant> scenario_instant(std::string_view text);
// The same, back: as it is written in the input.
std::string scenario_time_text(Instant at);

// Of "n[1-4,7]"; none where it cannot be read.
std::vector<std::string> scenario_names(std::string_view hostlist);

}  // namespace fairlead
