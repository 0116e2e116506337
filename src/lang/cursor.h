// What every recursive-descent parser of this family shares: a place in the statements, typed reads
// with good messages, blocks, and recovery.
//
// A read that fails has told why and returns nothing; the caller gives the statement up and calls
// `recover`, which goes to the end of the line or before the `}` of the block. So one run tells any
// number of problems, and the second is never a consequence of the first. Reads never throw and
// always come to an end: each step of `block` consumes at least one token.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/lexer.h"
#include "lang/units.h"

namespace fairlead::lang {

// A value and where it was written.
template <class T>
struct Written {
  T value{};
  Span span;
};
using Word = Written<std::string>;
using Number = Written<int64_t>;
using Time = Written<Duration>;

class Cursor {
 public:
  // Words that start a section when a name or a text and `{` follow them; a block that meets one in
  // the wrong place was not closed.
  Cursor(std::vector<Token> statements, const Sources& sources, Diagnostics& problems,
         std::span<const std::string> section_words);

  const Token& peek(size_t ahead = 0) const;
  Token next();
  bool at_end() const { return peek().kind == TokenKind::end; }
  bool take(std::string_view punctuation);
  bool take_word(std::string_view word);
  std::optional<Token> take_if_name();
  void skip_newlines();
  void recover();
  const Token& last() const { return last_; }  // the one taken before

  // `subject` is what needs the value, as it is written; `example` is shown as a hint.
  struct Need {
    std::string_view subject;  // own
    std::string_view what;     // an amount
    std::string_view example;  // own 8 H100
  };
  std::optional<Word> name(const Need& need);
  std::optional<Word> text(const Need& need);  // a string, without its quotes
  std::optional<Number> integer(const Need& need, int64_t least, int64_t most);
  std::optional<Time> time(const Need& need);
  std::optional<Written<Quantity>> quantity(const Need& need, Dimension dimension);
  bool word(std::string_view word, const Need& need);
  std::optional<Word> one_of(std::span<const std::string> words, const Need& need);
  void missing(const Need& need);  // tells that something else stands here

  Diagnostic& problem(std::string code, std::string message, Label primary, std::string hint = {},
                      std::vector<Label> others = {});

  // `{ ... }` after `opener` (from its keyword). `item` parses one thing and returns whether it
  // could; it is recovered from where it could not. Returns false where there is no `{`.
  // `inner` are the sections that may stand in it: any other one says that a `}` is missing.
  template <class Item>
  bool block(Span opener, std::string_view keyword, std::span<const std::string> inner,
             Item&& item) {
    if (!open_block(opener, keyword)) return false;
    while (!block_ends(opener, keyword, inner)) {
      const size_t before = at_;
      if (!item()) recover();
      if (at_ == before) next();
    }
    return true;
  }
  void end_statement();  // after a `}`: nothing follows on its line

 private:
  bool open_block(Span opener, std::string_view keyword);
  bool block_ends(Span opener, std::string_view keyword, std::span<const std::string> inner);
  bool starts_section() const;
  void note_suspect(Span opener);
  void not_closed(Span opener, std::string_view keyword, std::optional<Token> section);
  bool refuse_sign(const Need& need);
  void refuse_unit(const Token& token);
  std::string found() const;

  struct Suspect {
    Span opener;
    Token section;
  };
  std::vector<Token> tokens_;
  const Sources& sources_;
  Diagnostics& problems_;
  std::span<const std::string> section_words_;
  size_t at_ = 0;
  Token last_;
  int depth_ = 0;
  bool told_not_closed_ = false;
  std::optional<Suspect> suspect_;
};

inline std::string in_quotes(std::string_view word) { return fmt::format("`{}`", word); }

}  // namespace fairlead::lang
