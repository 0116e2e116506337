// How the eight columns of the ledger look: one word, one colour, one glyph and one hatching each,
// the same in text, pages and plots. A glyph differs without colour, and a hatching without it too.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "views/report.h"

namespace fairlead {

struct ColumnLook {
  Column column = Column::free;
  std::string_view key;      // "held_idle", as in data
  std::string_view title;    // "held idle", as read
  std::string_view glyph;    // one character of a bar in text
  std::string_view hex;      // the colour
  std::string_view meaning;  // one sentence
};

std::span<const ColumnLook, kColumns> column_looks();  // in the order of a bar
const ColumnLook& look_of(Column column);

int64_t amount(const ColumnSeconds& seconds, Column column);

// Splits `cells` in proportion. Returns parts that add up to `cells`; what is above zero gets at
// least one while there are enough cells; all zero where the amounts are.
std::array<int64_t, kColumns> apportion(const ColumnSeconds& amounts, int64_t cells);

}  // namespace fairlead
