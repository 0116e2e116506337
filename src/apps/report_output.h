// A report in every form, for the commands that have one: observe, report, replay.
#pragma once

#include "apps/answer.h"
#include "apps/output.h"
#include "views/report.h"

namespace fairlead {

inline constexpr const char* kReportBy = "team, class, user, node, partition or model";
inline const std::vector<std::string> kReportByWords = {"team", "class",     "user",
                                                        "node", "partition", "model"};

Result<Report> ask_report(Asker& asker, const std::string& since);

// Chooses from each list of the report that has the fields. Fails where none has them.
Result<void> select_everywhere(Report& report, const RowQuery& query);

// Prints the whole report, or its rows `by` one word; of the whole, a query chooses from each list
// that has the fields it names. Requires: `by` is empty or a word of report_by_of().
int print_report(Report report, const std::string& by, const OutputOptions& options);

}  // namespace fairlead
