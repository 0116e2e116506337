// An organisation file, from its bytes to its layout, and its tests to their end.
//
// What parses is laid out again: with the same words, the same meaning, and no further change.
#include <cstdint>

#include "lang/lexer.h"
#include "policy/check.h"
#include "policy/layout.h"
#include "policy/test_run.h"

namespace {

using namespace fairlead;

std::string words_of(const lang::Sources& sources) {
  lang::Diagnostics problems;
  std::string words;
  for (const lang::Token& token : lang::lex(sources, 0, problems)) {
    if (token.kind == lang::TokenKind::newline) continue;
    for (const char c : token.text)
      if (token.kind != lang::TokenKind::dims || c != ' ') words += c;
    words += '\n';
  }
  return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lang::Sources sources;
  sources.add("a.policy", std::string(reinterpret_cast<const char*>(data), size));
  const auto checked = policy::check_files(sources, {});
  for (const auto& problem : checked.problems) (void)to_text(problem, sources);
  if (!checked.parsed) return 0;
  if (checked.good()) {
    for (const auto& test : checked.tree.tests) (void)policy::run_test(checked.organisation, test);
  }
  lang::Sources again;
  again.add("a.policy", lang::format(sources, 0, policy::format_rules()));
  if (words_of(again) != words_of(sources)) __builtin_trap();
  const auto same = policy::check_files(again, {});
  if (!same.parsed || same.organisation != checked.organisation) __builtin_trap();
  if (lang::format(again, 0, policy::format_rules()) != again.file(0).text()) __builtin_trap();
  return 0;
}
