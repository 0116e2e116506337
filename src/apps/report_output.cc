#include "apps/report_output.h"

#include <optional>

#include "present/html.h"
#include "present/report_text.h"

namespace fairlead {

Result<void> select_everywhere(Report& r, const RowQuery& query) {
  if (query.empty()) return {};
  bool any = false;
  std::optional<Diagnostic> problem;
  const auto choose = [&](auto& rows, std::string_view own_name) -> size_t {
    const auto left_out = select(rows, query, own_name);
    any = any || left_out;
    if (!left_out && !problem) problem = left_out.error();
    return left_out.value_or(0);
  };
  r.waiting_more += static_cast<int64_t>(choose(r.waiting, {}));
  choose(r.teams, {});
  choose(r.classes, "class");
  choose(r.users, "user");
  choose(r.partitions, "partition");
  choose(r.idle_holds, {});
  choose(r.fragmentation.waiting_shapes, {});
  choose(r.ended, {});
  if (!any) return std::unexpected(*problem);
  return {};
}

int print_report(Report report, const std::string& by, const OutputOptions& options) {
  const auto chosen = report_by_of(by);
  const auto table = [&](const Report& r) {
    return report_table(r, chosen.value_or(ReportBy::team));
  };
  if (!chosen) {
    const auto selected = select_everywhere(report, options.query);
    if (!selected) return complain(selected.error());
    if (options.format == "html") return print(report_html(report));
    OutputOptions whole = options;
    whole.query = {};
    return print_view(std::move(report), whole, report_text, table, kNoRows);
  }
  if (options.format == "html")
    return complain_usage("--by has no form in HTML", "leave out --by: the page has all of them");
  const auto text = [&](const Report& r, const TextOptions& t) {
    return report_by_text(r, *chosen, t);
  };
  const auto print_rows = [&](auto rows) {
    return print_view(std::move(report), options, text, table, rows, by);
  };
  switch (*chosen) {
    case ReportBy::team:
      return print_rows([](Report& r) { return &r.teams; });
    case ReportBy::klass:
      return print_rows([](Report& r) { return &r.classes; });
    case ReportBy::user:
      return print_rows([](Report& r) { return &r.users; });
    case ReportBy::partition:
      return print_rows([](Report& r) { return &r.partitions; });
    case ReportBy::model:
      break;
  }
  return print_rows([](Report& r) { return &r.models; });
}

}  // namespace fairlead
