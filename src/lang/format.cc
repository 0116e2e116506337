#include "lang/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "lang/lexer.h"

namespace fairlead::lang {
namespace {

struct Line {
  int depth = 0;
  bool blank_before = false;
  bool continued = false;     // goes on from the line before
  std::string block;          // the word of the block around it
  std::vector<Token> tokens;  // none: a comment alone
  std::string comment;
  std::vector<std::string> cells;  // what is aligned, from `cells_of`
  std::string text;
};

std::string text_of(const Token& token) {
  if (token.kind != TokenKind::dims) return std::string(token.text);
  const size_t x = token.text.find('x');
  const auto digits = [](std::string_view part) {
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    return part.substr(0, part.find(' '));
  };
  return fmt::format("{} x {}", digits(token.text.substr(0, x)), digits(token.text.substr(x + 1)));
}

bool apart(const Token& left, const Token& right) {
  if (right.is(",") || right.is("..") || left.is("..") || right.is(".") || left.is("."))
    return false;
  if (left.is("(") || left.is("[") || right.is(")") || right.is("]")) return false;
  if (right.is("(") && left.is_name()) return right.span.begin > left.span.end;
  if (left.is("-") && right.span.begin == left.span.end) return false;
  return true;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

class Splitter {
 public:
  explicit Splitter(const std::vector<Token>& tokens) : tokens_(tokens) { match_braces(); }

  std::vector<Line> run() {
    for (at_ = 0; tokens_[at_].kind != TokenKind::end; ++at_) take(tokens_[at_]);
    flush();
    return std::move(lines_);
  }

 private:
  // A pair without a line end or a comment in it stays on its line.
  void match_braces() {
    std::vector<size_t> open;
    size_t last_break = 0;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.kind == TokenKind::newline || token.kind == TokenKind::comment) last_break = i + 1;
      if (token.is("{")) open.push_back(i);
      if (!token.is("}") || open.empty()) continue;
      if (open.back() >= last_break) inline_.insert({open.back(), i});
      open.pop_back();
    }
  }

  void take(const Token& token) {
    if (token.kind == TokenKind::newline) {
      ++newlines_;
      flush();
    } else if (token.kind == TokenKind::comment) {
      begin_line();
      line_.comment = token.text;
      has_comment_ = true;
      flush();
    } else if (token.is("}") && !inline_.contains(at_)) {
      flush();
      if (!blocks_.empty()) blocks_.pop_back();
      add(token);
      line_.blank_before = false;
      flush_unless_comment();
    } else {
      add(token);
      if (token.is("{") && !inline_.contains(at_)) {
        const std::string block(line_.tokens.front().text);
        flush_unless_comment();
        blocks_.push_back(block);
        opened_ = true;
      }
    }
  }
  void add(const Token& token) {
    begin_line();
    line_.tokens.push_back(token);
  }
  void begin_line() {
    if (!line_.tokens.empty() || has_comment_) return;
    line_.depth = static_cast<int>(blocks_.size());
    line_.block = blocks_.empty() ? "" : blocks_.back();
    line_.blank_before = newlines_ > 1 && !lines_.empty() && !opened_;
    line_.continued = goes_on_;
    newlines_ = 0;
    opened_ = false;
  }
  void flush() {
    if (line_.tokens.empty() && !has_comment_) return;
    if (!line_.tokens.empty()) goes_on_ = line_.tokens.back().is(",");
    lines_.push_back(std::exchange(line_, {}));
    has_comment_ = false;
  }
  // A comment behind a brace belongs to its line.
  void flush_unless_comment() {
    if (tokens_[at_ + 1].kind == TokenKind::comment) {
      line_.comment = tokens_[++at_].text;
      has_comment_ = true;
    }
    flush();
  }

  const std::vector<Token>& tokens_;
  std::set<size_t> inline_;
  std::vector<Line> lines_;
  Line line_;
  std::vector<std::string> blocks_;
  size_t at_ = 0;
  int newlines_ = 0;
  bool has_comment_ = false;
  bool goes_on_ = false;
  bool opened_ = false;
};

class Layout {
 public:
  Layout(std::vector<Line> lines, const FormatRules& rules)
      : lines_(std::move(lines)), rules_(rules) {
    for (Line& line : lines_) cells_of(line);
    for (size_t i = 0; i < lines_.size();) i = align(i);
    for (size_t i = 0; i < lines_.size();) i = place_comments(i);
  }
  std::string text() const {
    std::string out;
    for (const Line& line : lines_) {
      if (line.blank_before) out += '\n';
      out += line.text;
      out += '\n';
    }
    return out;
  }

 private:
  bool is_section(const Line& line) const {
    return !line.tokens.empty() && contains(rules_.sections, line.tokens.front().text) &&
           (line.depth == 0 || line.tokens.back().is("{") || line.tokens.back().is("}"));
  }
  // Lines that share their columns.
  bool same_group(const Line& a, const Line& b) const {
    if (b.blank_before || a.depth != b.depth || a.block != b.block) return false;
    if (a.cells.size() < 2 || b.cells.size() < 2 || is_section(a) != is_section(b)) return false;
    return !is_section(a) || a.tokens.front().text == b.tokens.front().text;
  }

  bool begins_part(std::string_view block, const Token& token, const Token& before) const {
    const auto found = rules_.parts.find(block);
    return found != rules_.parts.end() && token.is_name() && !before.is(",") &&
           contains(found->second, token.text);
  }

