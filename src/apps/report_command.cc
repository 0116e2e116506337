// fairlead report, and observe: the same report of a look of our own.
#include <fmt/format.h>
#include <unistd.h>

#include "apps/arguments.h"
#include "apps/commands.h"
#include "apps/report_output.h"
#include "present/node_text.h"
#include "views/node_report.h"
#include "views/window.h"

namespace fairlead {
namespace {

int show_nodes(Program& p, Asker& asker, const std::string& since) {
  if (!since.empty())
    return complain_usage("--by node shows what is now: the ledger keeps no nodes",
                          "leave out --since");
  if (p.output.format == "html")
    return complain_usage("--by node has no form in HTML", "-o table, wide, json, yaml or csv");
  const auto fabric = asker.ask<Fabric>(
      "/v1/fabric", [](const Engine& e) -> Result<Fabric> { return fabric_of(e.state()); });
  if (!fabric) return complain(fabric.error());
  return print_view(by_node(*fabric), p.output, node_report_text, node_report_table,
                    [](NodeReport& r) { return &r.nodes; });
}

int show_report(Program& p, Asker& asker, const std::string& since, const std::string& by) {
  if (by == "node") return show_nodes(p, asker, since);
  auto report = ask_report(asker, since);
  if (!report) return complain(report.error());
  if (const Duration at = asker.cut_short_at(); at.us > 0) {
    report->notes.insert(report->notes.begin(),
                         fmt::format("interrupted after {} of {}: it shows what was seen so far",
                                     to_short_text(at), to_short_text(p.ask.watch_for)));
  }
  return print_report(std::move(*report), by, p.output);
}

}  // namespace

Result<Report> ask_report(Asker& asker, const std::string& since) {
  const std::string path =
      since.empty() ? "/v1/report" : "/v1/report?since=" + io::percent_encode(since);
  auto report = asker.ask<Report>(path, [&](const Engine& engine) -> Result<Report> {
    const auto from = since_of(since, engine.state().now);
    if (!from) return std::unexpected(from.error());
    return report_of(engine.state(), {.from = *from});
  });
  if (report) {
    for (TeamRow& row : report->teams)
      row.name = row.team;  // the daemon's answer has it under its own key alone
  }
  return report;
}

void add_report_commands(Program& p) {
  auto since = std::make_shared<std::string>();
  auto by = std::make_shared<std::string>();
  auto watch_for = std::make_shared<std::string>();

  CLI::App* observe = add_command(
      p, "observe",
      "look at a site once, or for a while, and print the report; no daemon, no database",
      "  fairlead observe\n  fairlead observe --for 10m --prometheus http://127.0.0.1:9090");
  observe
      ->add_option("--for", *watch_for,
                   "go on looking for so long; Ctrl-C shows what was seen until then")
      ->check(a_duration());
  observe->add_option("--by", *by, kReportBy)->check(one_of(kReportByWords));
  add_look_options(*observe, p);
  add_output_options(*observe, p, true);
  observe->callback([&p, by, watch_for] {
    p.ask.local = true;
    p.ask.progress = ::isatty(STDERR_FILENO) != 0;
    if (!watch_for->empty()) p.ask.watch_for = *parse_duration(*watch_for);
    set_run(p, [&p, by](Asker& a) { return show_report(p, a, "", *by); });
  });

  CLI::App* report = add_command(
      p, "report",
      "requested against useful, idle hold by kind, fragmentation, wait pressure, waste",
      "  fairlead report --since 7d --by user\n  fairlead report -o html > report.html");
  add_since_option(*report, *since);
  report->add_option("--by", *by, kReportBy)->check(one_of(kReportByWords));
  add_watch_option(*report, p);
  add_ask_options(*report, p);
  add_output_options(*report, p, true);
  report->callback([&p, since, by] {
    set_run(p, [&p, since, by](Asker& a) { return show_report(p, a, *since, *by); });
  });
}

}  // namespace fairlead
