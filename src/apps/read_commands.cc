// The commands that show something: observe, report, queue, explain, fabric, ledger, top.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "apps/commands.h"
#include "explain/explain.h"
#include "present/fabric_text.h"
#include "present/html.h"
#include "present/report_text.h"
#include "present/work_text.h"
#include "views/fabric_view.h"
#include "views/ledger_view.h"

namespace fairlead {
namespace {

struct ReadOptions {
  std::string since, by, workload, code, watch;
  std::string watch_for;
  bool tree = false, all_blockers = false;
};

Result<Instant> instant_of(const std::string& since, Instant now) {
  if (since.empty()) return Instant{};
  if (const auto at = parse_rfc3339(since)) return *at;
  if (const auto ago = parse_duration(since)) return now - *ago;
  return fail("usage", fmt::format("--since '{}' is neither a duration nor an instant", since),
              "7d, or 2026-01-31T00:00:00Z");
}

Result<Report> ask_report(Asker& asker, const std::string& since) {
  const std::string path =
      since.empty() ? "/v1/report" : "/v1/report?since=" + io::percent_encode(since);
  auto report = asker.ask<Report>(path, [&](const Engine& engine) -> Result<Report> {
    const auto from = instant_of(since, engine.state().now);
    if (!from) return std::unexpected(from.error());
    return report_of(engine.state(), {.from = *from});
  });
  if (report) {
    for (TeamRow& row : report->teams)
      row.name = row.team;  // the daemon's answer has it under its own key alone
  }
  return report;
}

int show_report(Program& p, Asker& asker, const ReadOptions& o) {
  if (!o.since.empty()) {
    if (const auto checked = instant_of(o.since, instant_of_seconds(2'000'000'000)); !checked)
      return complain(checked.error());
  }
  const auto by = report_by_of(o.by);
  const auto report = ask_report(asker, o.since);
  if (!report) return complain(report.error());
  if (p.output.format == "html") return print(report_html(*report));
  return print_view(
      *report, p.output,
      [&](const Report& r, const TextOptions& t) {
        return by ? report_by_text(r, *by, t) : report_text(r, t);
      },
      [&](const Report& r) { return report_table(r, by.value_or(ReportBy::team)); });
}

int show_queue(Program& p, Asker& asker, size_t most) {
  const auto queue =
      asker.ask<Queue>(fmt::format("/v1/queue?limit={}", most),
                       [&](const Engine& e) -> Result<Queue> { return queue_of(e.state(), most); });
  if (!queue) return complain(queue.error());
  return print_view(*queue, p.output, queue_text, queue_table);
}

int show_code(const ReadOptions& o) {
  std::string text;
  for (int i = 0; i <= static_cast<int>(BlockerCode::NOT_YET_EXAMINED); ++i) {
    const auto code = static_cast<BlockerCode>(i);
    if (o.code != "all" && o.code != enum_name(code)) continue;
    text += fmt::format("{}\n  {}\n  cure: {}\n", enum_name(code), code_text(code).meaning,
                        code_text(code).cure);
  }
  if (!text.empty()) return print(text);
  return complain({.code = "usage",
                   .message = fmt::format("no blocker has the code '{}'", o.code),
                   .place = {},
                   .hint = "--code all lists them"});
}

int show_explanation(Program& p, Asker& asker, const ReadOptions& o) {
  if (!o.code.empty()) return show_code(o);
  if (o.workload.empty())
    return complain({.code = "usage",
                     .message = "explain what?",
                     .place = {},
                     .hint = "fairlead explain 4242"});
  const auto got = asker.ask<Explanation>(
      "/v1/workloads/" + io::percent_encode(o.workload) + "/explain",
      [&](const Engine& e) -> Result<Explanation> {
        Explainer explainer(e.state());
        if (auto told = explainer.explain(o.workload)) return *std::move(told);
        return fail(
            "workload-unknown",
            fmt::format("no workload {}: the scheduler does not list it, or no longer", o.workload),
            "`fairlead queue` lists what waits");
      });
  if (!got) return complain(got.error());
  return print_view(*got, p.output, explanation_text, explanation_table);
}

int show_fabric(Program& p, Asker& asker, bool tree) {
  const auto fabric = asker.ask<Fabric>(
      "/v1/fabric", [](const Engine& e) -> Result<Fabric> { return fabric_of(e.state()); });
  if (!fabric) return complain(fabric.error());
  return print_view(
      *fabric, p.output,
      [&](const Fabric& f, const TextOptions& t) {
        return tree ? fabric_tree(f, t) : fabric_text(f, t);
      },
      fabric_table);
}

Table ledger_table(const LedgerView& view) {
  Table t{.columns = {{"hour"},
                      {"model"},
                      {"team"},
                      {"class"},
                      {"user"},
                      {"partition"},
                      {"column"},
                      {"gpu_milliseconds", Align::right}},
          .rows = {}};
  for (const LedgerViewRow& r : view.rows) {
    t.rows.push_back({to_rfc3339(r.hour), r.model, r.team, r.klass, r.user, r.partition,
                      enum_name(r.column), std::to_string(r.gpu_milliseconds)});
  }
  return t;
}

int show_ledger(Program& p, Asker& asker, const std::string& since) {
  const std::string path =
      since.empty() ? "/v1/ledger" : "/v1/ledger?since=" + io::percent_encode(since);
  const auto view = asker.ask<LedgerView>(path, [&](const Engine& e) -> Result<LedgerView> {
    const auto from = instant_of(since, e.state().now);
    if (!from) return std::unexpected(from.error());
    return ledger_of(e.state(), *from);
  });
  if (!view) return complain(view.error());
  return print_view(
      *view, p.output,
      [&](const LedgerView& v, const TextOptions&) {
        return to_text(ledger_table(v), {.headers = p.output.headers});
      },
      ledger_table);
}

Table check_table(const LedgerCheck& c) {
  Table t{.columns = {{"column"}, {"gpu_seconds", Align::right}}, .rows = {}};
  for_each_member(c.gpu_seconds, [&](const char* name, int64_t value) {
    t.rows.push_back({name, with_thousands(value)});
  });
  t.rows.push_back({"hardware", with_thousands(c.hardware_gpu_seconds)});
  return t;
}

int verify_ledger(Program& p, Asker& asker) {
  const auto check = asker.ask<LedgerCheck>(
      "/v1/ledger/verify", [](const Engine& e) -> Result<LedgerCheck> { return check_ledger(e); });
  if (!check) return complain(check.error());
  const auto text = [](const LedgerCheck& c, const TextOptions&) {
    return fmt::format(
        "{}from {} to {}, {} hours, {} accounts: {}\n", to_text(check_table(c)), local_time(c.from),
        local_time(c.to), c.hours, c.accounts,
        c.adds_up ? "adds up to the hardware, to the GPU-second" : "DOES NOT ADD UP: " + c.problem);
  };
  const int printed = print_view(*check, p.output, text, check_table);
  return check->adds_up ? printed : kExitFound;
}

// Repeats `show` on a cleared screen until it is interrupted.
int repeat(const std::function<int()>& show, Asker& asker, Duration period) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  while (true) {
    if (terminal) print("\x1b[H\x1b[2J");
    if (const int code = show(); code != kExitGood) return code;
    ::usleep(static_cast<useconds_t>(period.us));
    asker.forget_look();
  }
}

// Runs `show`, once or with --watch.
void set_run(Program& p, const std::shared_ptr<ReadOptions>& o, std::function<int(Asker&)> show,
             std::string period = "") {
  p.run = [&p, o, show = std::move(show), period] {
    Asker asker(p.ask);
    const std::string every = o->watch.empty() ? period : o->watch;
    if (every.empty()) return show(asker);
    const auto duration = parse_duration(every);
    if (!duration || duration->us <= 0)
      return complain({.code = "usage",
                       .message = fmt::format("'{}' is no duration", every),
                       .place = {},
                       .hint = "2s"});
    return repeat([&] { return show(asker); }, asker, *duration);
  };
}

CLI::App* add(Program& p, const std::string& name, const std::string& about,
              const std::string& examples) {
  CLI::App* c = p.app.add_subcommand(name, about);
  c->footer("examples:\n" + examples);
  return c;
}

}  // namespace

void add_output_options(CLI::App& c, Program& p) {
  c.add_option("-o,--output", p.output.format, "table, wide, json, yaml, csv or name")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml", "csv", "name", "html"}));
  c.add_flag("!--no-headers", p.output.headers, "no column titles");
}

void add_look_options(CLI::App& c, Program& p) {
  c.add_option("--name", p.ask.look.name, "how to call the site");
  c.add_option("--conf", p.ask.look.slurm.conf, "slurm.conf to use");
  c.add_option("--via", p.ask.look.slurm.via, "auto, bridge, rest or commands")
      ->check(CLI::IsMember({"auto", "bridge", "rest", "commands"}));
  c.add_option("--rest", p.ask.look.slurm.rest,
               "address of slurmrestd: unix:/path or http://host:port");
  c.add_option("--token-file", p.ask.look.slurm.rest_token_file,
               "file with a token for slurmrestd");
  c.add_option("--rest-user", p.ask.look.slurm.rest_user, "user the token is for");
  c.add_option("--prometheus", p.ask.look.telemetry.prometheus,
               "Prometheus that has the GPUs' telemetry");
  c.add_option("--exporter", p.ask.look.telemetry.exporters,
               "exporter page instead; {node} stands for each node");
  c.add_option_function<std::string>(
      "--idle-after",
      [&p](const std::string& text) {
        const auto d = parse_duration(text);
        if (!d || d->us <= 0)
          throw CLI::ValidationError("--idle-after", "'" + text + "' is no duration such as 15m");
        p.ask.look.evidence.idle_hold_after = *d;
      },
      "an idle stretch so long is an idle hold (15m)");
}

void add_ask_options(CLI::App& c, Program& p) {
  c.add_option("--server", p.ask.server,
               "the daemon: unix:/path or http://host:port (FAIRLEAD_SERVER)");
  c.add_option("--site", p.ask.site, "which of its sites");
  c.add_flag("--local", p.ask.local, "look ourselves, also where a daemon runs");
  add_look_options(c, p);
  add_output_options(c, p);
}

void add_read_commands(Program& p) {
  auto o = std::make_shared<ReadOptions>();
  const auto watch = [o](CLI::App* c) {
    c->add_option("--watch", o->watch, "repeat every so often, until interrupted")
        ->expected(0, 1)
        ->default_str("2s");
  };

  CLI::App* observe =
      add(p, "observe",
          "look at a site once, or for a while, and print the report; no daemon, no database",
          "  fairlead observe\n  fairlead observe --for 10m --prometheus http://127.0.0.1:9090");
  observe->add_option("--for", o->watch_for, "go on looking for so long");
  add_look_options(*observe, p);
  add_output_options(*observe, p);
  observe->callback([&p, o] {
    p.ask.local = true;
    p.ask.progress = ::isatty(STDERR_FILENO) != 0;
    if (!o->watch_for.empty()) {
      const auto d = parse_duration(o->watch_for);
      if (!d)
        throw CLI::ValidationError("--for", "'" + o->watch_for + "' is no duration such as 10m");
      p.ask.watch_for = *d;
      p.ask.look.telemetry.interval = seconds(5);
    }
    set_run(p, o, [&p, o](Asker& a) { return show_report(p, a, *o); });
  });

  CLI::App* report =
      add(p, "report",
          "requested against useful, idle hold by kind, fragmentation, wait pressure, waste",
          "  fairlead report --since 7d --by user\n  fairlead report -o html > report.html");
  report->add_option("--since", o->since,
                     "from then on (7d, 2026-01-31T00:00:00Z); to the full hour");
  report->add_option("--by", o->by, "team, class, user, partition or model")
      ->check(CLI::IsMember({"team", "class", "user", "partition", "model"}));
  watch(report);
  add_ask_options(*report, p);
  report->callback([&p, o] { set_run(p, o, [&p, o](Asker& a) { return show_report(p, a, *o); }); });

  CLI::App* top = add(p, "top", "the report, live", "  fairlead top\n  fairlead top --watch 5s");
  watch(top);
  add_ask_options(*top, p);
  top->callback(
      [&p, o] { set_run(p, o, [&p, o](Asker& a) { return show_report(p, a, *o); }, "2s"); });

  CLI::App* queue = add(p, "queue", "waiting work in order, with the first blocker of each, or all",
                        "  fairlead queue\n  fairlead queue --all-blockers -o csv");
  auto most = std::make_shared<size_t>(200);
  queue->add_option("-n", *most, "so many at most (200)")->check(CLI::Range(1, 10000));
  queue->add_flag("--all-blockers", o->all_blockers, "every blocker of each");
  watch(queue);
  add_ask_options(*queue, p);
  queue->callback([&p, o, most] {
    if (o->all_blockers && p.output.format == "table") p.output.format = "wide";
    set_run(p, o, [&p, most](Asker& a) { return show_queue(p, a, *most); });
  });

  CLI::App* explain =
      add(p, "explain", "why a workload waits, or what became of it: everything that is known",
          "  fairlead explain 4242\n  fairlead explain --code TOPOLOGY_FRAGMENTED");
  explain->add_option("workload", o->workload, "as the scheduler names it: 4242, 4240_7, 77+1");
  explain->add_option("--code", o->code, "what a blocker's code means; all: every code");
  add_ask_options(*explain, p);
  explain->callback(
      [&p, o] { set_run(p, o, [&p, o](Asker& a) { return show_explanation(p, a, *o); }); });

  CLI::App* fabric =
      add(p, "fabric", "the nodes and switches, their GPUs by column, and the age of each fact",
          "  fairlead fabric\n  fairlead fabric tree");
  add_ask_options(*fabric, p);
  fabric->add_option("form", "show or tree")
      ->check(CLI::IsMember({"show", "tree"}))
      ->each([o](const std::string& word) { o->tree = word == "tree"; });
  fabric->callback(
      [&p, o] { set_run(p, o, [&p, o](Asker& a) { return show_fabric(p, a, o->tree); }); });

  CLI::App* ledger = add(p, "ledger", "every GPU-second in one column",
                         "  fairlead ledger verify\n  fairlead ledger show --since 1d -o csv");
  auto verify = std::make_shared<bool>(false);
  ledger->add_option("form", "show or verify")
      ->check(CLI::IsMember({"show", "verify"}))
      ->each([verify](const std::string& word) { *verify = word == "verify"; });
  ledger->add_option("--since", o->since, "from then on");
  add_ask_options(*ledger, p);
  ledger->callback([&p, o, verify] {
    set_run(p, o, [&p, o, verify](Asker& a) {
      return *verify ? verify_ledger(p, a) : show_ledger(p, a, o->since);
    });
  });
}

}  // namespace fairlead
