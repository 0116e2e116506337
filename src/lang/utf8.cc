#include "lang/utf8.h"

namespace fairlead::lang {

Character first_character(std::string_view text) {
  constexpr Character kInvalid{.value = 0xfffd, .bytes = 1, .valid = false};
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {.value = lead};
  const uint32_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return kInvalid;
  char32_t value = lead & (0x7f >> bytes);
  for (uint32_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return kInvalid;
    value = value << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  if (overlong || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return kInvalid;
  return {.value = value, .bytes = bytes};
}

bool turns_direction(char32_t c) {
  return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace fairlead::lang
