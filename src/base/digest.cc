#include "base/digest.h"

#include <fmt/format.h>

namespace fairlead {

std::string to_text(Digest digest) { return fmt::format("{:016x}", digest.value); }

Digest Hasher::digest() const {
  uint64_t x = state_;
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  return {x};
}

}  // namespace fairlead
