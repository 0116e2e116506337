// The one layout of a document: the same tokens and comments, in other places.
//
// Two blanks for each level; a block that was closed on its line stays there, any other one has
// its braces at line ends; keys of neighbouring lines align their values, one-line blocks of one
// kind align what they have in common, comments at line ends stand below each other; at most one
// blank line in a row. What was laid out is not changed by doing so again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lang/source.h"

namespace fairlead::lang {

struct FormatRules {
  std::vector<std::string> sections;  // words whose lines are no key lines: team, class, test
  // Inside the block of the first word, these begin a further part of a line: two blanks go before.
  std::map<std::string, std::vector<std::string>, std::less<>> parts;
};

// Requires: the file has no syntax error.
std::string format(const Sources& sources, FileId file, const FormatRules& rules);

}  // namespace fairlead::lang
