#include "lang/format.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lang/lexer.h"

namespace fairlead::lang {
namespace {

const FormatRules kRules = {.sections = {"team", "class"},
                            .parts = {{"class", {"rank", "most"}}, {"team", {"own", "lend"}}}};

std::string laid_out(const std::string& text) {
  Sources sources;
  return format(sources, sources.add("t", text), kRules);
}

std::vector<std::string> words(const std::string& text) {
  Sources sources;
  Diagnostics problems;
  std::vector<std::string> out;
  for (const Token& token : lex(sources, sources.add("t", text), problems))
    if (token.kind != TokenKind::newline) out.emplace_back(token.text);
  return out;
}

struct FormatRow {
  std::string_view name;
  std::string text, want;
};

TEST(Format, HasOneLayout) {
  const FormatRow rows[] = {
      {"values of neighbours stand below each other", "team a {\nown 8 H100\nlonger 4\n}\n",
       "team a {\n  own    8 H100\n  longer 4\n}\n"},
      {"blocks on one line align what they share",
       "class a {rank 1 most 2}\nclass bcd {rank 100 most 3}\n",
       "class a   { rank 1    most 2 }\nclass bcd { rank 100  most 3 }\n"},
      {"a block that was open on several lines stays so", "team a { own 8 H100\nlend 4 H100 }\n",
       "team a {\n  own  8 H100\n  lend 4 H100\n}\n"},
      {"a line that goes on hangs below its value", "team a {\nown 8 H100,\n4 A100\n}\n",
       "team a {\n  own 8 H100,\n      4 A100\n}\n"},
      {"comments at line ends align", "team a {\nown 8 H100# x\nlend 16 H100 # y\n}\n",
       "team a {\n  own  8 H100   # x\n  lend 16 H100  # y\n}\n"},
      {"one blank line at most, none at the ends of a block",
       "\n\nteam a {\n\n\nown 1\n\n\n\nlend 2\n\n}\n\n\n", "team a {\n  own 1\n\n  lend 2\n}\n"},
      {"a comment alone keeps its place", "team a {\n# about own\nown 1\n# the end\n}\n",
       "team a {\n  # about own\n  own 1\n  # the end\n}\n"},
      {"sizes and ranges", "team a {\nrun 20  x  8\nrange 4 .. 16\n}\n",
       "team a {\n  run   20 x 8\n  range 4..16\n}\n"},
      {"nothing is nothing", "", ""},
  };
  for (const FormatRow& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(laid_out(row.text), row.want);
    EXPECT_EQ(laid_out(row.want), row.want);
  }
}

// Any document of well-matched braces, in any layout.
std::string any_document() {
  static const std::vector<std::string> kPieces = {
      "team a", "class b", "own 8 H100", "lend", "rank 1", "\"x # y\"", "most 2", ", ", "# note\n",
      "\n",     "\n\n\n",  "20 x 8",     "..",   "\t",     "$3/h",      "{",      "}"};
  std::string text;
  int open = 0;
  for (const size_t i :
       *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, kPieces.size()))) {
    const std::string& piece = kPieces[i];
    if (piece == "}" && open == 0) continue;
    open += piece == "{" ? 1 : piece == "}" ? -1 : 0;
    text += piece + " ";
  }
  for (; open > 0; --open) text += "}\n";
  return text;
}

RC_GTEST_PROP(Format, KeepsEveryWordAndChangesNothingTwice, ()) {
  const std::string text = any_document();
  const std::string once = laid_out(text);
  RC_ASSERT(words(once) == words(text));
  RC_ASSERT(laid_out(once) == once);
}

}  // namespace
}  // namespace fairlead::lang
