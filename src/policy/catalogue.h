// Models of accelerators by the names that people use, so that a slip is told from a new device.
//
// A site that has another one declares it: `devices B400 { B400-SXM }`.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fairlead::policy {

std::span<const std::string> known_models();  // sorted

// The known model that is spelt so but for its case; empty where none is.
std::string_view known_model(std::string_view name);

// But for their case.
bool same_letters(std::string_view a, std::string_view b);

}  // namespace fairlead::policy
