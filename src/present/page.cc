#include "present/page.h"

#include <fmt/format.h>

#include "present/page_style.h"

namespace fairlead {
namespace {

// The length of the valid UTF-8 character at the front of `text`, 0 where there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool beyond = (lead == 0xed && byte(1) >= 0xa0) || (lead == 0xf4 && byte(1) >= 0x90);
  return overlong || beyond ? 0 : length;
}

constexpr int64_t kParts = 10'000;  // hundredths of a per cent

std::string percent(int64_t parts) { return fmt::format("{}.{:02}%", parts / 100, parts % 100); }

std::string class_of(Column column) {
  return column == Column::free || column == Column::stranded ? "edge"
         : column == Column::down                             ? "down"
                                                              : "cell";
}

std::string fill_of(const ColumnLook& look) {
  return look.column == Column::free ? "none" : fmt::format("url(#h-{})", look.key);
}

}  // namespace

Markup escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c == '\n' || c == '\t') {
      out += ' ';
    } else if (length == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return {out};
}

Markup element(std::string_view tag, std::string_view css_class, const Markup& inner) {
  return {css_class.empty()
              ? fmt::format("<{}>{}</{}>", tag, inner.html, tag)
              : fmt::format("<{} class=\"{}\">{}</{}>", tag, css_class, inner.html, tag)};
}

Markup paragraph_markup(std::string_view text, std::string_view css_class) {
  return element("p", css_class, escaped(text));
}

std::string page(std::string_view title, const Markup& body) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n";
  out += "<title>" + escaped(title).html + "</title>\n<style>";
  out += kPageStyle;
  out += "</style>\n</head>\n<body>\n";
  out += kHatchings;
  return out + "\n<main>\n" + body.html + "</main>\n</body>\n</html>\n";
}

Markup bar_svg(const ColumnSeconds& amounts, std::string_view unit) {
  const auto parts = apportion(amounts, kParts);
  std::string label, rects;
  int64_t at = 0;
  for (const ColumnLook& look : column_looks()) {
    const int64_t width = parts[static_cast<size_t>(look.column)];
    if (width == 0) continue;
    const int64_t n = amount(amounts, look.column);
    const std::string number =
        unit == "GPUs" ? with_thousands(n) + " GPUs" : gpu_hours(n) + " GPU-hours";
    const std::string text = fmt::format("{}: {}, {}", look.title, number, share(n, amounts.total));
    label += (label.empty() ? "" : "; ") + text;
    rects += fmt::format(
        "<rect class=\"{}\" x=\"{}\" width=\"{}\" height=\"100%\" "
        "fill=\"{}\"><title>{}</title></rect>",
        class_of(look.column), percent(at), percent(width), fill_of(look), text);
    at += width;
  }
  if (label.empty()) {
    label = "nothing is booked";
    rects =
        "<rect class=\"edge\" fill=\"none\" width=\"100%\" height=\"100%\" stroke-dasharray=\"3 "
        "3\"/>";
  }
  return {fmt::format("<svg class=\"bar\" role=\"img\" aria-label=\"{}\">{}</svg>", label, rects)};
}

Markup swatch_svg(const ColumnLook& look) {
  return {
      fmt::format("<svg class=\"swatch\" aria-hidden=\"true\"><rect class=\"{}\" width=\"100%\" "
                  "height=\"100%\" fill=\"{}\"/></svg>",
                  class_of(look.column), fill_of(look))};
}

Markup table_markup(const Table& table, const Plots& plots) {
  const std::string plot_title =
      plots.cells.empty() ? "" : element("th", "", escaped(plots.title)).html;
  std::string out = "<div class=\"scroll\"><table><thead><tr>" + (plots.first ? plot_title : "");
  for (const TableColumn& column : table.columns) {
    out += element("th", column.align == Align::right ? "n" : "", escaped(column.title)).html;
  }
  out += (plots.first ? "" : plot_title) + "</tr></thead><tbody>\n";
  for (size_t r = 0; r < table.rows.size(); ++r) {
    const std::string plot = r < plots.cells.size() ? element("td", "", plots.cells[r]).html : "";
    out += "<tr>" + (plots.first ? plot : "");
    for (size_t i = 0; i < table.rows[r].size(); ++i) {
      const bool right = table.columns[i].align == Align::right;
      const std::string& text = table.rows[r][i];
      out += element("td",
                     right                      ? "n"
                     : display_width(text) > 40 ? "text"
                                                : "",
                     escaped(text))
                 .html;
    }
    out += (plots.first ? "" : plot) + "</tr>\n";
  }
  return {out + "</tbody></table></div>\n"};
}

Markup section(const Section& about, const Markup& inner) {
  const std::string title =
      about.source.empty() ? "" : fmt::format(" title=\"{}\"", escaped(about.source).html);
  return {fmt::format("<section{}><h2>{}</h2>\n{}</section>\n", title, escaped(about.title).html,
                      inner.html)};
}

}  // namespace fairlead
