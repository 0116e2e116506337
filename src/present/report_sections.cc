#include "present/report_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace fairlead {
namespace {

constexpr size_t kRowsShown = 10;

std::string waits_of(const WaitQuantiles& w, int64_t started, int64_t WaitQuantiles::* which) {
  return started == 0 ? "-" : wait_text(w.*which);
}

}  // namespace

std::string why_no_idle(const Report& r) {
  if (!has_telemetry(r)) {
    return "Not measurable: no telemetry is configured. With `telemetry: {prometheus: …}` of the "
           "site in "
           "fairlead.yaml idle holds appear here.";
  }
  if (is_blind_now(r)) return "Cannot be seen now: no held GPU has a fresh sample.";
  int64_t idle = 0;
  for (const ModelRow& m : r.models) idle += m.gpus.held_idle;
  if (idle == 0) return "None now: every held GPU that telemetry covers works.";
  return fmt::format("None yet: {} idle at the moment, none of them for long enough to count.",
                     plural(idle, "held GPU") + (idle == 1 ? " is" : " are"));
}

std::string model_name(const std::string& model) {
  return model.empty() ? "gpu" : printable(model);
}

std::string name_or_none(const std::string& name) { return name.empty() ? "(none)" : name; }

bool has_telemetry(const Report& r) {
  return std::ranges::any_of(
      r.sources, [](const SourceRow& s) { return s.source == Source::telemetry && s.known; });
}

bool knowable(const Report& r, Column column) {
  if (column >= Column::free) return r.fleet_known;
  if (column == Column::reserved) return r.fleet_known || amount(r.gpu_seconds, column) > 0;
  if (column == Column::useful || column == Column::held_idle)
    return has_telemetry(r) || amount(r.gpu_seconds, column) > 0;
  return true;
}

std::vector<ReportRow> team_rows(const Report& r) { return {r.teams.begin(), r.teams.end()}; }

std::vector<IdleSum> idle_sums(const Report& r) {
  std::map<IdleKind, IdleSum> sums;
  for (const IdleHoldRow& hold : r.idle_holds) {
    IdleSum& sum = sums[hold.kind];
    sum.kind = hold.kind;
    ++sum.holds;
    sum.gpus += hold.gpus;
    sum.gpu_seconds += hold.gpu_seconds;
  }
  std::vector<IdleSum> rows;
  for (const auto& [kind, sum] : sums) rows.push_back(sum);
  std::ranges::sort(rows, {}, [](const IdleSum& s) { return std::pair(-s.gpu_seconds, s.kind); });
  return rows;
}

Table idle_sums_table(const Report& r) {
  Table table{.columns = {{"kind"},
                          {"holds", Align::right},
                          {"GPUs", Align::right},
                          {"idle GPU-hours", Align::right}},
              .rows = {}};
  for (const IdleSum& s : idle_sums(r)) {
    table.rows.push_back({words(enum_name(s.kind)), with_thousands(s.holds), with_thousands(s.gpus),
                          gpu_hours(s.gpu_seconds)});
  }
  return table;
}

Table idle_holds_table(const Report& r) {
  Table table{.columns = {{"workload"},
                          {"team"},
                          {"user"},
                          {"kind"},
                          {"GPUs", Align::right},
                          {"idle for", Align::right},
                          {"since"},
                          {"idle GPU-hours", Align::right}},
              .rows = {}};
  for (const IdleHoldRow& h : r.idle_holds) {
    table.rows.push_back({h.workload, name_or_none(h.team), h.user, words(enum_name(h.kind)),
                          with_thousands(h.gpus), age(h.since, r.to), short_time(h.since),
                          gpu_hours(h.gpu_seconds)});
  }
  return table;
}

Table waits_table(std::string_view title, const std::vector<ReportRow>& rows) {
  Table table{.columns = {{std::string(title)},
                          {"workloads", Align::right},
                          {"started", Align::right},
                          {"never started", Align::right},
                          {"P50", Align::right},
                          {"P90", Align::right},
                          {"P99", Align::right}},
              .rows = {}};
  for (const ReportRow& row : rows) {
    table.rows.push_back({name_or_none(row.name), with_thousands(row.workloads),
                          with_thousands(row.started), with_thousands(row.never_started),
                          waits_of(row.wait_us, row.started, &WaitQuantiles::p50),
                          waits_of(row.wait_us, row.started, &WaitQuantiles::p90),
                          waits_of(row.wait_us, row.started, &WaitQuantiles::p99)});
  }
  return table;
}

