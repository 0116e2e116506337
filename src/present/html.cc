#include "present/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "present/layout.h"
#include "present/page.h"
#include "present/report_sections.h"

namespace fairlead {
namespace {

constexpr size_t kRowsShown = 50;

// What stands behind the numbers of a section, for its hover text.
std::string source_of(const Report& r, Source source) {
  const auto it = std::ranges::find(r.sources, source, &SourceRow::source);
  if (it == r.sources.end() || !it->known)
    return fmt::format("{}: not configured", enum_name(source));
  return fmt::format("{}: seen {} before the report{}", enum_name(source), age(it->last_ok, r.to),
                     it->ok ? "" : ", not seen now");
}

std::string measured_source(const Report& r) {
  return source_of(r, Source::scheduler) + "; " + source_of(r, Source::telemetry) +
         "; telemetry covers " + share(r.telemetry_coverage_ppm, 1'000'000) + " of what was held";
}

Table first_rows(Table table) {
  if (table.rows.size() > kRowsShown) table.rows.resize(kRowsShown);
  return table;
}

Markup more_than_shown(size_t rows, int64_t beyond = 0) {
  const int64_t more =
      beyond + static_cast<int64_t>(rows) - static_cast<int64_t>(std::min(rows, kRowsShown));
  return more == 0 ? Markup{}
                   : paragraph_markup(fmt::format("… {} more", with_thousands(more)), "muted");
}

Markup header_of(const Report& r) {
  Markup inner{"<h1>" + escaped(r.site).html + "</h1>"};
  inner += element("span", "muted",
                   escaped(fmt::format("{} to {} ({})", short_time(r.from), short_time(r.to),
                                       wait_text((r.to - r.from).us))));
  inner += element("span", "",
                   escaped(r.fleet_known ? plural(r.gpus, "GPU") : "the fleet is not known"));
  inner += element("span", "muted", escaped(coverage_sentence(r)));
  return element("header", "", inner);
}

Markup bars_of(const Report& r) {
  if (r.models.empty()) {
    return paragraph_markup(
        "No accelerators are known: neither the scheduler states any nor has a job held any. "
        "fairlead doctor says what can be read.");
  }
  Markup out;
  for (const ModelRow& m : r.models) {
    const bool booked = m.gpu_seconds.total > 0;
    std::string size = m.gpus.total > 0 ? plural(m.gpus.total, "GPU") + ", " : "";
    size += booked ? gpu_hours(m.gpu_seconds.total) + " GPU-hours"
                   : "nothing is booked yet: as it is now";
    Markup inner = element("figcaption", "",
                           {"<span>" + escaped(model_name(m.model)).html + "</span><span>" +
                            escaped(size).html + "</span>"});
    inner += bar_svg(booked ? m.gpu_seconds : m.gpus, booked ? "GPU-seconds" : "GPUs");
    out += element("figure", "", inner);
  }
  return out;
}

Markup legend_of(const Report& r) {
  Table table{.columns = {{"column"},
                          {"GPU-hours", Align::right},
                          {"share", Align::right},
                          {"GPUs now", Align::right},
                          {"meaning"}},
              .rows = {}};
  Plots plots{.title = "", .cells = {}, .first = true};
  for (const ColumnLook& look : column_looks()) {
    const bool unknowable = !knowable(r, look.column);
    const int64_t n = amount(r.gpu_seconds, look.column);
    int64_t now = 0;
    for (const ModelRow& m : r.models) now += amount(m.gpus, look.column);
    table.rows.push_back({std::string(look.title), unknowable ? "-" : gpu_hours(n),
                          unknowable ? "-" : share(n, r.gpu_seconds.total),
                          unknowable ? "-" : with_thousands(now), std::string(look.meaning)});
    plots.cells.push_back(swatch_svg(look));
  }
  return table_markup(table, plots);
}

Markup idle_of(const Report& r) {
  if (r.idle_holds.empty()) {
    return paragraph_markup(why_no_idle(r));
  }
  Markup out = table_markup(idle_sums_table(r));
  out += table_markup(first_rows(idle_holds_table(r)));
  return out += more_than_shown(r.idle_holds.size());
}

// P50 to P99 of one row on a logarithmic scale from one second to `most`.
Markup wait_plot(const ReportRow& row, int64_t most_us) {
  if (row.started == 0) return {};
  const double span = std::log10(std::max(10.0, static_cast<double>(most_us) / kMicrosPerSecond));
  const auto at = [&](int64_t us) {
    return 100 *
           std::clamp(std::log10(std::max(1.0, static_cast<double>(us) / kMicrosPerSecond)) / span,
                      0.0, 1.0);
  };
  const WaitQuantiles& w = row.wait_us;
  return {
      fmt::format("<svg class=\"plot\" role=\"img\" aria-label=\"P50 {}, P90 {}, P99 {}\"><line "
                  "class=\"edge\" x1=\"{:.1f}%\" x2=\"{:.1f}%\" y1=\"7\" y2=\"7\"/>"
                  "<circle class=\"ink\" cx=\"{:.1f}%\" cy=\"7\" r=\"4\"/><line class=\"edge\" "
                  "x1=\"{:.1f}%\" x2=\"{:.1f}%\" y1=\"2\" y2=\"12\"/>"
                  "<circle class=\"edge\" cx=\"{:.1f}%\" cy=\"7\" r=\"3\"/></svg>",
                  wait_text(w.p50), wait_text(w.p90), wait_text(w.p99), at(w.p50), at(w.p99),
                  at(w.p50), at(w.p90), at(w.p90), at(w.p99))};
}

Markup waits_of(const Report& r) {
  if (r.classes.empty() && r.teams.empty())
    return paragraph_markup("No workload was seen in this time.");
  int64_t most = 0;
  const std::vector<ReportRow> teams = team_rows(r);
  for (const auto* rows : {&r.classes, &teams}) {
    for (const ReportRow& row : *rows) most = std::max(most, row.wait_us.p99);
  }
  const auto plots = [&](const std::vector<ReportRow>& rows) {
    Plots p{.title = fmt::format("● P50  | P90  ○ P99, logarithmic, 1s to {}", wait_text(most)),
            .cells = {}};
    for (const ReportRow& row : rows) p.cells.push_back(wait_plot(row, most));
    return p;
  };
  Markup out = table_markup(first_rows(waits_table("class", r.classes)), plots(r.classes));
  out += table_markup(first_rows(waits_table("team", teams)), plots(teams));
  return out += more_than_shown(teams.size());
}

// What each team held, by column; all bars to one scale.
Markup teams_of(const Report& r) {
  if (r.teams.empty()) return paragraph_markup("No team held a GPU in this time.");
  Table table{.columns = {{"team"},
                          {"GPU-hours", Align::right},
                          {"useful", Align::right},
                          {"idle", Align::right},
                          {"unmeasured", Align::right},
                          {"lost", Align::right}},
              .rows = {}};
  Plots plots{.title = "by column", .cells = {}};
  for (const TeamRow& team : r.teams) {
    const ColumnSeconds& s = team.gpu_seconds;
    auto& cells = table.rows.emplace_back();
    cells = {name_or_none(team.name), gpu_hours(s.total)};
    for (const Column c :
         {Column::useful, Column::held_idle, Column::held_unmeasured, Column::lost}) {
      cells.push_back(knowable(r, c) ? share(amount(s, c), s.total) : "-");
    }
    plots.cells.push_back(s.total > 0 ? bar_svg(s, "GPU-seconds") : Markup{});
  }
  Markup out = table_markup(first_rows(table), plots);
  return out += more_than_shown(r.teams.size());
}

Markup waiting_of(const Report& r) {
  if (r.waiting.empty()) return paragraph_markup("Nothing waits.");
  Markup out = table_markup(first_rows(waiting_table(r.waiting)));
  return out += more_than_shown(r.waiting.size(), r.waiting_more);
}

Markup fragmentation_of_page(const Report& r) {
  Markup out = paragraph_markup(fragmentation_sentence(r));
  if (!r.fragmentation.waiting_shapes.empty()) out += table_markup(first_rows(shapes_table(r)));
  return out;
}

Markup requested_of(const Report& r) {
  const std::vector<ReportRow> teams = team_rows(r);
  const Table table = requested_table("team", teams);
  if (table.rows.empty())
    return paragraph_markup("Nothing that ran under a time limit has ended in this time.");
  Plots plots{.title = "run within asked", .cells = {}};
  for (const ReportRow& row : teams) {
    if (row.requested_gpu_seconds == 0) continue;
    const double part = 100.0 * std::clamp(static_cast<double>(row.used_gpu_seconds) /
                                               static_cast<double>(row.requested_gpu_seconds),
                                           0.0, 1.0);
    plots.cells.push_back({fmt::format(
        "<svg class=\"plot\" aria-hidden=\"true\"><rect fill=\"#0072B2\" width=\"{:.1f}%\" y=\"2\" "
        "height=\"10\"/>"
        "<rect class=\"edge\" fill=\"none\" width=\"100%\" y=\"2\" height=\"10\"/></svg>",
        part)});
  }
  return table_markup(first_rows(table), plots);
}

Markup sources_of(const Report& r) {
  Markup out = paragraph_markup(coverage_sentence(r));
  if (!r.sources.empty()) out += table_markup(sources_table(r));
  for (const std::string& note : r.notes) out += paragraph_markup(note);
  return out;
}

}  // namespace

std::string report_html(const Report& r) {
  Markup said;
  for (const std::string& sentence : r.sentences) said += paragraph_markup(sentence);
  Markup body = header_of(r);
  body += bars_of(r);
  body += element("div", "said", said);
  const std::string measured = measured_source(r), scheduled = source_of(r, Source::scheduler);
  body += section({"GPU-hours by column", measured}, legend_of(r));
  body += section({"Idle holds now", measured}, idle_of(r));
  body += section({"What each team held", measured}, teams_of(r));
  body += section({"Waits, from submission to GPUs, of what started in this time", scheduled},
                  waits_of(r));
  body += section({"Waiting", scheduled}, waiting_of(r));
  body += section({"Fragmentation", scheduled}, fragmentation_of_page(r));
  body +=
      section({"Asked (GPUs × time limit) against run, of what ended", scheduled}, requested_of(r));
  body += section({"Ended", scheduled}, r.ended.empty()
                                            ? paragraph_markup("No workload ended in this time.")
                                            : table_markup(ended_table(r)));
  body += section({"Coverage, sources, and what this report does not know", ""}, sources_of(r));
  return page(
      fmt::format("Fairlead report: {}, {} to {}", r.site, short_time(r.from), short_time(r.to)),
      body);
}

}  // namespace fairlead
