#include "present/start_text.h"

#include <fmt/format.h>

namespace fairlead {
namespace {

std::string percent(int64_t ppm) {
  return ppm < 0 ? "-" : fmt::format("{} %", (ppm + 5'000) / 10'000);
}

}  // namespace

std::string start_cell(Instant start, Instant now) {
  if (!start.known()) return "-";
  return start <= now + kEstimateResolution ? "now" : "in " + age(now, start);
}

std::string start_paragraph(const Explanation& x, const TextOptions& options, Instant now) {
  const StartTold& s = x.start;
  if (!s.p50.known())
    return s.unknown.empty() ? "" : paragraph("its start is not known: " + s.unknown, options);
  const auto told = [&](Instant at) {
    return at <= now + kEstimateResolution ? std::string("now") : short_time(at);
  };
  std::string text = fmt::format("estimated start  P50 {}   P90 {}", told(s.p50),
                                 s.p90.known() ? told(s.p90) : "later than is foreseen");
  text += s.by_history ? "" : " (by time limits alone: of runs like these too few are over)";
  if (s.first.p50.known() && s.first.p50 != s.p50)
    text += fmt::format("; told first, {} ago: P50 {}", age(s.first.made, now),
                        short_time(s.first.p50));
  if (s.held_ppm >= 0)
    text += fmt::format("; {} of {} had started by their P90", percent(s.held_ppm),
                        plural(s.scored, "promise"));
  return paragraph(text, options);
}

std::string estimates_text(const EstimatesTold& e, const TextOptions& options) {
  if (!e.made.known()) return "";
  std::string out = paragraph(
      fmt::format("{} of the first {} that wait have an estimate; {} behind them were not asked.",
                  with_thousands(e.told), with_thousands(e.asked), with_thousands(e.behind)),
      options);
  if (e.started + e.at_once == 0)
    return out + paragraph("Nothing has started yet of which a start was told.", options);
  Table table{.columns = {{"told first"},
                          {"started", Align::right},
                          {"by P50", Align::right},
                          {"by P90", Align::right},
                          {"median error", Align::right},
                          {"of the last told", Align::right}},
              .rows = {}};
  const auto error = [](int64_t us) { return us < 0 ? "-" : wait_text(us); };
  table.rows.push_back({"a wait", with_thousands(e.started), percent(e.by_p50_ppm),
                        percent(e.by_p90_ppm), error(e.error_us), error(e.error_latest_us)});
  table.rows.push_back(
      {"a start now", with_thousands(e.at_once), percent(e.at_once_ppm), "-", "-", "-"});
  return out + block(table, options);
}

}  // namespace fairlead