Table waiting_table(const std::vector<WaitingRow>& rows) {
  Table table{.columns = {{"workload"},
                          {"team"},
                          {"class"},
                          {"wants"},
                          {"waits", Align::right},
                          {"first blocker"},
                          {""},
                          {"in words"}},
              .rows = {}};
  for (const WaitingRow& w : rows) {
    table.rows.push_back(
        {w.tasks > 1 ? fmt::format("{} ({} tasks)", w.workload, w.tasks) : w.workload,
         name_or_none(w.team), w.klass, w.gang, wait_text(w.wait_us),
         w.blockers.empty() ? "-" : enum_name(w.blockers[0]),
         w.blockers.size() > 1 ? fmt::format("+{}", w.blockers.size() - 1) : "",
         (w.can_never_start ? "never as it is: " : "") + one_line(w.message)});
  }
  return table;
}

Table shapes_table(const Report& r) {
  const auto& shapes = r.fragmentation.waiting_shapes;
  const bool constrained =
      std::ranges::any_of(shapes, [](const ShapeRow& s) { return !s.constraint.empty(); });
  Table table{.columns = {{"shape"},
                          {"partition"},
                          {"wait", Align::right},
                          {"fit now", Align::right},
                          {"so"}},
              .rows = {}};
  if (constrained) table.columns.push_back({"and asks for"});
  for (const ShapeRow& s : shapes) {
    const std::string so = !r.fleet_known      ? "not known"
                           : s.fits >= s.count ? "there is room for all"
                           : s.fits > 0        ? "there is room for some"
                           : s.enough          ? "enough is free, but not together"
                                               : "not enough is free";
    table.rows.push_back({s.gang, s.partition, with_thousands(s.count),
                          r.fleet_known ? with_thousands(s.fits) : "-", so});
    if (constrained) table.rows.back().push_back(s.constraint);
  }
  return table;
}

Table requested_table(std::string_view title, const std::vector<ReportRow>& rows) {
  Table table{.columns = {{std::string(title)},
                          {"asked GPU-hours", Align::right},
                          {"ran GPU-hours", Align::right},
                          {"of asked", Align::right}},
              .rows = {}};
  for (const ReportRow& row : rows) {
    if (row.requested_gpu_seconds == 0) continue;
    table.rows.push_back({name_or_none(row.name), gpu_hours(row.requested_gpu_seconds),
                          gpu_hours(row.used_gpu_seconds),
                          share(row.used_gpu_seconds, row.requested_gpu_seconds)});
  }
  return table;
}

Table ended_table(const Report& r) {
  Table table{.columns = {{"ended as"}, {"workloads", Align::right}, {"GPU-hours", Align::right}},
              .rows = {}};
  for (const EndedRow& e : r.ended) {
    table.rows.push_back(
        {words(enum_name(e.state)), with_thousands(e.workloads), gpu_hours(e.gpu_seconds)});
  }
  return table;
}

Table sources_table(const Report& r) {
  Table table{.columns = {{"source"},
                          {"seen"},
                          {"last", Align::right},
                          {"unreadable", Align::right},
                          {"detail"}},
              .rows = {}};
  for (const SourceRow& s : r.sources) {
    table.rows.push_back({enum_name(s.source),
                          !s.known ? "not configured"
                          : s.ok   ? "yes"
                                   : "no",
                          s.known ? age(s.last_ok, r.to) : "-",
                          s.known ? with_thousands(s.unreadable) : "-", one_line(s.detail)});
  }
  return table;
}

std::string names_sentence(const Report& r) {
  return r.scheduler == "slurm" ? "Here a team is an account of Slurm, and a class is a QOS." : "";
}

