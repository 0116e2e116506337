// Words for people: numbers, singular and plural, and the word that somebody may have meant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fairlead {

std::string with_thousands(int64_t number);            // 1,234,567
std::string plural(int64_t n, std::string_view noun);  // "1 node", "3 nodes", "2 switches"

// Returns the known word that is a few letters off, the first of equals, or an empty text where
// none is. Case and letters that look alike count half: `h100` is close to `H100`, `A10O` to
// `A100`.
std::string nearest_word(std::string_view word, std::span<const std::string> known);

// The hint behind an unknown word: "did you mean 'listen'?", else "known: a, b, c".
std::string hint_for_unknown(std::string_view word, std::span<const std::string> known);

}  // namespace fairlead
