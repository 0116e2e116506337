// A digest of values: equal digests, equal values (but for chance).
//
// 64-bit FNV-1a with a final mix. Numbers are folded as eight little-endian bytes, strings with
// their length before them, so that two neighbours never run into each other. Not for secrets: the
// lineage signs with a real hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead {

struct Digest {
  uint64_t value = 0;
  auto operator<=>(const Digest&) const = default;
};

std::string to_text(Digest digest);  // sixteen hexadecimal digits

class Hasher {
 public:
  void add(uint64_t value) {
    for (int i = 0; i < 8; ++i) add_byte(static_cast<uint8_t>(value >> (8 * i)));
  }
  void add(std::string_view text) {
    add(static_cast<uint64_t>(text.size()));
    for (const char c : text) add_byte(static_cast<uint8_t>(c));
  }
  Digest digest() const;

 private:
  void add_byte(uint8_t byte) { state_ = (state_ ^ byte) * 0x100000001b3ULL; }
  uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace fairlead
