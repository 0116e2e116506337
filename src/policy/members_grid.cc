#include "policy/members_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"

namespace fairlead::policy {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// A place in one text.
struct At {
  std::string_view text;
  lang::FileId file;
  size_t at = 0;

  bool end() const { return at >= text.size(); }
  char peek() const { return end() ? '\0' : text[at]; }
  bool take(char c) {
    if (end() || text[at] != c) return false;
    ++at;
    return true;
  }
  void skip_blanks() {
    while (!end() && is_blank(text[at])) ++at;
  }
  Span since(size_t begin) const {
    return {file, static_cast<uint32_t>(begin), static_cast<uint32_t>(at)};
  }
};

void refuse(lang::Diagnostics& problems, std::string message, Span place, std::string hint) {
  problems.push_back({.code = "E814",
                      .message = std::move(message),
                      .primary = {place, ""},
                      .others = {},
                      .hint = std::move(hint)});
}

class Csv {
 public:
  Csv(At in, lang::Diagnostics& problems) : in_(in), problems_(problems) {
    const std::string_view first = in_.text.substr(in_.at, in_.text.find('\n', in_.at) - in_.at);
    for (const char c : {';', '\t'})
      if (std::ranges::count(first, c) > std::ranges::count(first, comma_)) comma_ = c;
  }

  std::optional<MembersGrid> read(OddRows& odd) {
    MembersGrid grid{.file = in_.file, .titles = {}, .rows = {}};
    while (!in_.end()) {
      auto cells = row();
      if (!cells) return std::nullopt;
      const bool blank = std::ranges::all_of(*cells, [](const Word& w) { return w.value.empty(); });
      if (blank || cells->front().value.starts_with('#')) continue;
      if (grid.titles.empty()) {
        grid.titles = std::move(*cells);
      } else if (cells->size() == grid.titles.size()) {
        grid.rows.push_back(std::move(*cells));
      } else {
        odd.tell(fmt::format("this row has {} where the first line has {}, so it is left out",
                             plural(std::ssize(*cells), "cell"), grid.titles.size()),
                 {join(cells->front().span, cells->back().span), ""},
                 fmt::format("part its cells by {}, and put one that has it between quotes",
                             comma_ == '\t' ? "tabs" : fmt::format("`{}`", comma_)));
      }
    }
    return grid;
  }

 private:
  std::optional<std::vector<Word>> row() {
    std::vector<Word> cells;
    do {
      auto cell = in_.peek() == '"' ? quoted_cell() : plain_cell();
      if (!cell) return std::nullopt;
      cells.push_back(std::move(*cell));
    } while (in_.take(comma_));
    in_.take('\r');
    in_.take('\n');
    return cells;
  }
  bool at_cell_end() const {
    const char c = in_.peek();
    return in_.end() || c == comma_ || c == '\n' ||
           (c == '\r' && (in_.at + 1 >= in_.text.size() || in_.text[in_.at + 1] == '\n'));
  }
  std::optional<Word> plain_cell() {
    size_t begin = in_.at;
    while (!at_cell_end()) ++in_.at;
    size_t end = in_.at;
    while (begin < end && is_blank(in_.text[begin])) ++begin;
    while (begin < end && is_blank(in_.text[end - 1])) --end;
    return Word{std::string(in_.text.substr(begin, end - begin)),
                {in_.file, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}};
  }
  std::optional<Word> quoted_cell() {
    const size_t begin = in_.at++;
    std::string value;
    for (; !in_.end(); ++in_.at) {
      if (in_.peek() != '"') {
        value += in_.peek();
      } else if (in_.at + 1 < in_.text.size() && in_.text[in_.at + 1] == '"') {
        value += '"';
        ++in_.at;
      } else {
        break;
      }
    }
    if (!in_.take('"')) {
      refuse(problems_, "this quote is never closed",
             {in_.file, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + 1)},
             "close it, or double a quote that belongs to a name");
      return std::nullopt;
    }
    const Span span = in_.since(begin);
    while (!at_cell_end()) ++in_.at;  // what stands behind a closing quote is nothing's
    return Word{std::move(value), span};
  }

  At in_;
  lang::Diagnostics& problems_;
  char comma_ = ',';
};

// A list of objects. Values that are texts or numbers are cells, all others are passed over.
class Json {
 public:
  Json(At in, lang::Diagnostics& problems) : in_(in), problems_(problems) {}

  std::optional<MembersGrid> read(OddRows& odd) {
    in_.skip_blanks();
    if (!in_.take('[')) return bad("a list of members is wanted here", "write it as [{…}, {…}]");
    for (in_.skip_blanks(); !in_.take(']'); in_.skip_blanks()) {
      const size_t begin = in_.at;
      if (in_.take('{')) {
        if (!object(begin)) return std::nullopt;
      } else {
        if (!pass_value()) return std::nullopt;
        odd.tell("this is no object, so it is left out", {in_.since(begin), ""},
                 R"(write it as {"user": "ana"})");
      }
      in_.skip_blanks();
      if (!in_.take(',') && in_.peek() != ']') return bad("a `,` or `]` is missing", "add it");
    }
    in_.skip_blanks();
    if (!in_.end()) return bad("there is more behind the list", "delete it");
    for (size_t i = 0; i < grid_.rows.size(); ++i)
      grid_.rows[i].resize(grid_.titles.size(), Word{"", begins_[i]});
    grid_.file = in_.file;
    return std::move(grid_);
  }

