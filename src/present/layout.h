// Text for a terminal of a given width: paragraphs, tables that wrap, bars, headings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "present/columns.h"
#include "present/table.h"

namespace fairlead {

struct TextOptions {
  int width = 100;           // of a line
  bool colour = false;       // ANSI, of 256 colours; glyphs differ without it
  bool true_colour = false;  // the terminal has all colours
  bool wide = false;         // every row and every fact, lines as long as they are
  bool headers = true;       // titles of tables
  Instant now;               // for ages; zero: the time of the facts
};

std::vector<std::string> wrap(std::string_view text, size_t width);  // at blanks, else anywhere
std::string paragraph(std::string_view text, const TextOptions& options, int indent = 2);
std::string heading(std::string_view title, const TextOptions& options);

struct Block {
  int indent = 2;
  size_t rows_max = 0;                   // 0: all
  std::vector<size_t> cell_widths = {};  // most of each column's cells, 0 or missing: as they are
};
std::string block(const Table& table, const TextOptions& options, const Block& shape = {});

// `cells` characters, in proportion to the columns. Requires: amounts are not all zero.
std::string bar(const ColumnSeconds& amounts, int64_t cells, const TextOptions& options);
std::string glyph(const ColumnLook& look, const TextOptions& options);

std::string one_line(
    std::string_view text);  // line ends and tabs become blanks, for what programs said
std::string words(std::string_view key);  // "no_process" as "no process"
std::string wait_text(int64_t wait_us);   // "2h14m"
std::string short_time(Instant at);       // "2026-11-30 10:59 UTC"

}  // namespace fairlead
