// One self-contained page: no network, no script, light and dark, prints well.
//
// Names come from people and hold any byte: every text goes through `escaped`, and what is markup
// already is of type Markup, so that the two cannot be mixed up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "present/columns.h"
#include "present/table.h"

namespace fairlead {

struct Markup {
  std::string html;
  Markup& operator+=(const Markup& other) {
    html += other.html;
    return *this;
  }
};

Markup escaped(std::string_view text);  // valid UTF-8 whatever the bytes; line ends are blanks,
                                        // other control characters visible
Markup element(std::string_view tag, std::string_view css_class, const Markup& inner);
Markup paragraph_markup(std::string_view text, std::string_view css_class = "");

// A whole document. The hatchings that `bar_svg` and `swatch_svg` use are defined in it.
std::string page(std::string_view title, const Markup& body);

// One stacked bar in proportion, its parts with hover texts; widths add up to 100 %.
Markup bar_svg(const ColumnSeconds& amounts, std::string_view unit);
Markup swatch_svg(const ColumnLook& look);

// A column of plots beside a table's cells, one for each row.
struct Plots {
  std::string title;
  std::vector<Markup> cells;
  bool first = false;  // to the left of them
};
Markup table_markup(const Table& table, const Plots& plots = {});

struct Section {
  std::string title;
  std::string source;  // where the numbers come from, how old they are, what they cover; on hover
};
Markup section(const Section& about, const Markup& inner);

}  // namespace fairlead