  // Splits a line into what may be aligned; a line without cells is written as it comes.
  void cells_of(Line& line) const {
    if (line.tokens.empty() || line.tokens.front().is("}") || line.continued) return;
    const bool section = is_section(line);
    const auto brace = std::ranges::find_if(line.tokens, [](const Token& t) { return t.is("{"); });
    if (section && (brace == line.tokens.end() || line.tokens.back().is("{"))) return;
    if (!section && !line.tokens.front().is_name()) return;
    if (!section && line.tokens.size() > 1 && line.tokens[1].is(",")) return;
    const size_t head = section ? static_cast<size_t>(brace - line.tokens.begin()) : 1;
    std::vector<std::string_view> blocks{line.block};  // around the token
    for (size_t i = 0; i < line.tokens.size(); ++i) {
      const Token& token = line.tokens[i];
      const bool opens =
          i > 0 && line.tokens[i - 1].is("{");  // a brace and its first key: one part
      const bool part = i > head && !opens && begins_part(blocks.back(), token, line.tokens[i - 1]);
      const bool cell = part && blocks.size() == (section ? 2U : 1U);
      if (i == 0 || i == head || cell)
        line.cells.push_back(text_of(token));
      else
        line.cells.back() += (part                               ? "  "
                              : apart(line.tokens[i - 1], token) ? " "
                                                                 : "") +
                             text_of(token);
      if (token.is("{")) blocks.push_back(blocks.size() == 1 ? line.tokens.front().text : "");
      if (token.is("}") && blocks.size() > 1) blocks.pop_back();
    }
  }

  // Returns the first line behind the group that begins at `begin`.
  size_t align(size_t begin) {
    size_t end = begin + 1;
    for (size_t last = begin; end < lines_.size(); ++end) {
      if (lines_[end].continued) continue;  // hangs below the line before it
      if (!same_group(lines_[last], lines_[end])) break;
      last = end;
    }
    const std::span<Line> group(lines_.data() + begin, end - begin);
    const std::vector<size_t> widths = widths_of(group, is_section(group[0]));
    for (Line& line : group) {
      line.text = std::string(static_cast<size_t>(line.depth) * 2, ' ');
      if (line.continued) line.text += std::string(hang_, ' ');
      if (line.cells.empty()) {
        for (size_t i = 0; i < line.tokens.size(); ++i) {
          const bool blank = i > 0 && apart(line.tokens[i - 1], line.tokens[i]);
          line.text += (blank ? " " : "") + text_of(line.tokens[i]);
        }
        if (!line.continued) hang_ = is_section(line) ? 4 : 0;
        continue;
      }
      for (size_t k = 0; k < line.cells.size(); ++k) {
        const bool last = k + 1 == line.cells.size();
        const size_t width = last || k >= widths.size() ? 0 : widths[k];
        line.text += fmt::format("{:<{}}{}", line.cells[k], width, last ? "" : k == 0 ? " " : "  ");
      }
      hang_ = line.cells.size() > 1 && !widths.empty() ? widths[0] + 1 : 4;
    }
    return end;
  }

  // Column k is aligned as long as all begin with the same key, in it and before it.
  static std::vector<size_t> widths_of(std::span<const Line> group, bool sections) {
    std::vector<size_t> widths;
    const auto key = [](const Line& line, size_t k) {
      const std::string_view cell = line.cells[k];
      return cell.substr(0, cell.starts_with("{ ") ? cell.find(' ', 2) : cell.find(' '));
    };
    for (size_t k = 0;; ++k) {
      size_t width = 0;
      size_t have = 0;
      const Line* one = nullptr;
      bool same = true;
      for (const Line& line : group) {
        if (k >= line.cells.size()) continue;
        if (k > 0 && one != nullptr && key(*one, k) != key(line, k)) same = false;
        one = &line;
        ++have;
        // Nothing stands behind the last cell of a line, so it asks for no room.
        if (k == 0 || k + 1 < line.cells.size()) width = std::max(width, line.cells[k].size());
      }
      if (have == 0 || (k > 0 && (!same || !sections))) return widths;
      widths.push_back(width);
    }
  }

  size_t place_comments(size_t begin) {
    const auto trails = [](const Line& l) { return !l.comment.empty() && !l.tokens.empty(); };
    if (!trails(lines_[begin])) {
      lines_[begin].text += lines_[begin].comment;
      return begin + 1;
    }
    size_t end = begin;
    size_t width = 0;
    for (; end < lines_.size() && trails(lines_[end]); ++end) {
      if (lines_[end].depth != lines_[begin].depth || (end > begin && lines_[end].blank_before))
        break;
      width = std::max(width, lines_[end].text.size());
    }
    for (size_t i = begin; i < end; ++i)
      lines_[i].text = fmt::format("{:<{}}  {}", lines_[i].text, width, lines_[i].comment);
    return end;
  }

  std::vector<Line> lines_;
  const FormatRules& rules_;
  size_t hang_ = 4;  // how far a line that goes on stands in
};

}  // namespace

std::string format(const Sources& sources, FileId file, const FormatRules& rules) {
  Diagnostics ignored;
  return Layout(Splitter(lex(sources, file, ignored)).run(), rules).text();
}

}  // namespace fairlead::lang
