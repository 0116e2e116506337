// Words for people: numbers, singular and plural, and the word that somebody may have meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

std::string with_thousands(int64_t number);            // 1,234,567
std::string plural(int64_t n, std::string_view noun);  // "1 node", "3 nodes", "2 switches"

// Returns the known word that is a few letters off, or an empty text where none is.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

// The hint behind an unknown word: "did you mean 'listen'?", else "known: a, b, c".
std::string hint_for_unknown(std::string_view word, const std::vector<std::string>& known);

}  // namespace fairlead
