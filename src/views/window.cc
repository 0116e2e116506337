#include "views/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead {

Result<Instant> since_of(std::string_view text, Instant now) {
  if (text.empty()) return Instant{};
  constexpr size_t kDayLength = std::string_view("2026-01-31").size();
  auto at = parse_rfc3339(text);
  if (!at && text.size() == kDayLength) at = parse_rfc3339(std::string(text) + "T00:00:00Z");
  if (at && *at > now)
    return fail("since-bad", fmt::format("'{}' lies in the future", text), "7d, or a day that was");
  if (at) return *at;
  if (const auto ago = parse_duration(text)) return std::max(Instant{}, now - *ago);
  return fail("since-bad",
              fmt::format("'{}' is no duration, no day and no instant", text.substr(0, 80)),
              "7d, 2026-01-31 or 2026-01-31T08:00:00Z");
}

}  // namespace fairlead
