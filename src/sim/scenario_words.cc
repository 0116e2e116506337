#include "sim/scenario_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hostlist.h"

namespace fairlead {
namespace {
constexpr int64_t kScenarioMost = 30 * 86400;  // chosen: a scenario stays a matter of milliseconds
}

std::string_view ScenarioWords::next() {
  const size_t begin = line_.find_first_not_of(" \t");
  if (begin == line_.npos) return line_ = {};
  line_.remove_prefix(begin);
  const std::string_view word = line_.substr(0, std::min(line_.find_first_of(" \t"), line_.size()));
  line_.remove_prefix(word.size());
  return word;
}

std::string_view ScenarioWords::rest() { return without_blanks(std::exchange(line_, {})); }

std::optional<Instant> scenario_instant(std::string_view text) {
  const auto after = parse_duration(text);
  if (!after || whole_seconds(*after) > kScenarioMost) return std::nullopt;
  return kScenarioStart + *after;
}

std::string scenario_time_text(Instant at) {
  const int64_t s = whole_seconds(at - kScenarioStart);
  std::string text;
  if (s >= 3600) text += fmt::format("{}h", s / 3600);
  if (s / 60 % 60 != 0) text += fmt::format("{}m", s / 60 % 60);
  if (s % 60 != 0 || s == 0) text += fmt::format("{}s", s % 60);
  return text;
}

std::vector<std::string> scenario_names(std::string_view hostlist) {
  const auto names = expand_hostlist(hostlist);
  return names ? *names : std::vector<std::string>{};
}

}  // namespace fairlead
