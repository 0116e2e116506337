// What people say for the begin of a window: "7d" ago, an instant, or a day (UTC, from its start).
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace fairlead {

// An empty text is the begin of all books. Fails with since-bad.
Result<Instant> since_of(std::string_view text, Instant now);

}  // namespace fairlead
