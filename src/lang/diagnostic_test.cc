#include "lang/diagnostic.h"

#include <gtest/gtest.h>

namespace fairlead::lang {
namespace {

Label label(const Sources& sources, std::string_view word, std::string text, FileId file = 0) {
  const auto at = static_cast<uint32_t>(sources.file(file).text().find(word));
  return {{file, at, at + static_cast<uint32_t>(word.size())}, std::move(text)};
}

TEST(Diagnostic, ShowsTwoPlacesOfOneLine) {
  Sources sources;
  sources.add("llama.intent",
              "gpu       H100-80G else H200-141G\nparallel  tp 16 in nvlink, pp 2\n");
  Diagnostic d{.code = "E301",
               .message = "tp needs 16 gpus in one nvlink domain; H100-80G has 8",
               .primary = label(sources, "tp 16 in nvlink", "16 gpus in nvlink"),
               .others = {label(sources, "H100-80G", "8 per domain"),
                          label(sources, "H200-141G", "8 per domain")},
               .hint = "use a looser tier, or an accelerator with a larger domain"};
  EXPECT_EQ(to_text(d, sources),
            "error[E301]: tp needs 16 gpus in one nvlink domain; H100-80G has 8\n"
            " --> llama.intent:2:11\n"
            "  |\n"
            "1 | gpu       H100-80G else H200-141G\n"
            "  |           --------      --------- 8 per domain\n"
            "  |           8 per domain\n"
            "2 | parallel  tp 16 in nvlink, pp 2\n"
            "  |           ^^^^^^^^^^^^^^^ 16 gpus in nvlink\n"
            "  = hint: use a looser tier, or an accelerator with a larger domain\n");
}

TEST(Diagnostic, LeavesOutLinesBetweenAndWidensItsMargin) {
  Sources sources;
  sources.add("a.policy", "one\n\n\n\n\n\n\n\n\nten\n");
  const Diagnostic d{.severity = Severity::warning,
                     .code = "W1",
                     .message = "m",
                     .primary = label(sources, "ten", ""),
                     .others = {label(sources, "one", "first")},
                     .hint = ""};
  EXPECT_EQ(to_text(d, sources),
            "warning[W1]: m\n"
            "  --> a.policy:10:1\n"
            "   |\n"
            " 1 | one\n"
            "   | --- first\n"
            "..\n"
            "10 | ten\n"
            "   | ^^^\n");
}

TEST(Diagnostic, CaretsStandBelowWideLettersAndTabs) {
  Sources sources;
  sources.add("a", "\t\"gr\xc3\xbc\xc3\x9f\" x");
  const Diagnostic d{.code = "E1",
                     .message = "m",
                     .primary = label(sources, "x", "here"),
                     .others = {},
                     .hint = ""};
  EXPECT_EQ(to_text(d, sources),
            "error[E1]: m\n --> a:1:9\n  |\n1 |  \"gr\xc3\xbc\xc3\x9f\" x\n  |         ^ here\n");
}

TEST(Diagnostic, IsSortedByPlaceAndToldOnce) {
  Sources sources;
  sources.add("a", "one two");
  const Diagnostic two{
      .code = "E1", .message = "m", .primary = label(sources, "two", ""), .others = {}, .hint = ""};
  const Diagnostic one{
      .code = "E2", .message = "m", .primary = label(sources, "one", ""), .others = {}, .hint = ""};
  Diagnostics problems{two, one, two};
  sort_by_place(problems);
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].code, "E2");
  EXPECT_EQ(placed(problems[1], sources).place, (PlacedLabel{"a", 1, 5, 1, 8, ""}));
}

}  // namespace
}  // namespace fairlead::lang
