// The sections of the report below its first screen. Each says in words when it is empty, and why.
#pragma once

#include <string>

#include "present/layout.h"
#include "views/report.h"

namespace fairlead {

std::string idle_section(const Report& report, const TextOptions& options);
std::string waits_section(const Report& report, const TextOptions& options);
std::string waiting_section(const Report& report, const TextOptions& options);
std::string fragmentation_section(const Report& report, const TextOptions& options);
std::string requested_section(const Report& report, const TextOptions& options);
std::string ended_section(const Report& report, const TextOptions& options);
std::string sources_section(const Report& report, const TextOptions& options);

// One row for each idle kind that is there, the most GPU-seconds first.
struct IdleSum {
  IdleKind kind = IdleKind::none;
  int64_t holds = 0, gpus = 0, gpu_seconds = 0;
};
std::vector<IdleSum> idle_sums(const Report& report);

Table idle_sums_table(const Report& report);
Table idle_holds_table(const Report& report);
Table waits_table(std::string_view title, const std::vector<ReportRow>& rows);
Table waiting_table(const std::vector<WaitingRow>& rows);
Table shapes_table(const Report& report);
Table requested_table(std::string_view title, const std::vector<ReportRow>& rows);
Table ended_table(const Report& report);
Table sources_table(const Report& report);

std::vector<ReportRow> team_rows(const Report& report);
std::string names_sentence(const Report& report);  // what team and class are; empty: not known
std::string fragmentation_sentence(const Report& report);
std::string coverage_sentence(const Report& report);
std::string model_name(const std::string& model);   // "gpu" where nobody says which
std::string name_or_none(const std::string& name);  // "(none)" for an empty one
std::string why_no_idle(const Report& report);      // Requires: no idle hold is listed.

bool has_telemetry(const Report& report);

// Without a fleet nothing is known to be free or down, and without telemetry nothing to be useful
// or idle.
bool knowable(const Report& report, Column column);

}  // namespace fairlead
