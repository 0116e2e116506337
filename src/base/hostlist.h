// Lists of host names in brackets, as schedulers write them: "n[001-003,7],login1".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead {

constexpr size_t kHostlistMax = 1'000'000;  // chosen: larger than any fleet, small enough to hold

// Returns the names in the order written, several bracket groups in a name included.
// Fails with hostlist-bad, hostlist-too-long.
Result<std::vector<std::string>> expand_hostlist(std::string_view text);

// The shortest bracket form of `names` that keeps their order: {"n1","n2","n4"} -> "n[1-2,4]".
std::string fold_hostlist(const std::vector<std::string>& names);

}  // namespace fairlead
