#include "lang/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "lang/utf8.h"

namespace fairlead::lang {
namespace {

struct Mark {
  size_t column = 0;  // characters before it
  size_t width = 1;
  char drawn = '-';
  std::string_view text;
};

// One cell for each character, so that carets stand where columns say: a tab is one blank, and what
// would turn or move the line is drawn as a replacement character.
std::string shown(std::string_view line) {
  std::string out;
  while (!line.empty()) {
    const Character c = first_character(line);
    if (c.value == '\t')
      out += ' ';
    else if (!c.valid || c.value < 0x20 || c.value == 0x7f || turns_direction(c.value))
      out += "\xef\xbf\xbd";
    else
      out += line.substr(0, c.bytes);
    line.remove_prefix(c.bytes);
  }
  return out;
}

Mark mark_of(const Label& label, bool primary, const SourceFile& file) {
  const Position begin = file.position(label.span.begin);
  const Position end = file.position(label.span.end);
  const size_t line_width = characters(file.line(begin.line));
  const size_t last = end.line == begin.line ? end.column - 1 : line_width;
  const size_t column = begin.column - 1;
  return {.column = column,
          .width = last > column ? last - column : 1,
          .drawn = primary ? '^' : '-',
          .text = label.text};
}

// The marks under one line; the rightmost's text stands beside it, the others' below theirs.
std::vector<std::string> drawn_below(std::vector<Mark> marks) {
  std::ranges::sort(marks, {}, &Mark::column);
  std::vector<std::string> lines(1);
  for (const Mark& mark : marks) {
    if (lines[0].size() < mark.column + mark.width) lines[0].resize(mark.column + mark.width, ' ');
    for (size_t i = 0; i < mark.width; ++i) {
      char& at = lines[0][mark.column + i];
      if (at != '^') at = mark.drawn;
    }
  }
  if (!marks.back().text.empty()) lines[0] += fmt::format(" {}", marks.back().text);
  marks.pop_back();
  for (; !marks.empty(); marks.pop_back()) {
    const Mark& mark = marks.back();
    if (!mark.text.empty()) lines.push_back(std::string(mark.column, ' ') + std::string(mark.text));
  }
  return lines;
}

struct Excerpt {
  const Diagnostic& diagnostic;
  const Sources& sources;
  size_t gutter = 1;

  std::vector<const Label*> labels_in(FileId file) const {
    std::vector<const Label*> labels;
    if (diagnostic.primary.span.file == file) labels.push_back(&diagnostic.primary);
    for (const Label& label : diagnostic.others)
      if (label.span.file == file) labels.push_back(&label);
    return labels;
  }

  void file_lines(std::string& out, FileId id) const {
    const SourceFile& file = sources.file(id);
    std::map<uint32_t, std::vector<Mark>> by_line;
    for (const Label* label : labels_in(id)) {
      by_line[file.position(label->span.begin).line].push_back(
          mark_of(*label, label == &diagnostic.primary, file));
    }
    uint32_t last = 0;
    for (auto& [line, marks] : by_line) {
      if (last != 0 && line > last + 1) out += "..\n";
      last = line;
      out += fmt::format("{:>{}} | {}\n", line, gutter, shown(file.line(line)));
      for (const std::string& below : drawn_below(std::move(marks)))
        out += fmt::format("{:>{}} | {}\n", "", gutter, below);
    }
  }
};

std::string place_text(const Sources& sources, Span span) {
  const Position at = sources.begin_of(span);
  return fmt::format("{}:{}:{}", sources.file(span.file).name(), at.line, at.column);
}

PlacedLabel placed(const Label& label, const Sources& sources) {
  const Position begin = sources.begin_of(label.span);
  const Position end = sources.end_of(label.span);
  return {.file = sources.file(label.span.file).name(),
          .line = begin.line,
          .column = begin.column,
          .end_line = end.line,
          .end_column = end.column,
          .label = label.text};
}

}  // namespace

bool any_error(const Diagnostics& diagnostics) {
  return std::ranges::any_of(diagnostics,
                             [](const auto& d) { return d.severity == Severity::error; });
}

void sort_by_place(Diagnostics& diagnostics) {
  const auto key = [](const Diagnostic& d) {
    return std::tuple(d.primary.span.file, d.primary.span.begin, std::string_view(d.code),
                      std::string_view(d.message));
  };
  std::ranges::sort(diagnostics, {}, key);
  const auto rest = std::ranges::unique(diagnostics, {}, key);
  diagnostics.erase(rest.begin(), rest.end());
}

std::string to_text(const Diagnostic& d, const Sources& sources) {
  uint32_t widest = sources.begin_of(d.primary.span).line;
  for (const Label& label : d.others) widest = std::max(widest, sources.begin_of(label.span).line);
  const Excerpt excerpt{d, sources, fmt::format("{}", widest).size()};
  const std::string margin(excerpt.gutter, ' ');
  const char* severity = d.severity == Severity::error ? "error" : "warning";
  std::string out = fmt::format("{}[{}]: {}\n", severity, d.code, d.message);
  out += fmt::format("{}--> {}\n{} |\n", margin, place_text(sources, d.primary.span), margin);
  excerpt.file_lines(out, d.primary.span.file);
  std::vector<FileId> seen{d.primary.span.file};
  for (const Label& label : d.others) {
    if (std::ranges::find(seen, label.span.file) != seen.end()) continue;
    seen.push_back(label.span.file);
    out += fmt::format("{}::: {}\n{} |\n", margin, place_text(sources, label.span), margin);
    excerpt.file_lines(out, label.span.file);
  }
  if (!d.hint.empty()) out += fmt::format("{} = hint: {}\n", margin, d.hint);
  return out;
}

PlacedDiagnostic placed(const Diagnostic& d, const Sources& sources) {
  PlacedDiagnostic out{.severity = d.severity,
                       .code = d.code,
                       .message = d.message,
                       .place = placed(d.primary, sources),
                       .others = {},
                       .hint = d.hint};
  for (const Label& label : d.others) out.others.push_back(placed(label, sources));
  return out;
}

}  // namespace fairlead::lang