std::string fragmentation_sentence(const Report& r) {
  const Fragmentation& f = r.fragmentation;
  if (!r.fleet_known) return "The fleet is not known, so nothing can be said of what is free.";
  if (f.free_gpus + f.stranded_gpus == 0) return "No GPU is free.";
  std::string text = plural(f.free_gpus, "GPU") + " free.";
  if (f.stranded_gpus > 0)
    text = fmt::format("{} free, {} more free and stranded: no waiting shape fits on them.",
                       plural(f.free_gpus, "GPU"), with_thousands(f.stranded_gpus));
  if (f.fgd_ppm >= 0)
    text += fmt::format(" The mix of work could not use {} of what is free (FGD).",
                        share(f.fgd_ppm, 1'000'000));
  return text;
}

std::string coverage_sentence(const Report& r) {
  const int64_t held =
      r.gpu_seconds.useful + r.gpu_seconds.held_idle + r.gpu_seconds.held_unmeasured;
  if (!has_telemetry(r))
    return "No telemetry is configured: what is held cannot be called useful or idle.";
  if (held == 0) return "Nothing is booked as held yet, so there is no share to tell.";
  return fmt::format("Telemetry covers {} of the {} GPU-hours that were held.",
                     share(r.telemetry_coverage_ppm, 1'000'000), gpu_hours(held));
}

std::string idle_section(const Report& r, const TextOptions& options) {
  const std::string title = heading("Idle holds now", options);
  if (r.idle_holds.empty()) return title + paragraph(why_no_idle(r), options);
  return title + block(idle_sums_table(r), options) + "\n" +
         block(idle_holds_table(r), options, {.rows_max = kRowsShown});
}

std::string waits_section(const Report& r, const TextOptions& options) {
  const std::string title =
      heading("Waits, from submission to GPUs, of what started in this time", options);
  if (r.classes.empty() && r.teams.empty())
    return title + paragraph("No workload was seen in this time.", options);
  const std::string names = names_sentence(r);
  return title + (names.empty() ? "" : paragraph(names, options)) +
         block(waits_table("class", r.classes), options, {.rows_max = kRowsShown}) + "\n" +
         block(waits_table("team", team_rows(r)), options, {.rows_max = kRowsShown});
}

std::string waiting_section(const Report& r, const TextOptions& options) {
  const auto count = static_cast<int64_t>(r.waiting.size()) + r.waiting_more;
  const std::string title = heading(
      count == 0 ? "Waiting" : fmt::format("Waiting: {}", plural(count, "workload")), options);
  if (count == 0) return title + paragraph("Nothing waits.", options);
  std::string out = title + block(waiting_table(r.waiting), options, {.rows_max = kRowsShown});
  const int64_t beyond =
      r.waiting_more +
      (options.wide
           ? 0
           : std::max<int64_t>(0, static_cast<int64_t>(r.waiting.size() -
                                                       std::min(r.waiting.size(), kRowsShown))));
  if (beyond > 0)
    out += paragraph(
        "`fairlead queue` shows all, `fairlead explain WORKLOAD` every blocker of one.", options);
  return out;
}

std::string fragmentation_section(const Report& r, const TextOptions& options) {
  std::string out =
      heading("Fragmentation", options) + paragraph(fragmentation_sentence(r), options);
  if (r.fragmentation.waiting_shapes.empty()) return out;
  return out + "\n" + block(shapes_table(r), options, {.rows_max = kRowsShown});
}

std::string requested_section(const Report& r, const TextOptions& options) {
  const std::string title =
      heading("Asked (GPUs × time limit) against run, of what ended", options);
  const Table table = requested_table("team", team_rows(r));
  if (table.rows.empty())
    return title +
           paragraph("Nothing that ran under a time limit has ended in this time.", options);
  return title + block(table, options, {.rows_max = kRowsShown});
}

std::string ended_section(const Report& r, const TextOptions& options) {
  const std::string title = heading("Ended", options);
  if (r.ended.empty()) return title + paragraph("No workload ended in this time.", options);
  return title + block(ended_table(r), options);
}

std::string sources_section(const Report& r, const TextOptions& options) {
  std::string out =
      heading("Coverage and sources", options) + paragraph(coverage_sentence(r), options);
  if (!r.sources.empty()) out += "\n" + block(sources_table(r), options);
  if (!r.notes.empty()) out += heading("What this report does not know", options);
  for (const std::string& note : r.notes) out += paragraph(note, options);
  return out;
}

}  // namespace fairlead
