// Text to a tree; any number of problems in one run.
//
// Codes: E101 a unit apart from its number · E102 no such unit · E103 a block that is not closed ·
// E104 an unknown key or word · E105 written twice · E106 something is missing · E109 to E111 of
// the lexer · E112 a key where it cannot stand · E113 another kind of value.
#pragma once

#include "lang/diagnostic.h"
#include "policy/tree.h"

namespace fairlead::policy {

// Adds what `file` states to `tree`. A statement that could not be read is left out.
void parse(const lang::Sources& sources, lang::FileId file, Tree& tree,
           lang::Diagnostics& problems);

}  // namespace fairlead::policy
