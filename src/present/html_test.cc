#include "present/html.h"

#include <gtest/gtest.h>

#include <cmath>

#include "present/page.h"
#include "present/sample_report.h"

namespace fairlead {
namespace {

// What is wrong with the nesting of elements; empty where nothing is.
std::string nesting_problem(std::string_view html) {
  std::vector<std::string> open;
  for (size_t at = 0; (at = html.find('<', at)) != html.npos;) {
    if (html.substr(at).starts_with("<style>")) at = html.find("</style>", at) + 8;
    if (html[at] != '<') continue;
    const size_t end = html.find('>', at);
    if (end == html.npos) return "a tag does not end";
    std::string_view tag = html.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.starts_with('!') || tag.starts_with("meta") || tag.ends_with('/')) continue;
    const std::string name(tag.substr(tag.starts_with('/') ? 1 : 0,
                                      tag.find_first_of(" /", 1) - (tag.starts_with('/') ? 1 : 0)));
    if (!tag.starts_with('/')) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " is left open";
}

// The widths of the parts of each bar, in hundredths of a per cent.
std::vector<int64_t> bar_sums(std::string_view html) {
  std::vector<int64_t> sums;
  for (size_t at = 0; (at = html.find("<svg class=\"bar\"", at)) != html.npos;) {
    const size_t end = html.find("</svg>", at);
    int64_t sum = 0;
    for (size_t w = at; (w = html.find(" width=\"", w)) < end;) {
      w += 8;
      sum += std::llround(std::stod(std::string(html.substr(w, 8))) * 100);
    }
    sums.push_back(sum);
    at = end;
  }
  return sums;
}

TEST(ReportHtml, ElementsNest) {
  EXPECT_EQ(nesting_problem(report_html(sample_report())), "");
  EXPECT_EQ(nesting_problem(report_html({})), "");
  EXPECT_NE(nesting_problem("<p><b></p>"), "");
}

TEST(ReportHtml, EveryBarAddsUp) {
  const std::vector<int64_t> sums = bar_sums(report_html(sample_report()));
  ASSERT_GE(sums.size(), 2u);  // the model's and the team's
  for (const int64_t sum : sums) EXPECT_EQ(sum, 10'000);
}

TEST(ReportHtml, NamesAreTextAndNothingElse) {
  Report r = sample_report();
  const std::string name = "<script>alert('1')</script>\" onload=\"x\xff\x01";
  r.site = r.teams[0].name = r.idle_holds[0].team = r.models[0].model = r.waiting[0].message =
      r.sources[1].detail = name;
  r.notes = {name};
  const std::string html = report_html(r);
  EXPECT_EQ(html.find("<script"), html.npos);
  EXPECT_EQ(html.find("\" onload"), html.npos);
  EXPECT_NE(
      html.find(
          "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot; onload=&quot;x\xef\xbf\xbd\\x01"),
      html.npos);
  EXPECT_EQ(nesting_problem(html), "");
}

TEST(ReportHtml, NeedsNoNetworkAndNoScript) {
  const std::string html = report_html(sample_report());
  for (const char* outside :
       {"http://", "https://", "src=", "<link", "<script", "@import", "url(h"})
    EXPECT_EQ(html.find(outside), html.npos) << outside;
  EXPECT_NE(html.find("prefers-color-scheme:dark"), html.npos);
  EXPECT_NE(html.find("@media print"), html.npos);
}

TEST(ReportHtml, AnEmptyReportSaysSo) {
  const std::string html = report_html({.site = "alpha"});
  for (const char* want : {"No accelerators are known", "Not measurable", "Nothing waits.",
                           "No workload ended", "The fleet is not known"}) {
    EXPECT_NE(html.find(want), html.npos) << want;
  }
}

struct EscapeRow {
  std::string_view name, text, want;
};
const EscapeRow kEscapeRows[] = {
    {"plain", "job 4242", "job 4242"},
    {"markup", "<a href='x'>&\"", "&lt;a href=&#39;x&#39;&gt;&amp;&quot;"},
    {"several bytes", "計é😀", "計é😀"},
    {"a cut character", "a\xe8\xa8", "a\xef\xbf\xbd\xef\xbf\xbd"},
    {"an overlong slash", "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
    {"a surrogate", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"control", "a\nb\x1b", "a b\\x1b"},
};

TEST(Page, Escapes) {
  for (const EscapeRow& row : kEscapeRows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(escaped(row.text).html, row.want);
  }
}

}  // namespace
}  // namespace fairlead
