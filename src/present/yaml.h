// A JSON document as YAML: the same members in the same order.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead {

// Fails with json-bad.
Result<std::string> json_to_yaml(std::string_view json);

}  // namespace fairlead
