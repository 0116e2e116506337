#include "lang/cursor.h"

#include <algorithm>

#include "base/check.h"
#include "base/words.h"

namespace fairlead::lang {
namespace {

constexpr int kDepthMax = 64;  // chosen: no organisation is deeper, and the parser recurses

// "1m30s" -> "90s": one number, one unit.
std::optional<std::string> one_unit(std::string_view text) {
  int64_t sum = 0;
  while (!text.empty()) {
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const size_t rest = std::min(text.find_first_of("0123456789", digits), text.size());
    const auto part = read_quantity(text.substr(0, rest));
    if (!part || part->dimension != Dimension::time) return std::nullopt;
    if (part->value > INT64_MAX - sum) return std::nullopt;
    sum += part->value;
    text.remove_prefix(rest);
  }
  return to_literal({sum});
}

std::string_view first_word(std::string_view text) { return text.substr(0, text.find(' ')); }

}  // namespace

Cursor::Cursor(std::vector<Token> statements, const Sources& sources, Diagnostics& problems,
               std::span<const std::string> section_words)
    : tokens_(std::move(statements)),
      sources_(sources),
      problems_(problems),
      section_words_(section_words) {
  CHECK(!tokens_.empty() && tokens_.back().kind == TokenKind::end);
}

const Token& Cursor::peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

Token Cursor::next() {
  last_ = peek();
  if (!at_end()) ++at_;
  return last_;
}

bool Cursor::take(std::string_view punctuation) {
  if (!peek().is(punctuation)) return false;
  next();
  return true;
}

bool Cursor::take_word(std::string_view word) {
  if (!peek().is_word(word)) return false;
  next();
  return true;
}

std::optional<Token> Cursor::take_if_name() {
  if (!peek().is_name()) return std::nullopt;
  return next();
}

void Cursor::skip_newlines() {
  while (peek().kind == TokenKind::newline) next();
}

void Cursor::recover() {
  for (int open = 0; !at_end(); next()) {
    if (peek().is("{")) ++open;
    if (peek().is("}") && open-- == 0) return;
    if (peek().kind == TokenKind::newline && open == 0) return;
    if (open > 0 && starts_section() && last_.kind == TokenKind::newline) return;
  }
}

Diagnostic& Cursor::problem(std::string code, std::string message, Label primary, std::string hint,
                            std::vector<Label> others) {
  problems_.push_back({.code = std::move(code),
                       .message = std::move(message),
                       .primary = std::move(primary),
                       .others = std::move(others),
                       .hint = std::move(hint)});
  return problems_.back();
}

std::string Cursor::found() const {
  if (at_end()) return "the file ends here";
  if (peek().kind == TokenKind::newline) return "the line ends here";
  return fmt::format("not {}", in_quotes(peek().text));
}

void Cursor::missing(const Need& need) {
  if (peek().kind == TokenKind::bad) return;  // the lexer has told of it
  Span span = peek().span;
  if (peek().ends_line()) span = {span.file, last_.span.end, last_.span.end};
  problem("E106", fmt::format("{} needs {}", in_quotes(need.subject), need.what), {span, found()},
          need.example.empty() ? "" : fmt::format("write it as {}", in_quotes(need.example)));
}

std::optional<Word> Cursor::name(const Need& need) {
  if (!peek().is_name()) return missing(need), std::nullopt;
  const Token token = next();
  return Word{std::string(token.text), token.span};
}

std::optional<Word> Cursor::text(const Need& need) {
  if (peek().kind != TokenKind::string) {
    if (peek().is_name() || peek().kind == TokenKind::place) {
      const Token token = next();
      problem("E106", fmt::format("{} takes {}", in_quotes(need.subject), need.what),
              {token.span, ""}, fmt::format("write `\"{}\"`", token.text));
      return std::nullopt;
    }
    return missing(need), std::nullopt;
  }
  const Token token = next();
  return Word{std::string(token.text.substr(1, token.text.size() - 2)), token.span};
}

bool Cursor::refuse_sign(const Need& need) {
  if (!peek().is("-") && !peek().is("+")) return false;
  const TokenKind kind = peek(1).kind;
  if (kind != TokenKind::integer && kind != TokenKind::number && kind != TokenKind::quantity)
    return false;
  const bool minus = peek().is("-");
  const Span span = join(peek().span, peek(1).span);
  next();
  next();
  problem("E109",
          minus ? fmt::format("{} is below zero", in_quotes(sources_.text(span)))
                : "numbers have no sign",
          {span, ""},
          minus ? fmt::format("write it as {}", in_quotes(need.example)) : "leave the `+` out");
  return true;
}

std::optional<Number> Cursor::integer(const Need& need, int64_t least, int64_t most) {
  if (refuse_sign(need)) return std::nullopt;
  if (peek().kind == TokenKind::number || peek().kind == TokenKind::quantity) {
    const Token token = next();
    problem("E113",
            fmt::format("{} takes a whole number, not {}", in_quotes(need.subject),
                        in_quotes(token.text)),
            {token.span, ""}, fmt::format("write it as {}", in_quotes(need.example)));
    return std::nullopt;
  }
  if (peek().kind != TokenKind::integer) return missing(need), std::nullopt;
  const Token token = next();
  const auto value = read_integer(token.text);
  if (!value || *value > most || *value < least) {
    const bool small = value && *value < least;
    problem("E109",
            fmt::format("{} is too {} here", in_quotes(token.text), small ? "small" : "large"),
            {token.span,
             small ? fmt::format("the least is {}", least) : fmt::format("the most is {}", most)},
            fmt::format("write a number from {} to {}", least, most));
    return std::nullopt;
  }
  return Number{*value, token.span};
}

void Cursor::refuse_unit(const Token& token) {
  const std::string_view unit = unit_of(token.text);
  const std::string_view number = token.text.substr(0, token.text.size() - unit.size());
  std::string hint;
  if (const auto joined = one_unit(token.text))
    hint = fmt::format("one number, one unit: write `{}`", *joined);
  else if (const auto meant = nearest_unit(unit); !meant.empty())
    hint = fmt::format("did you mean `{}{}`?", number, meant);
  else
    hint = "times are written as 90s, 5m, 8h, 7d";
  problem("E102", fmt::format("{} is not a unit", in_quotes(unit)), {token.span, "unknown unit"},
          hint);
}

std::optional<Written<Quantity>> Cursor::quantity(const Need& need, Dimension dimension) {
  if (refuse_sign(need)) return std::nullopt;
  const TokenKind kind = peek().kind;
  if (kind != TokenKind::quantity && kind != TokenKind::integer && kind != TokenKind::number)
    return missing(need), std::nullopt;
  const Token token = next();
  if (kind != TokenKind::quantity && peek().is_name()) {
    const std::string joined = fmt::format("{}{}", token.text, peek().text);
    const auto touching = read_quantity(joined);
    if (touching && touching->dimension == dimension) {
      const Span span = join(token.span, next().span);
      problem("E101", "a unit must touch its number", {span, ""},
              fmt::format("write `{}`", joined));
      return std::nullopt;
    }
  }
  const auto read = read_quantity(token.text);
  if (!read && read.error() == QuantityError::unknown_unit) {
    refuse_unit(token);
    return std::nullopt;
  }
  if (!read) {
    const bool large = read.error() == QuantityError::too_large;
    problem("E109",
            fmt::format("{} is {}", in_quotes(token.text),
                        large ? "too large" : "finer than we can count exactly"),
            {token.span, ""}, fmt::format("write it as {}", in_quotes(need.example)));
    return std::nullopt;
  }
  if (read->dimension != dimension) {
    const bool bare = kind != TokenKind::quantity;
    const std::string hint = bare && dimension == Dimension::time
                                 ? fmt::format("write `{0}s`, `{0}m` or `{0}h`", token.text)
                                 : fmt::format("write it as {}", in_quotes(need.example));
    problem("E113", fmt::format("{} takes {}", in_quotes(need.subject), described(dimension)),
            {token.span, bare ? "has no unit" : std::string(described(read->dimension))}, hint);
    return std::nullopt;
  }
  return Written<Quantity>{*read, token.span};
}

std::optional<Time> Cursor::time(const Need& need) {
  const auto read = quantity(need, Dimension::time);
  if (!read) return std::nullopt;
  return Time{{read->value.value}, read->span};
}

bool Cursor::word(std::string_view word, const Need& need) {
  if (take_word(word)) return true;
  missing(need);
  return false;
}

std::optional<Word> Cursor::one_of(std::span<const std::string> words, const Need& need) {
  if (!peek().is_name()) return missing(need), std::nullopt;
  const Token token = next();
  if (std::ranges::find(words, token.text) != words.end())
    return Word{std::string(token.text), token.span};
  const auto meant = nearest_word(token.text, words);
  problem("E104", fmt::format("{} is not {}", in_quotes(token.text), need.what), {token.span, ""},
          !meant.empty() ? fmt::format("did you mean {}?", in_quotes(meant))
                         : fmt::format("one of {}", fmt::join(words, ", ")));
  return std::nullopt;
}

bool Cursor::starts_section() const {
  if (!peek().is_name()) return false;
  if (std::ranges::find(section_words_, peek().text) == section_words_.end()) return false;
  const bool named = peek(1).is_name() || peek(1).kind == TokenKind::string;
  return named && peek(2).is("{");
}

// A section that stands no deeper than the block it is in: if a `}` is missing, it is this block's.
void Cursor::note_suspect(Span opener) {
  if (suspect_ || last_.kind != TokenKind::newline) return;
  if (sources_.begin_of(peek().span).column > sources_.begin_of(opener).column) return;
  suspect_ = {opener, peek()};
}

void Cursor::not_closed(Span opener, std::string_view keyword, std::optional<Token> section) {
  Diagnostic& d = problem("E103", fmt::format("{} block is not closed", in_quotes(keyword)),
                          {opener, "opened here"}, "add a `}` at the end");
  if (!section) return;
  d.others.push_back(
      {section->span, fmt::format("{} starts a new section", in_quotes(section->text))});
  d.hint = fmt::format("add a `}}` before {}", in_quotes(section->text));
}

bool Cursor::open_block(Span opener, std::string_view keyword) {
  if (!peek().is("{")) {
    missing({keyword, "a block", fmt::format("{} {{ }}", sources_.text(opener))});
    return false;
  }
  if (depth_ >= kDepthMax) {
    problem("E106", fmt::format("blocks stand more than {} deep here", kDepthMax), {opener, ""});
    return false;
  }
  ++depth_;
  next();
  return true;
}

bool Cursor::block_ends(Span opener, std::string_view keyword, std::span<const std::string> inner) {
  skip_newlines();
  if (starts_section()) {
    if (std::ranges::find(inner, peek().text) == inner.end()) {
      not_closed(opener, keyword, peek());
      return --depth_, true;
    }
    note_suspect(opener);
  }
  if (take("}")) return --depth_, true;
  if (!at_end()) return false;
  if (!std::exchange(told_not_closed_, true)) {  // the blocks around it end here too
    if (suspect_)
      not_closed(suspect_->opener, first_word(sources_.text(suspect_->opener)), suspect_->section);
    else
      not_closed(opener, keyword, std::nullopt);
  }
  return --depth_, true;
}

void Cursor::end_statement() {
  const Token& token = peek();
  if (!last_.is("}")) return;  // the block was not closed, and that has been told
  if (token.ends_line() || token.is("}") || token.kind == TokenKind::bad) return;
  problem("E106", fmt::format("a new line is needed before {}", in_quotes(token.text)),
          {token.span, ""}, fmt::format("start {} on a line of its own", in_quotes(token.text)));
}

}  // namespace fairlead::lang
