#include "lang/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lang/utf8.h"

namespace fairlead::lang {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }

class Lexer {
 public:
  Lexer(const Sources& sources, FileId file, Diagnostics& problems)
      : text_(sources.file(file).text()), file_(file), problems_(problems) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) next();
    begin_ = at_;
    emit(TokenKind::end);
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  template <class Is>
  void skip(Is is) {
    while (at_ < text_.size() && is(text_[at_])) ++at_;
  }
  Span span() const { return {file_, static_cast<uint32_t>(begin_), static_cast<uint32_t>(at_)}; }
  void emit(TokenKind kind) {
    tokens_.push_back({kind, span(), text_.substr(begin_, at_ - begin_)});
  }
  void refuse(std::string code, std::string message, std::string hint, std::string label = {}) {
    problems_.push_back({.code = std::move(code),
                         .message = std::move(message),
                         .primary = {span(), std::move(label)},
                         .others = {},
                         .hint = std::move(hint)});
    emit(TokenKind::bad);
  }

  void next() {
    begin_ = at_;
    const char c = peek();
    if (c == ' ' || c == '\t' || (c == '\r' && peek(1) == '\n')) {
      ++at_;
    } else if (c == '\n') {
      ++at_;
      emit(TokenKind::newline);
    } else if (c == '#') {
      comment();
    } else if (c == '"') {
      string();
    } else if (is_letter(c)) {
      name();
    } else if (is_digit(c) || c == '$') {
      number();
    } else {
      punctuation();
    }
  }

  // Walks to the end of the line or past the closing quote; tells what may stand nowhere.
  // Returns whether the quote was found.
  bool text_until(char close) {
    while (at_ < text_.size() && peek() != '\n') {
      if (peek() == close) return ++at_, true;
      const Character c = first_character(text_.substr(at_));
      if (!c.valid || turns_direction(c.value) ||
          (c.value < 0x20 && c.value != '\t' && c.value != '\r') || c.value == 0x7f) {
        forbidden(c);
      }
      at_ += c.bytes;
    }
    return false;
  }
  void forbidden(const Character& c) {
    const auto begin = static_cast<uint32_t>(at_);
    const Span where{file_, begin, begin + c.bytes};
    std::string message =
        !c.valid ? fmt::format("the byte 0x{:02x} is no UTF-8", static_cast<uint8_t>(text_[at_]))
        : turns_direction(c.value)
            ? fmt::format("the invisible character U+{:04X} turns the direction of the text",
                          static_cast<uint32_t>(c.value))
            : fmt::format("the control character U+{:04X} may not stand here",
                          static_cast<uint32_t>(c.value));
    problems_.push_back({.code = "E110",
                         .message = std::move(message),
                         .primary = {where, ""},
                         .others = {},
                         .hint = c.valid ? "delete it" : "save the file as UTF-8"});
  }

  void comment() {
    text_until('\0');
    while (at_ > begin_ && (text_[at_ - 1] == '\r' || text_[at_ - 1] == ' ')) --at_;
    emit(TokenKind::comment);
    skip([](char c) { return c == '\r' || c == ' '; });
  }

  void string() {
    ++at_;
    if (text_until('"')) return emit(TokenKind::string);
    if (at_ > begin_ + 1 && text_[at_ - 1] == '\r') --at_;
    refuse("E111", "the text is not closed on its line", "end it with `\"`", "opened here");
  }

  void name() {
    word();
    if (text_.substr(at_).starts_with("://")) {
      skip([](char c) {
        return static_cast<uint8_t>(c) > ' ' && static_cast<uint8_t>(c) < 0x7f && c != ',' &&
               c != '{' && c != '}';
      });
      return emit(TokenKind::uri);
    }
    if (peek() == '/' && is_letter(peek(1))) return place();
    const std::string_view text = text_.substr(begin_, at_ - begin_);
    const bool version =
        text.size() > 1 && text[0] == 'v' && std::ranges::all_of(text.substr(1), is_digit);
    emit(version ? TokenKind::version : TokenKind::name);
  }
  void word() {
    skip(is_word);
    while (peek() == '-' && is_word(peek(1))) {
      ++at_;
      skip(is_word);
    }
  }
  void place() {
    while (peek() == '/' && is_word(peek(1))) {
      ++at_;
      word();
      if (peek() == '+' && is_digit(peek(1))) {  // Etc/GMT+5
        ++at_;
        skip(is_digit);
      }
    }
    emit(TokenKind::place);
  }

  void number() {
    const bool money = peek() == '$';
    if (money) ++at_;
    const size_t digits_at = at_;
    skip([](char c) { return is_digit(c) || c == '_'; });
    if (money && at_ == digits_at) return refuse("E109", "`$` has no number", "write it as `$12`");
    if (!money && clock()) return emit(TokenKind::clock);
    if (!money && dims()) return emit(TokenKind::dims);
    bool fraction = false;
    for (; peek() == '.' && is_digit(peek(1)); fraction = true) {
      ++at_;
      skip(is_digit);
      if (fraction) return refuse_number();
    }
    const size_t unit_at = at_;
    skip([](char c) { return is_word(c) || c == '%'; });
    while (peek() == '/' && is_letter(peek(1))) {
      ++at_;
      skip(is_word);
    }
    const bool unit = at_ > unit_at;
    emit(unit || money ? TokenKind::quantity : fraction ? TokenKind::number : TokenKind::integer);
  }
  void refuse_number() {
    skip([](char c) { return is_word(c) || c == '.' || c == '%'; });
    refuse("E109", fmt::format("`{}` is not a number", text_.substr(begin_, at_ - begin_)),
           "write at most one point, as in `0.5`");
  }
  bool clock() {
    if (at_ - begin_ > 2 || peek() != ':' || !is_digit(peek(1)) || !is_digit(peek(2)) ||
        is_word(peek(3)) || peek(3) == ':')
      return false;
    at_ += 3;
    return true;
  }
  // `20x8` or `20 x 8`; `8 x6` is something else: a sample that repeats.
  bool dims() {
    size_t ahead = 0;
    while (peek(ahead) == ' ') ++ahead;
    const bool apart = ahead > 0;
    if (peek(ahead) != 'x') return false;
    ++ahead;
    if (apart != (peek(ahead) == ' ')) return false;
    while (peek(ahead) == ' ') ++ahead;
    const size_t digits = ahead;
    while (is_digit(peek(ahead))) ++ahead;
    if (ahead == digits || is_word(peek(ahead))) return false;
    at_ += ahead;
    return true;
  }

  void punctuation() {
    static constexpr std::array<std::string_view, 5> kPairs = {"..", "<=", ">=", "==", "!="};
    const std::string_view two = text_.substr(at_, 2);
    if (std::ranges::find(kPairs, two) != kPairs.end()) {
      at_ += 2;
      return emit(TokenKind::punctuation);
    }
    if (std::string_view("{}()[],.:+-*/<>").find(peek()) != std::string_view::npos) {
      ++at_;
      return emit(TokenKind::punctuation);
    }
    const Character c = first_character(text_.substr(at_));
    const bool visible = c.valid && c.value > 0x20 && c.value != 0x7f && !turns_direction(c.value);
    if (!visible) {
      forbidden(c);
      at_ += c.bytes;
      return emit(TokenKind::bad);
    }
    if (c.value == '\'' || c.value == 0x201c || c.value == 0x201e) return foreign_quote(c);
    at_ += c.bytes;
    refuse("E110", fmt::format("`{}` may not stand here", text_.substr(begin_, at_ - begin_)),
           c.value > 0x7f ? "outside texts and comments only plain letters (ASCII) stand"
           : c.value == ';' || c.value == '=' ? "leave it out: a line is a statement"
                                              : "leave it out");
  }

  // 'ops' and the quotes of word processors: told once, for the whole text.
  void foreign_quote(const Character& open) {
    at_ += open.bytes;
    const size_t inner = at_;
    size_t inner_end = at_;
    while (at_ < text_.size() && peek() != '\n') {
      const Character c = first_character(text_.substr(at_));
      inner_end = at_;
      at_ += c.bytes;
      if (c.value == '\'' || c.value == '"' || c.value == 0x201c || c.value == 0x201d) break;
      if (!c.valid || turns_direction(c.value)) break;
      inner_end = at_;
    }
    refuse("E110", "texts stand between straight double quotes",
           fmt::format("write `\"{}\"`", text_.substr(inner, inner_end - inner)));
  }

  std::string_view text_;
  FileId file_;
  Diagnostics& problems_;
  std::vector<Token> tokens_;
  size_t begin_ = 0;
  size_t at_ = 0;
};

bool goes_on_after(const Token& token) {
  return token.is(",") || token.is_word("and") || token.is_word("or");
}

}  // namespace

std::vector<Token> lex(const Sources& sources, FileId file, Diagnostics& problems) {
  return Lexer(sources, file, problems).run();
}

std::vector<Token> statements(const std::vector<Token>& tokens) {
  std::vector<Token> out;
  int open = 0;  // parentheses and brackets
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::comment) continue;
    if (token.is("(") || token.is("[")) ++open;
    if ((token.is(")") || token.is("]")) && open > 0) --open;
    if (token.is("{") || token.is("}")) open = 0;  // one left open must not swallow the file
    if (token.kind == TokenKind::newline) {
      const bool nothing_yet = out.empty() || out.back().kind == TokenKind::newline;
      if (nothing_yet || open > 0 || goes_on_after(out.back())) continue;
    }
    out.push_back(token);
  }
  return out;
}

}  // namespace fairlead::lang
