// Models of accelerators by the names that people use, so that a slip is told from a new device.
//
// A site that has another one declares it: `devices B400 { B400-SXM }`.
#pragma once

#include <span>
#include <string>

namespace fairlead::policy {

std::span<const std::string> known_models();  // sorted

}  // namespace fairlead::policy
