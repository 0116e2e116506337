// Bytes as the store keeps them: smaller, and with what tells damage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::store {

struct Packed {
  int64_t size = 0;    // of what was packed
  int64_t packed = 0;  // 1: `bytes` is zlib's; 0: small, kept as it is
  int64_t digest = 0;  // of what was packed
  std::string bytes;
};

Packed pack(std::string_view bytes);

// Fails with store-corrupt.
Result<std::string> unpack(const Packed& packed);

// Hands it to another process of this machine and program. read_packed fails with file-missing,
// file-unreadable, store-corrupt.
Result<void> write_packed(const std::string& path, const Packed& packed);
Result<Packed> read_packed(const std::string& path);

}  // namespace fairlead::store
