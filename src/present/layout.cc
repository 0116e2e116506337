#include "present/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace fairlead {
namespace {

// How many bytes from the front of `text` take at most `width` columns; at least one character.
size_t bytes_within(std::string_view text, size_t width) {
  size_t end = 0;
  while (end < text.size()) {
    size_t next = end + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) ++next;
    if (end > 0 && display_width(text.substr(0, next)) > width) break;
    end = next;
  }
  return end;
}

size_t room(const TextOptions& options, int indent) {
  return static_cast<size_t>(std::max(20, options.width - indent));
}

// The nearest of the 6 x 6 x 6 colours that 256-colour terminals have from 16 on.
int cube_colour(std::array<int, 3> rgb) {
  constexpr std::array kLevels = {0, 95, 135, 175, 215, 255};
  int index = 0;
  for (const int value : rgb) {
    const auto nearest = std::ranges::min_element(
        kLevels, {}, [value](int level) { return std::abs(level - value); });
    index = index * 6 + static_cast<int>(nearest - kLevels.begin());
  }
  return 16 + index;
}

std::string ansi(const ColumnLook& look, const TextOptions& options) {
  if (!options.colour) return "";
  if (look.column == Column::down) return "\x1b[2m";  // its colour is too dark for a dark terminal
  if (look.hex.empty()) return "";
  std::array<int, 3> rgb{};
  for (size_t i = 0; i < 3; ++i)
    rgb[i] = std::stoi(std::string(look.hex.substr(1 + 2 * i, 2)), nullptr, 16);
  return options.true_colour ? fmt::format("\x1b[38;2;{}m", fmt::join(rgb, ";"))
                             : fmt::format("\x1b[38;5;{}m", cube_colour(rgb));
}

// Cells that are too wide go on below, so that nothing is cut.
Table wrapped(const Table& table, const std::vector<size_t>& widths) {
  Table out{.columns = table.columns, .rows = {}};
  for (const auto& row : table.rows) {
    std::vector<std::vector<std::string>> cells;
    size_t lines = 1;
    for (size_t i = 0; i < row.size(); ++i) {
      const size_t width = i < widths.size() ? widths[i] : 0;
      cells.push_back(width == 0 ? std::vector{row[i]} : wrap(printable(row[i]), width));
      lines = std::max(lines, cells.back().size());
    }
    for (size_t line = 0; line < lines; ++line) {
      auto& to = out.rows.emplace_back();
      for (const auto& cell : cells) to.push_back(line < cell.size() ? cell[line] : "");
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (display_width(text) > width) {
    size_t end = bytes_within(text, width);
    if (end < text.size() && text[end] != ' ') {
      const size_t blank = text.rfind(' ', end);
      if (blank != text.npos && blank > 0) end = blank;
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::string paragraph(std::string_view text, const TextOptions& options, int indent) {
  std::string out;
  for (const std::string& line : wrap(printable(one_line(text)), room(options, indent))) {
    out += std::string(static_cast<size_t>(indent), ' ') + line + "\n";
  }
  return out;
}

std::string heading(std::string_view title, const TextOptions& options) {
  return options.colour ? fmt::format("\n\x1b[1m{}\x1b[0m\n", printable(title))
                        : fmt::format("\n{}\n", printable(title));
}

std::string block(const Table& table, const TextOptions& options, const Block& shape) {
  Table shown = table;
  const bool all = options.wide || shape.rows_max == 0 || table.rows.size() <= shape.rows_max;
  if (!all) shown.rows.resize(shape.rows_max);
  if (!options.wide) shown = wrapped(shown, shape.cell_widths);
  const std::string text = to_text(
      shown, {.headers = options.headers,
              .width_max = options.wide ? 0 : static_cast<int>(room(options, shape.indent))});
  const std::string blanks(static_cast<size_t>(shape.indent), ' ');
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at) + 1;
    out += blanks + text.substr(at, end - at);
    at = end;
  }
  if (!all) out += fmt::format("{}… {} more\n", blanks, table.rows.size() - shape.rows_max);
  return out;
}

std::string glyph(const ColumnLook& look, const TextOptions& options) {
  const std::string colour = ansi(look, options);
  return colour.empty() ? std::string(look.glyph) : colour + std::string(look.glyph) + "\x1b[0m";
}

std::string bar(const ColumnSeconds& amounts, int64_t cells, const TextOptions& options) {
  const auto parts = apportion(amounts, cells);
  std::string out;
  for (const ColumnLook& look : column_looks()) {
    const int64_t n = parts[static_cast<size_t>(look.column)];
    if (n == 0) continue;
    const std::string colour = ansi(look, options);
    out += colour;
    for (int64_t i = 0; i < n; ++i) out += look.glyph;
    if (!colour.empty()) out += "\x1b[0m";
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string words(std::string_view key) {
  std::string text(key);
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string wait_text(int64_t wait_us) {
  return to_short_text(seconds(wait_us / kMicrosPerSecond));
}

std::string short_time(Instant at) {
  if (!at.known()) return "-";
  std::string text = to_rfc3339(instant_of_seconds(floor_seconds(at))).substr(0, 16);
  text[10] = ' ';
  return text + " UTC";
}

}  // namespace fairlead
