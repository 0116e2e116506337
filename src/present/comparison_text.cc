#include "present/comparison_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "present/start_text.h"

namespace fairlead {
namespace {

std::string title_of(const Comparison& c) {
  std::string text = fmt::format("What {} would have done, beside what happened", c.organisation);
  return c.from.known() ? text + " since " + short_time(c.from) : text;
}

std::string scores(const Comparison& c, const TextOptions& options) {
  if (c.teams.empty() || c.teams[0].started + c.teams[0].went_away == 0)
    return paragraph("Nothing has started yet that had been suggested before.", options);
  Table table{.columns = {{"team"},
                          {"started", Align::right},
                          {"sooner by", Align::right},
                          {"at most", Align::right},
                          {"GPU-hours sooner", Align::right},
                          {"taking back", Align::right},
                          {"went away", Align::right}},
              .rows = {}};
  for (const ComparisonRow& r : c.teams) {
    const bool any = r.started > 0;
    table.rows.push_back({r.team, with_thousands(r.started), any ? wait_text(r.sooner_us) : "-",
                          any ? wait_text(r.sooner_most_us) : "-", gpu_hours(r.sooner_gpu_seconds),
                          with_thousands(r.with_victims), with_thousands(r.went_away)});
  }
  return block(table, options);
}

std::string details_of(const SuggestionRow& r) {
  if (r.kind == SuggestionKind::take_back)
    return fmt::format("for {}, rule {}, {} GPU-hours again", r.claimant, r.rule,
                       gpu_hours(r.lost_gpu_seconds));
  if (r.kind == SuggestionKind::make_room)
    return fmt::format("on {}, by moving {}: {} GPU-hours again", r.nodes, to_text(r.moves),
                       gpu_hours(r.lost_gpu_seconds));
  std::string text = "on " + r.nodes;
  if (!r.takes_back.empty())
    text += fmt::format(", taken back from {}", fmt::join(r.takes_back, " "));
  return text;
}

std::string suggestions(const Comparison& c, const TextOptions& options) {
  if (c.now.empty()) return paragraph("Nothing is suggested now.", options);
  constexpr size_t kShown = 20;
  Table table{.columns = {{"suggested"},
                          {"workload"},
                          {"team"},
                          {"class"},
                          {"GPUs", Align::right},
                          {"for", Align::right},
                          {"how"}},
              .rows = {}};
  const Instant now = options.now.known() ? options.now : c.as_of;
  for (const SuggestionRow& r : c.now)
    table.rows.push_back(
        {words(enum_name(r.kind)),
         r.tasks > 1 ? fmt::format("{} ({} tasks)", r.workload, r.tasks) : r.workload, r.team,
         r.klass, with_thousands(r.gpus), age(r.since, now), details_of(r)});
  std::string out = block(table, options, {.rows_max = options.wide ? 0 : kShown});
  return out;
}

}  // namespace

std::string comparison_text(const Comparison& c, const TextOptions& options) {
  if (c.organisation.empty()) return paragraph(c.note, options, 0);
  std::string out = heading(title_of(c), options) + scores(c, options);
  if (c.not_foreseen > 0)
    out +=
        paragraph(fmt::format("{} started with no start suggested: the scheduler chose otherwise, "
                              "or both came between two looks.",
                              plural(c.not_foreseen, "workload")),
                  options);
  if (const std::string kept = estimates_text(c.estimates, options); !kept.empty())
    out += "\n" + heading("Starts as they were estimated", options) + kept;
  out += "\n" + heading("Suggested now, and not done", options) + suggestions(c, options);
  return out + "\n" +
         paragraph(
             "Each look is judged by itself: from the first of an unbroken row of looks that "
             "would start a workload to its start.",
             options);
}

Table comparison_table(const Comparison& c) {
  Table table{.columns = {{"workload"},
                          {"kind"},
                          {"team"},
                          {"class"},
                          {"since"},
                          {"tasks", Align::right},
                          {"gpus", Align::right},
                          {"nodes"},
                          {"takes_back"},
                          {"claimant"},
                          {"rule"},
                          {"lost_gpu_seconds", Align::right}},
              .rows = {}};
  for (const SuggestionRow& r : c.now)
    table.rows.push_back({r.workload, enum_name(r.kind), r.team, r.klass, to_rfc3339(r.since),
                          std::to_string(r.tasks), std::to_string(r.gpus), r.nodes,
                          fmt::format("{}", fmt::join(r.takes_back, " ")), r.claimant, r.rule,
                          std::to_string(r.lost_gpu_seconds)});
  return table;
}

}  // namespace fairlead
