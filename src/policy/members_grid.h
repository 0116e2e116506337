// The cells of a table of members, each with its place; CSV and JSON alike.
#pragma once

#include "policy/members_table.h"

namespace fairlead::policy {

struct MembersGrid {
  lang::FileId file = 0;
  std::vector<Word> titles;
  std::vector<std::vector<Word>> rows;  // as many cells as there are titles; empty where none is
};

// JSON where the first letter is `[` or `{`. Nothing where the text is neither (E814).
std::optional<MembersGrid> read_members_grid(const lang::Sources& sources, lang::FileId file,
                                             OddRows& odd, lang::Diagnostics& problems);

}  // namespace fairlead::policy
