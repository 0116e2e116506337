// The words of a document.
#pragma once

#include <string_view>

#include "lang/source.h"

namespace fairlead::lang {

enum class TokenKind : uint8_t {
  name,         // research, H100-80G, up-to: a letter or `_`, then also digits and single `-`
  version,      // v7; stands wherever a name may
  integer,      // 160, 1_000
  number,       // 1.85, without a unit
  quantity,     // 400ms, 95%, $3.20/gpu/h: a number and the unit that touches it
  string,       // "prod-*", on one line, with its quotes
  uri,          // s3://bucket/path, up to a blank, a comma or a brace
  clock,        // 08:00
  place,        // product/search, Europe/Berlin
  dims,         // 20 x 8, 20x8
  punctuation,  // { } ( ) [ ] , . .. : + - * / < > <= >= == !=
  newline,      // one for each line end
  comment,      // from `#`, without the line end
  bad,          // what the lexer has told of already
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  Span span;
  std::string_view text;  // lives as long as its Sources

  bool is(std::string_view punctuation) const {
    return kind == TokenKind::punctuation && text == punctuation;
  }
  bool is_name() const { return kind == TokenKind::name || kind == TokenKind::version; }
  bool is_word(std::string_view word) const { return is_name() && text == word; }
  bool ends_line() const { return kind == TokenKind::newline || kind == TokenKind::end; }
};

}  // namespace fairlead::lang
