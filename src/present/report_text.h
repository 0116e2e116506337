// The report in a terminal: what it says first fits one screen, tables follow.
#pragma once

#include <optional>
#include <string>

#include "present/layout.h"
#include "views/report.h"

namespace fairlead {

std::string report_text(const Report& report, const TextOptions& options = {});

enum class ReportBy { team, klass, user, partition, model };
std::optional<ReportBy> report_by_of(
    std::string_view word);  // "team", "class", "user", "partition", "model"

// Whole numbers with the unit in each title, for programs.
Table report_table(const Report& report, ReportBy by = ReportBy::team);

// The same rows in hours and shares, for people.
std::string report_by_text(const Report& report, ReportBy by, const TextOptions& options = {});

}  // namespace fairlead
