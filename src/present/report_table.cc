#include <fmt/format.h>

#include "present/report_sections.h"
#include "present/report_text.h"

namespace fairlead {
namespace {

std::vector<ReportRow> rows_by(const Report& r, ReportBy by) {
  switch (by) {
    case ReportBy::team:
      return team_rows(r);
    case ReportBy::klass:
      return r.classes;
    case ReportBy::user:
      return r.users;
    case ReportBy::partition:
      return r.partitions;
    case ReportBy::model:
      break;
  }
  std::vector<ReportRow> rows;
  for (const ModelRow& m : r.models)
    rows.push_back({.name = m.model, .gpu_seconds = m.gpu_seconds, .wait_us = {}});
  return rows;
}

std::string_view word_of(ReportBy by) {
  constexpr std::string_view kWords[] = {"team", "class", "user", "partition", "model"};
  return kWords[static_cast<size_t>(by)];
}

}  // namespace

std::optional<ReportBy> report_by_of(std::string_view word) {
  for (const ReportBy by :
       {ReportBy::team, ReportBy::klass, ReportBy::user, ReportBy::partition, ReportBy::model}) {
    if (word_of(by) == word) return by;
  }
  return std::nullopt;
}

Table report_table(const Report& r, ReportBy by) {
  Table table{.columns = {{std::string(word_of(by))}}, .rows = {}};
  const auto number = [&](std::string title) {
    table.columns.push_back({std::move(title), Align::right});
  };
  for (const ColumnLook& look : column_looks()) number(std::string(look.key) + "_gpu_seconds");
  number("total_gpu_seconds");
  if (by != ReportBy::model) {
    for (const char* title : {"workloads", "started", "never_started", "wait_us_p50", "wait_us_p90",
                              "wait_us_p99", "requested_gpu_seconds", "used_gpu_seconds"}) {
      number(title);
    }
  }
  for (const ReportRow& row : rows_by(r, by)) {
    auto& cells = table.rows.emplace_back();
    const auto add = [&](int64_t n) { cells.push_back(std::to_string(n)); };
    cells.push_back(row.name);
    for (const ColumnLook& look : column_looks()) add(amount(row.gpu_seconds, look.column));
    add(row.gpu_seconds.total);
    if (by == ReportBy::model) continue;
    for (const int64_t n :
         {row.workloads, row.started, row.never_started, row.wait_us.p50, row.wait_us.p90,
          row.wait_us.p99, row.requested_gpu_seconds, row.used_gpu_seconds}) {
      add(n);
    }
  }
  return table;
}

std::string report_by_text(const Report& r, ReportBy by, const TextOptions& options) {
  Table table{.columns = {{std::string(word_of(by))},
                          {"GPU-hours", Align::right},
                          {"useful", Align::right},
                          {"idle", Align::right},
                          {"unmeasured", Align::right},
                          {"lost", Align::right}},
              .rows = {}};
  const bool model = by == ReportBy::model;
  for (const char* title : {"reserved", "free", "stranded", "down"}) {
    if (model) table.columns.push_back({title, Align::right});
  }
  for (const char* title : {"workloads", "started", "P50 wait", "P90 wait"}) {
    if (!model) table.columns.push_back({title, Align::right});
  }
  for (const ReportRow& row : rows_by(r, by)) {
    auto& cells = table.rows.emplace_back();
    const ColumnSeconds& s = row.gpu_seconds;
    cells = {model ? model_name(row.name) : name_or_none(row.name), gpu_hours(s.total)};
    for (const ColumnLook& look : column_looks()) {
      if (!model && look.column > Column::lost) continue;
      cells.push_back(knowable(r, look.column) ? share(amount(s, look.column), s.total) : "-");
    }
    if (model) continue;
    cells.insert(cells.end(), {with_thousands(row.workloads), with_thousands(row.started),
                               row.started == 0 ? "-" : wait_text(row.wait_us.p50),
                               row.started == 0 ? "-" : wait_text(row.wait_us.p90)});
  }
  if (table.rows.empty())
    return paragraph(fmt::format("Nothing is booked by {} in this time.", word_of(by)), options, 0);
  const std::string names = by == ReportBy::team || by == ReportBy::klass ? names_sentence(r) : "";
  return block(table, options, {.indent = 0}) + (names.empty() ? "" : "\n" + names + "\n");
}

}  // namespace fairlead
