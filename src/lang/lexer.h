// Text to tokens, comments and line ends included, so that a formatter can write them again.
//
// Only ASCII stands outside strings and comments; characters that turn the direction of the text
// are refused everywhere. What is refused becomes one `bad` token and one diagnostic (E109 numbers,
// E110 characters, E111 strings). Linear in the text.
#pragma once

#include <vector>

#include "lang/diagnostic.h"
#include "lang/token.h"

namespace fairlead::lang {

// Returns at least the `end` token.
std::vector<Token> lex(const Sources& sources, FileId file, Diagnostics& problems);

// What a parser walks: no comments, no second line end in a row, none at the beginning, and none
// where a line goes on (after `,` `and` `or`, and inside parentheses and brackets).
std::vector<Token> statements(const std::vector<Token>& tokens);

}  // namespace fairlead::lang
