#include "lang/lexer.h"

#include <gtest/gtest.h>

#include "base/describe.h"

namespace fairlead::lang {
namespace {

const char* letter(TokenKind kind) {
  static constexpr const char* kLetters[] = {"name",  "version", "int",     "number", "qty",
                                             "text",  "uri",     "clock",   "place",  "dims",
                                             "punct", "nl",      "comment", "bad",    "end"};
  return kLetters[static_cast<size_t>(kind)];
}

std::string kinds(const std::string& text) {
  Sources sources;
  Diagnostics problems;
  std::string out;
  for (const Token& token : lex(sources, sources.add("t", text), problems)) {
    if (token.kind == TokenKind::end) break;
    out += (out.empty() ? "" : " ") + std::string(letter(token.kind));
    if (token.kind != TokenKind::newline) out += ":" + std::string(token.text);
  }
  return out;
}

struct LexRow {
  std::string_view name;
  std::string text;
  std::string want;
};

TEST(Lexer, TellsWordsApart) {
  const LexRow rows[] = {
      {"single dashes belong to a name", "up-to H100-80G a - b",
       "name:up-to name:H100-80G name:a punct:- name:b"},
      {"a version is v and digits; a device may look like one", "v7 v5e", "version:v7 name:v5e"},
      {"a unit touches its number", "400ms 95% $3.20/gpu/h 1_000",
       "qty:400ms qty:95% qty:$3.20/gpu/h int:1_000"},
      {"a range is no fraction", "4..16 08:00..20:00",
       "int:4 punct:.. int:16 clock:08:00 punct:.. clock:20:00"},
      {"a fraction without a unit", "1.85", "number:1.85"},
      {"two points are no number", "0.5.5", "bad:0.5.5"},
      {"places and zones", "product/search America/Argentina/Ushuaia Etc/GMT+5",
       "place:product/search place:America/Argentina/Ushuaia place:Etc/GMT+5"},
      {"sizes, apart and together; a sample that repeats is none", "20 x 8 4x8 8 x6",
       "dims:20 x 8 dims:4x8 int:8 name:x6"},
      {"an address ends at a blank, a comma or a brace", "s3://a/b-c, x",
       "uri:s3://a/b-c punct:, name:x"},
      {"a text keeps everything", "\"a # b\" # c", "text:\"a # b\" comment:# c"},
      {"line ends of both kinds", "a\r\nb\n", "name:a nl name:b nl"},
      {"a clock needs two digits of minutes", "8:00 8:0", "clock:8:00 int:8 punct:: int:0"},
      {"letters of other languages stand in texts alone", "\"gr\xc3\xbc\xc3\x9f\" \xc3\xbc",
       "text:\"gr\xc3\xbc\xc3\x9f\" bad:\xc3\xbc"},
      {"comparisons", "a<=b != c", "name:a punct:<= name:b punct:!= name:c"},
  };
  for (const LexRow& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(kinds(row.text), row.want);
  }
}

TEST(Lexer, RefusesWhatCannotBeSeen) {
  const std::pair<std::string, size_t> rows[] = {
      {"\"a\xe2\x80\xae\"", 1},            // right-to-left override in a text
      {"# \xe2\x81\xa6 \xe2\x81\xa9", 2},  // isolates in a comment
      {"\"\xff\xc0\x80\"", 3},             // no UTF-8, and an overlong form
      {"\"\xed\xa0\x80\"", 3},             // a surrogate
      {std::string("a\0b", 3), 1},
      {"\"fine \xe2\x82\xac \xf0\x9f\x98\x80\"", 0},
  };
  for (const auto& [text, want] : rows) {
    Sources sources;
    Diagnostics problems;
    (void)lex(sources, sources.add("t", text), problems);
    EXPECT_EQ(problems.size(), want) << text;
    for (const Diagnostic& d : problems) EXPECT_EQ(d.code, "E110");
  }
}

TEST(Lexer, StatementsGoOnAfterACommaAndInParentheses) {
  Sources sources;
  Diagnostics problems;
  const auto tokens =
      lex(sources, sources.add("t", "\n# c\na,  # d\n\n b\n\n\nc (d\n e) f\n"), problems);
  std::string out;
  for (const Token& token : statements(tokens))
    out += token.kind == TokenKind::newline ? "; " : std::string(token.text) + " ";
  EXPECT_EQ(out, "a , b ; c ( d e ) f ;  ");
}

TEST(Source, ColumnsCountCharacters) {
  const SourceFile file("t", "ab\n\xc3\xbc\xe2\x82\xac=\r\n");
  EXPECT_EQ(file.position(0), (Position{1, 1}));
  EXPECT_EQ(file.position(8), (Position{2, 3}));  // behind two characters of two and three bytes
  EXPECT_EQ(file.line(2), "\xc3\xbc\xe2\x82\xac=");
  EXPECT_EQ(file.position(11), (Position{3, 1}));
}

}  // namespace
}  // namespace fairlead::lang
