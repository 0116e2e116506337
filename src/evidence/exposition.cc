#include "evidence/exposition.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <vector>

namespace fairlead::evidence {
namespace {

constexpr size_t kLineMax = 64 << 10;
constexpr size_t kLabelsMax = 128;

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':' || c == '.';
}

std::string_view skip_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

std::string_view take_name(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && is_name(text[end])) ++end;
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end);
  return name;
}

std::string_view take_word(std::string_view& text) {
  text = skip_blanks(text);
  size_t end = 0;
  while (end < text.size() && !is_blank(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text = skip_blanks(text.substr(end));
  return word;
}

// Reads one line after the other into the same memory.
class LineReader {
 public:
  explicit LineReader(bool open_metrics) : open_metrics_(open_metrics) {}

  std::optional<Point> read(std::string_view line) {
    labels_.clear();
    unescaped_.clear();
    Point point;
    point.metric = take_name(line);
    if (point.metric.empty()) return std::nullopt;
    line = skip_blanks(line);
    if (line.starts_with('{') && !take_labels(line)) return std::nullopt;
    point.labels = labels_;
    const auto value = read_number(take_word(line));
    if (!value) return std::nullopt;
    point.value = *value;
    if (open_metrics_) line = line.substr(0, line.find('#'));  // an exemplar
    if (const std::string_view time = take_word(line); !time.empty() && !take_time(time, point))
      return std::nullopt;
    if (!line.empty()) return std::nullopt;
    return point;
  }

 private:
  bool take_labels(std::string_view& line) {
    line.remove_prefix(1);
    while (true) {
      line = skip_blanks(line);
      if (line.starts_with('}')) {
        line.remove_prefix(1);
        return true;
      }
      Label label;
      label.name = take_name(line);
      line = skip_blanks(line);
      if (label.name.empty() || !line.starts_with('=')) return false;
      line = skip_blanks(line.substr(1));
      if (!take_quoted(line, label.value) || labels_.size() >= kLabelsMax) return false;
      labels_.push_back(label);
      line = skip_blanks(line);
      if (line.starts_with(','))
        line.remove_prefix(1);
      else if (!line.starts_with('}'))
        return false;
    }
  }

  bool take_quoted(std::string_view& line, std::string_view& value) {
    if (!line.starts_with('"')) return false;
    size_t end = 1;
    bool escaped = false;
    while (end < line.size() && line[end] != '"') {
      escaped = escaped || line[end] == '\\';
      end += line[end] == '\\' ? 2 : 1;
    }
    if (end >= line.size()) return false;
    value = line.substr(1, end - 1);
    if (escaped) value = unescape(value);
    line.remove_prefix(end + 1);
    return true;
  }

  std::string_view unescape(std::string_view text) {
    std::string& out = unescaped_.emplace_back();  // a deque: what points into it stays
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) {
        ++i;
        if (text[i] != '"' && text[i] != '\\' && text[i] != 'n') out += '\\';
        out += text[i] == 'n' ? '\n' : text[i];
      } else {
        out += text[i];
      }
    }
    return out;
  }

  bool take_time(std::string_view text, Point& point) const {
    const auto time = read_number(text);
    const double us = time.value_or(std::nan("")) * (open_metrics_ ? 1e6 : 1e3);
    if (!(std::abs(us) < 9e18)) return false;
    point.at = Instant{std::llround(us)};
    return true;
  }

  bool open_metrics_;
  std::vector<Label> labels_;
  std::deque<std::string> unescaped_;
};

bool ends_as_open_metrics(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || is_blank(text.back())))
    text.remove_suffix(1);
  return text.ends_with("# EOF");
}

}  // namespace

std::optional<double> read_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return std::numeric_limits<double>::infinity();
  if (error != std::errc{}) return std::nullopt;
  return value;
}

Result<PageReport> read_exposition(std::string_view text,
                                   const std::function<void(const Point&)>& on_point) {
  LineReader reader(ends_as_open_metrics(text));
  PageReport report;
  int number = 0;
  bool has_comment = false;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = skip_blanks(line);
    if (line.empty()) continue;
    if (line.starts_with('#')) {
      has_comment = true;
      continue;
    }
    if (report.points == 0 && line.starts_with('<')) {
      return fail("exposition-html", "a web page came instead of metrics",
                  "is the path /metrics, and is there a login before it?");
    }
    const auto point = line.size() <= kLineMax ? reader.read(line) : std::nullopt;
    if (point) {
      ++report.points;
      on_point(*point);
    } else if (report.bad_lines++ == 0) {
      report.first_bad_line = number;
    }
  }
  if (report.points == 0 && (report.bad_lines > 0 || !has_comment)) {
    return fail("exposition-bad",
                report.bad_lines == 0
                    ? "the page is empty"
                    : fmt::format("no line can be read as a metric, line {} the first",
                                  report.first_bad_line),
                "is this the address of an exporter?");
  }
  return report;
}

}  // namespace fairlead::evidence
