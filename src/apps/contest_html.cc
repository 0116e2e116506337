// The contest as one page: plots are drawn in it, nothing is fetched.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/contest_view.h"
#include "base/words.h"
#include "present/page.h"

namespace fairlead {
namespace {

using contest::Score;

// Told apart by the colour-blind (Okabe and Ito), and by dashes without colour.
struct LineLook {
  const char* colour;
  const char* dashes;
};
constexpr LineLook kLooks[] = {{"#0072B2", ""},         {"#D55E00", "9 3"}, {"#009E73", "3 3"},
                               {"#CC79A7", "12 4 3 4"}, {"#E69F00", "6 2"}, {"#56B4E9", "2 2"},
                               {"var(--fg)", ""}};
const LineLook& look_of_line(size_t i) { return kLooks[i % std::size(kLooks)]; }

struct Point {
  double x = 0, y = 0;  // from 0 to 1, up and to the right
};

std::string line(const std::vector<Point>& points, size_t look, std::string_view title) {
  std::string path;
  for (const Point& p : points)
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", p.x * 1000, 200 - p.y * 200);
  return fmt::format(
      "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\" "
      "vector-effect=\"non-scaling-stroke\" points=\"{}\"><title>{}</title></polyline>",
      look_of_line(look).colour, look_of_line(look).dashes, path, escaped(title).html);
}

Markup chart(std::string_view label, const std::string& lines) {
  return {
      fmt::format("<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 1000 200\" "
                  "preserveAspectRatio=\"none\" width=\"100%\" height=\"200\">"
                  "<path class=\"edge\" fill=\"none\" vector-effect=\"non-scaling-stroke\" "
                  "d=\"M0 0V200H1000\"/>{}</svg>\n",
                  escaped(label).html, lines)};
}

Markup caption(std::string_view left, std::string_view right) {
  return element(
      "figcaption", "",
      {"<span>" + escaped(left).html + "</span><span>" + escaped(right).html + "</span>"});
}

Markup key_of(const ContestView& v) {
  Markup out;
  for (size_t i = 0; i < v.rules.size(); ++i) {
    out += {
        fmt::format("<span><svg style=\"display:inline-block\" width=\"34\" height=\"8\" "
                    "aria-hidden=\"true\"><line x1=\"0\" x2=\"30\" y1=\"4\" y2=\"4\" "
                    "stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/></svg>{}</span> ",
                    look_of_line(i).colour, look_of_line(i).dashes, escaped(v.rules[i].rule).html)};
  }
  return element("p", "", out);
}

double log_of(int64_t us) {
  return std::log10(std::max(1.0, static_cast<double>(us) / static_cast<double>(kMicrosPerSecond)));
}

// Which part of the work waited no longer than so: to the right is longer, and up is more.
Markup waits_plot(const ContestView& v) {
  int64_t most = 10 * kMicrosPerSecond;
  for (const Score& s : v.rules)
    if (!s.wait_quantiles_us.empty()) most = std::max(most, s.wait_quantiles_us.back());
  std::string lines;
  for (size_t i = 0; i < v.rules.size(); ++i) {
    const auto& waits = v.rules[i].wait_quantiles_us;
    std::vector<Point> points;
    for (size_t q = 0; q < waits.size(); ++q)
      points.push_back({log_of(waits[q]) / log_of(most),
                        static_cast<double>(q) / static_cast<double>(waits.size() - 1)});
    lines += line(points, i, v.rules[i].rule);
  }
  Markup figure = caption("part of the work that waited no longer",
                          fmt::format("1s to {}, logarithmic", wait_text(most)));
  return element("figure", "", figure += chart("waits by rule, cumulative", lines));
}

Markup held_plot(const ContestView& v) {
  std::string lines;
  for (size_t i = 0; i < v.rules.size(); ++i) {
    const auto& held = v.rules[i].held_ppm;
    std::vector<Point> points;
    for (size_t p = 0; p < held.size(); ++p)
      points.push_back({(static_cast<double>(p) + 0.5) / static_cast<double>(held.size()),
                        static_cast<double>(held[p]) / 1e6});
    lines += line(points, i, v.rules[i].rule);
  }
  Markup figure = caption("part of the fleet that is held by runs that ended well",
                          fmt::format("{} to {}", short_time(v.from), short_time(v.until)));
  return element("figure", "", figure += chart("utilisation by rule over time", lines));
}

Markup wait_bar(const contest::Quantiles& w, int64_t most) {
  const auto at = [&](int64_t us) { return 100 * log_of(us) / log_of(most); };
  return {fmt::format(
      "<svg class=\"plot\" role=\"img\" aria-label=\"P50 {}, P90 {}, P99 {}\"><line class=\"edge\" "
      "x1=\"{:.1f}%\" x2=\"{:.1f}%\" y1=\"7\" y2=\"7\"/><circle class=\"ink\" cx=\"{:.1f}%\" "
      "cy=\"7\" r=\"4\"/><line class=\"edge\" x1=\"{:.1f}%\" x2=\"{:.1f}%\" y1=\"2\" y2=\"12\"/>"
      "<circle class=\"edge\" cx=\"{:.1f}%\" cy=\"7\" r=\"3\"/></svg>",
      wait_text(w.p50), wait_text(w.p90), wait_text(w.p99), at(w.p50), at(w.p99), at(w.p50),
      at(w.p90), at(w.p90), at(w.p99))};
}

Markup waits_of(const ContestView& v) {
  int64_t most = 10 * kMicrosPerSecond;
  for (const Score& s : v.rules) most = std::max(most, s.all.wait_us.p99);
  Plots plots{.title = fmt::format("● P50  | P90  ○ P99, logarithmic, 1s to {}", wait_text(most)),
              .cells = {},
              .first = true};
  for (const Score& s : v.rules) plots.cells.push_back(wait_bar(s.all.wait_us, most));
  Markup out = table_markup(contest_waits_table(v), plots);
  out += key_of(v);
  return out += waits_plot(v);
}

}  // namespace

std::string contest_html(const ContestView& v) {
  Markup head{"<h1>" + escaped(v.history).html + "</h1>"};
  head += element("span", "muted",
                  escaped(fmt::format("{} to {}", short_time(v.from), short_time(v.until))));
  head += element("span", "", escaped(plural(v.workloads, "workload")));
  head += element("span", "", escaped(v.fleet));
  head += element("span", "muted", escaped("by " + v.organisation));
  Markup body = element("header", "", head);
  body +=
      section({"Waits, from submission, beyond the job's own run", "virtual time"}, waits_of(v));
  Markup use = table_markup(contest_use_table(v));
  use += held_plot(v);
  body += section({"Use and fairness", "virtual time"}, use);
  body += section({"By class", ""}, table_markup(contest_groups_table(v, false)));
  body += section({"By team", ""}, table_markup(contest_groups_table(v, true)));
  if (v.seeds > 0) body += section({over_seeds(v.seeds), ""}, table_markup(contest_seeds_table(v)));
  Markup notes;
  for (const Score& s : v.rules) notes += paragraph_markup(fmt::format("{}: {}", s.rule, s.about));
  for (const std::string& note : v.notes) notes += paragraph_markup(note);
  notes += paragraph_markup("digest " + v.digest);
  notes += paragraph_markup("again: " + v.repeat);
  body += section({"What to know", ""}, notes);
  return page("Fairlead: rules side by side on " + v.history, body);
}

}  // namespace fairlead
