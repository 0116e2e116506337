// The name that was probably meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fairlead {

// How many letters must change, come, go, or swap with their neighbour to turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

// Returns the name closest to `name`, the first of equals; nothing where all are too far for a
// guess. Case and letters that look alike count half: `h100` is close to `H100`, `A10O` to `A100`.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> names);

}  // namespace fairlead
