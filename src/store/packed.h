// Bytes made smaller, and told apart from others.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::store {

// zlib at its fastest: a state of text shrinks to a sixth at some 100 MB/s.
std::string pack(std::string_view bytes);

// Requires: `size` is what was packed. Fails with store-corrupt.
Result<std::string> unpack(std::string_view packed, size_t size);

}  // namespace fairlead::store
