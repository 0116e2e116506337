#include "evidence/exposition.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

namespace fairlead::evidence {
namespace {

// A page's points, one per line: metric, labels, value, time.
std::string read_all(std::string_view text, PageReport* report = nullptr) {
  std::string out;
  const auto result = read_exposition(text, [&](const Point& point) {
    out += std::string(point.metric);
    for (const Label& label : point.labels) out += fmt::format(" {}=[{}]", label.name, label.value);
    out += fmt::format(" {}", point.value);
    if (point.at) out += fmt::format(" @{}", point.at->us);
    out += '\n';
  });
  if (!result) return result.error().code;
  if (report != nullptr) *report = *result;
  return out;
}

struct PageRow {
  std::string_view name, text, want;
  int64_t want_bad = 0;
  int want_first_bad = 0;
};

constexpr PageRow kPageRows[] = {
    {.name = "a metric alone", .text = "up 1\n", .want = "up 1\n"},
    {.name = "labels and a time in milliseconds",
     .text = "m{gpu=\"0\",Hostname=\"n1\"} 97.5 1796025540000",
     .want = "m gpu=[0] Hostname=[n1] 97.5 @1796025540000000\n"},
    {.name = "comments, blank lines and carriage returns",
     .text = "# HELP m x\r\n\r\n# TYPE m gauge\r\nm 1\r\n",
     .want = "m 1\n"},
    {.name = "blanks in every place",
     .text = "  m { a = \"1\" , b=\"2\" , }   3   4  \n",
     .want = "m a=[1] b=[2] 3 @4000\n"},
    {.name = "escapes in a label",
     .text = R"(m{a="x\"y\\z\nw\q"} 1)",
     .want = "m a=[x\"y\\z\nw\\q] 1\n"},
    {.name = "a brace and a comma inside a label",
     .text = R"(m{a="},{"} 1)",
     .want = "m a=[},{] 1\n"},
    {.name = "numbers that are none",
     .text = "a NaN\nb +Inf\nc -Inf\nd 1e+06\ne -0.5\n",
     .want = "a nan\nb inf\nc -inf\nd 1000000\ne -0.5\n"},
    {.name = "OpenMetrics counts time in seconds and may add an exemplar",
     .text = "m_total{a=\"1\"} 5 1796025540.25 # {trace=\"x\"} 1\n# EOF\n",
     .want = "m_total a=[1] 5 @1796025540250000\n"},
    {.name = "a broken line hides nothing else",
     .text = "a 1\nb{x=\"1} 2\nc\nd 4 5 6\ne 0x10\nf 7\n",
     .want = "a 1\nf 7\n",
     .want_bad = 4,
     .want_first_bad = 2},
    {.name = "a page cut off in the middle",
     .text = "a 1\nb{x=\"1\",y=\"",
     .want = "a 1\n",
     .want_bad = 1,
     .want_first_bad = 2},
    {.name = "an escape at the end",
     .text = "a 1\nb{x=\"\\",
     .want = "a 1\n",
     .want_bad = 1,
     .want_first_bad = 2},
    {.name = "an exporter with nothing to say", .text = "# HELP m x\n", .want = ""},
    {.name = "an empty page", .text = "", .want = "exposition-bad"},
    {.name = "a web page",
     .text = "\n  <!DOCTYPE html><html>\n<body>login</body>",
     .want = "exposition-html"},
    {.name = "JSON", .text = "{\"status\":\"ok\"}", .want = "exposition-bad"},
    {.name = "bytes", .text = "\x1f\x8b\x08\x00zz", .want = "exposition-bad"},
};

TEST(Exposition, IsReadAsFarAsItCanBe) {
  for (const PageRow& row : kPageRows) {
    SCOPED_TRACE(row.name);
    PageReport report;
    EXPECT_EQ(read_all(row.text, &report), row.want);
    EXPECT_EQ(report.bad_lines, row.want_bad);
    EXPECT_EQ(report.first_bad_line, row.want_first_bad);
  }
}

TEST(Exposition, ALineMayNotBeEndless) {
  EXPECT_EQ(read_all("a 1\nb{x=\"" + std::string(100'000, 'x') + "\"} 1\n"), "a 1\n");
}

RC_GTEST_PROP(Exposition, NoTextBreaksIt, (const std::string& text)) {
  read_all(text);
  read_all("m{a=\"" + text);
  read_all("m " + text);
}

TEST(Number, IsReadWholeOrNotAtAll) {
  EXPECT_EQ(read_number("1e999"), std::numeric_limits<double>::infinity());
  for (const char* bad : {"", "+", "x", "1x", "1 ", "++1", "0x1p3"})
    EXPECT_EQ(read_number(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace fairlead::evidence