 private:
  std::nullopt_t bad(std::string message, std::string hint) {
    const auto at = static_cast<uint32_t>(std::min(in_.at, in_.text.size()));
    const auto end = std::min<uint32_t>(at + 1, static_cast<uint32_t>(in_.text.size()));
    refuse(problems_, std::move(message), {in_.file, at, end}, std::move(hint));
    return std::nullopt;
  }

  bool object(size_t begin) {
    std::vector<Word> row;
    const Span opener{in_.file, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + 1)};
    for (in_.skip_blanks(); !in_.take('}'); in_.skip_blanks()) {
      auto title = text();
      if (!title) return false;
      in_.skip_blanks();
      if (!in_.take(':')) return bad("a `:` is missing", "add it"), false;
      in_.skip_blanks();
      auto value = cell();
      if (!value) return false;
      put(row, std::move(*title), std::move(*value), opener);
      in_.skip_blanks();
      if (!in_.take(',') && in_.peek() != '}')
        return bad("a `,` or `}` is missing", "add it"), false;
    }
    grid_.rows.push_back(std::move(row));
    begins_.push_back(opener);
    return true;
  }
  void put(std::vector<Word>& row, Word title, Word value, Span opener) {
    const auto found = std::ranges::find(grid_.titles, title.value, &Word::value);
    const auto column = static_cast<size_t>(found - grid_.titles.begin());
    constexpr size_t kColumnsMax = 200;  // chosen: an object of a directory has some dozens
    if (found == grid_.titles.end()) {
      if (grid_.titles.size() == kColumnsMax) return;
      grid_.titles.push_back(std::move(title));
    }
    if (row.size() <= column) row.resize(column + 1, Word{"", opener});
    row[column] = std::move(value);
  }

  std::optional<Word> cell() {
    if (in_.peek() == '"') return text();
    const size_t begin = in_.at;
    if (!pass_value()) return std::nullopt;
    const std::string_view raw = in_.text.substr(begin, in_.at - begin);
    const bool number = raw.front() == '-' || (raw.front() >= '0' && raw.front() <= '9');
    return Word{number ? std::string(raw) : "", in_.since(begin)};
  }

  // Brackets and texts alone are followed: what is not read need not be right.
  bool pass_value() {
    size_t depth = 0;
    const size_t begin = in_.at;
    while (!in_.end()) {
      const char c = in_.peek();
      if (c == '"') {
        if (!text()) return false;
        continue;
      }
      if (depth == 0 && (c == ',' || c == ']' || c == '}' || is_blank(c))) break;
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      ++in_.at;
      if (depth == 0 && (c == ']' || c == '}')) break;
    }
    if (in_.at != begin && depth == 0) return true;
    bad("a value is missing, or a bracket is not closed", "is the file cut?");
    return false;
  }

  std::optional<Word> text() {
    const size_t begin = in_.at;
    if (!in_.take('"')) return bad("a text between quotes is wanted here", "is the file cut?");
    std::string value;
    while (!in_.end() && in_.peek() != '"') {
      const char c = in_.text[in_.at++];
      if (c != '\\')
        value += c;
      else if (!escape(value))
        return bad("there is no such escape in JSON", R"(write \" \\ \/ \b \f \n \r \t or \u00e9)");
    }
    if (!in_.take('"')) return bad("this text is never closed", "is the file cut?");
    return Word{std::move(value), in_.since(begin)};
  }
  bool escape(std::string& value) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeans = "\"\\/\b\f\n\r\t";
    if (in_.end()) return false;
    const char c = in_.text[in_.at++];
    if (const size_t i = kLetters.find(c); i != kLetters.npos) return value += kMeans[i], true;
    if (c != 'u') return false;
    auto point = hex4();
    if (point && *point >= 0xd800 && *point < 0xdc00 && in_.take('\\') && in_.take('u')) {
      const auto low = hex4();
      if (!low || *low < 0xdc00 || *low > 0xdfff) return false;
      point = 0x10000 + ((*point - 0xd800) << 10) + (*low - 0xdc00);
    }
    if (!point || (*point >= 0xd800 && *point <= 0xdfff)) return false;
    append_utf8(value, *point);
    return true;
  }
  std::optional<uint32_t> hex4() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = in_.peek();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return std::nullopt;
      value = value * 16 + static_cast<uint32_t>(digit);
      ++in_.at;
    }
    return value;
  }
  static void append_utf8(std::string& out, uint32_t c) {
    const auto byte = [&](uint32_t b) { out += static_cast<char>(b); };
    if (c < 0x80) return byte(c);
    if (c < 0x800) {
      byte(0xc0 | c >> 6);
    } else {
      if (c < 0x10000) {
        byte(0xe0 | c >> 12);
      } else {
        byte(0xf0 | c >> 18);
        byte(0x80 | (c >> 12 & 0x3f));
      }
      byte(0x80 | (c >> 6 & 0x3f));
    }
    byte(0x80 | (c & 0x3f));
  }

  At in_;
  lang::Diagnostics& problems_;
  MembersGrid grid_;
  std::vector<Span> begins_;  // of each row: its `{`
};

}  // namespace

std::optional<MembersGrid> read_members_grid(const lang::Sources& sources, lang::FileId file,
                                             OddRows& odd, lang::Diagnostics& problems) {
  At in{.text = sources.file(file).text(), .file = file};
  if (in.text.starts_with(kByteOrderMark)) in.at = kByteOrderMark.size();
  At first = in;
  first.skip_blanks();
  if (first.end()) {
    refuse(problems, "this table is empty", {file, 0, 0},
           "its first line names the columns, as `user,team`");
    return std::nullopt;
  }
  if (first.peek() == '[' || first.peek() == '{') return Json(first, problems).read(odd);
  return Csv(in, problems).read(odd);
}

}  // namespace fairlead::policy
