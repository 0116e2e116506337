#include "present/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead {
namespace {

struct Decoded {
  uint32_t code = 0;
  size_t length = 1;
};

Decoded decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80    ? 1
                        : lead >= 0xf0 ? 4
                        : lead >= 0xe0 ? 3
                        : lead >= 0xc0 ? 2
                                       : 1;
  if (length == 1 || length > text.size()) return {lead, 1};
  uint32_t code = lead & (0xff >> (length + 1));
  for (size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3f);
  return {code, length};
}

// The ranges that terminals draw over two columns (East Asian wide and emoji), coarsely.
bool is_wide(uint32_t c) {
  return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
         (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
         (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
         (c >= 0x1f300 && c <= 0x1faff);
}

bool is_combining(uint32_t c) {
  return (c >= 0x300 && c <= 0x36f) || c == 0x200d || (c >= 0xfe00 && c <= 0xfe0f);
}

std::string cut(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::string out;
  size_t used = 0;
  while (!text.empty()) {
    const Decoded d = decode(text);
    const size_t w = is_combining(d.code) ? 0 : is_wide(d.code) ? 2 : 1;
    if (used + w + 1 > width) break;
    out += text.substr(0, d.length);
    used += w;
    text.remove_prefix(d.length);
  }
  return out + "…";
}

std::string padded(const std::string& text, size_t width, Align align) {
  const size_t own = display_width(text);
  const std::string blanks(width > own ? width - own : 0, ' ');
  return align == Align::right ? blanks + text : text + blanks;
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Decoded d = decode(text);
    width += is_combining(d.code) ? 0 : is_wide(d.code) ? 2 : 1;
    text.remove_prefix(d.length);
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Decoded d = decode(text);
    if (d.code < 0x20 || d.code == 0x7f || (d.code >= 0x80 && d.code < 0xa0)) {
      out += fmt::format("\\x{:02x}", d.code);
    } else {
      out += text.substr(0, d.length);
    }
    text.remove_prefix(d.length);
  }
  return out;
}

Table printable(Table table) {
  for (auto& row : table.rows) {
    for (std::string& cell : row) cell = printable(cell);
  }
  return table;
}

std::string to_text(const Table& table, const TableOptions& options) {
  std::vector<size_t> widths;
  for (const TableColumn& column : table.columns)
    widths.push_back(options.headers ? display_width(column.title) : 0);
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : table.rows) {
    auto& cells = rows.emplace_back();
    for (size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      cells.push_back(printable(row[i]));
      widths[i] = std::max(widths[i], display_width(cells.back()));
    }
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i != 0) out += "  ";
      out += padded(cells[i], widths[i], table.columns[i].align);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    if (options.width_max > 0) out = cut(out, static_cast<size_t>(options.width_max));
    return out + "\n";
  };
  std::string out;
  if (options.headers) {
    std::vector<std::string> titles;
    for (const TableColumn& column : table.columns) titles.push_back(column.title);
    out += line(titles);
  }
  for (const auto& cells : rows) out += line(cells);
  return out;
}

std::string to_csv(const Table& table, bool headers) {
  std::string out;
  const auto field = [&](const std::string& text) {
    if (text.find_first_of(",\"\r\n") == text.npos) {
      out += text;
      return;
    }
    out += '"';
    for (const char c : text) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  };
  const auto end_of_row = [&](size_t i, size_t n) { out += i + 1 < n ? "," : "\r\n"; };
  for (size_t i = 0; headers && i < table.columns.size(); ++i) {
    field(table.columns[i].title);
    end_of_row(i, table.columns.size());
  }
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      field(row[i]);
      end_of_row(i, row.size());
    }
  }
  return out;
}

std::string gpu_hours(int64_t gpu_seconds) {
  const double h = static_cast<double>(gpu_seconds) / 3600;
  if (h >= 1000) return with_thousands(static_cast<int64_t>(h + 0.5));
  return h >= 10 ? fmt::format("{:.1f}", h) : fmt::format("{:.2f}", h);
}

std::string share(int64_t part, int64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string age(Instant then, Instant now) {
  if (!then.known()) return "-";
  return to_short_text(seconds(std::max<int64_t>(0, whole_seconds(now - then))));
}

std::string local_time(Instant at) {
  if (!at.known()) return "-";
  std::string text = to_rfc3339(instant_of_seconds(floor_seconds(at)));
  text[10] = ' ';
  text.pop_back();
  return text + " UTC";
}

}  // namespace fairlead
