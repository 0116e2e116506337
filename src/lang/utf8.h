// UTF-8, one character at a time.
#pragma once

#include <cstdint>
#include <string_view>

namespace fairlead::lang {

struct Character {
  char32_t value = 0;
  uint32_t bytes = 1;
  bool valid = true;  // false: one byte that is no UTF-8, overlong forms and surrogates included
};

// Requires: `text` is not empty.
Character first_character(std::string_view text);

// Characters that turn the direction of what follows, so that a line reads otherwise than it is.
bool turns_direction(char32_t c);

}  // namespace fairlead::lang
