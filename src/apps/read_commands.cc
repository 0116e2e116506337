// Commands that show one view each: queue, explain, ledger.
#include <fmt/format.h>

#include <algorithm>

#include "apps/arguments.h"
#include "apps/commands.h"
#include "base/words.h"
#include "explain/explain.h"
#include "present/work_text.h"
#include "views/ledger_view.h"
#include "views/window.h"

namespace fairlead {
namespace {

// A daemon is asked for no more rows than are shown, unless some of them are to be chosen.
int show_queue(Program& p, Asker& asker) {
  constexpr size_t kShown = 200, kChosenFrom = 10'000;
  const RowQuery& query = p.output.query;
  const bool plain = query.filters.empty() && query.sort.empty();
  const size_t most = plain ? std::min(query.limit.value_or(kShown), kChosenFrom) : kChosenFrom;
  const auto queue =
      asker.ask<Queue>(fmt::format("/v1/queue?limit={}", most),
                       [&](const Engine& e) -> Result<Queue> { return queue_of(e.state(), most); });
  if (!queue) return complain(queue.error());
  return print_view(*queue, p.output, queue_text, queue_table, [](Queue& q) { return &q.waiting; });
}

int show_code(const std::string& wanted) {
  std::string text;
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(BlockerCode::NOT_YET_EXAMINED); ++i) {
    const auto code = static_cast<BlockerCode>(i);
    names.emplace_back(enum_name(code));
    if (wanted != "all" && wanted != enum_name(code)) continue;
    text += fmt::format("{}\n  {}\n  cure: {}\n", enum_name(code), code_text(code).meaning,
                        code_text(code).cure);
  }
  if (!text.empty()) return print(text);
  const std::string nearest = nearest_word(wanted, names);
  return complain_usage(
      fmt::format("no blocker has the code '{}'", wanted),
      nearest.empty() ? "--code all lists them" : fmt::format("did you mean '{}'?", nearest));
}

int show_explanation(Program& p, Asker& asker, const std::string& workload) {
  const auto got = asker.ask<Explanation>(
      "/v1/workloads/" + io::percent_encode(workload) + "/explain",
      [&](const Engine& e) -> Result<Explanation> {
        Explainer explainer(e);
        if (auto told = explainer.explain(workload)) return *std::move(told);
        return fail(
            "workload-unknown",
            fmt::format("no workload {}: the scheduler does not list it, or no longer", workload),
            "`fairlead queue` lists what waits");
      });
  if (!got) return complain(got.error());
  return print_view(*got, p.output, explanation_text, explanation_table,
                    [](Explanation& x) { return &x.blockers; });
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
    const auto from = since_of(since, e.state().now);
    if (!from) return std::unexpected(from.error());
    return ledger_of(e.state(), *from);
  });
  if (!view) return complain(view.error());
  return print_view(
      *view, p.output,
      [](const LedgerView& v, const TextOptions& t) {
        return to_text(ledger_table(v), {.headers = t.headers});
      },
      ledger_table, [](LedgerView& v) { return &v.rows; });
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
  const auto text = [](const LedgerCheck& c, const TextOptions& t) {
    return fmt::format(
        "{}from {} to {}, {}, {}: {}\n", to_text(check_table(c), {.headers = t.headers}),
        local_time(c.from), local_time(c.to), plural(c.hours, "hour"),
        plural(c.accounts, "account"),
        c.adds_up ? "adds up to the hardware, to the GPU-second" : "DOES NOT ADD UP: " + c.problem);
  };
  const int printed = print_view(*check, p.output, text, check_table, kNoRows);
  if (printed != kExitGood) return printed;
  return check->adds_up ? kExitGood : kExitFound;
}

}  // namespace

void add_read_commands(Program& p) {
  CLI::App* queue =
      add_command(p, "queue", "waiting work in order, with the first blocker of each, or all",
                  "  fairlead queue\n  fairlead queue --all-blockers --filter team=research");
  auto all_blockers = std::make_shared<bool>(false);
  queue->add_flag("--all-blockers", *all_blockers, "every blocker of each");
  add_watch_option(*queue, p);
  add_ask_options(*queue, p);
  add_output_options(*queue, p);
  queue->callback([&p, all_blockers] {
    if (*all_blockers && p.output.format == "table") p.output.format = "wide";
    set_run(p, [&p](Asker& a) { return show_queue(p, a); });
  });

  CLI::App* explain = add_command(
      p, "explain", "why a workload waits, or what became of it: everything that is known",
      "  fairlead explain 4242\n  fairlead explain --code TOPOLOGY_FRAGMENTED");
  auto workload = std::make_shared<std::string>();
  auto code = std::make_shared<std::string>();
  explain->add_option("workload", *workload, "as the scheduler names it: 4242, 4240_7, 77+1");
  explain->add_option("--code", *code, "what a blocker's code means; all: every code");
  add_ask_options(*explain, p);
  add_output_options(*explain, p);
  explain->callback([&p, workload, code] {
    set_run(p, [&p, workload, code](Asker& a) {
      if (!code->empty()) return show_code(*code);
      if (workload->empty()) return complain_usage("explain what?", "fairlead explain 4242");
      return show_explanation(p, a, *workload);
    });
  });

  CLI::App* ledger =
      add_command(p, "ledger", "every GPU-second in one column",
                  "  fairlead ledger verify\n  fairlead ledger show --since 1d -o csv");
  auto form = std::make_shared<std::string>("show");
  auto since = std::make_shared<std::string>();
  ledger->add_option("form", *form, "show or verify")->check(one_of({"show", "verify"}));
  add_since_option(*ledger, *since);
  add_ask_options(*ledger, p);
  add_output_options(*ledger, p);
  ledger->callback([&p, form, since] {
    set_run(p, [&p, form, since](Asker& a) {
      return *form == "verify" ? verify_ledger(p, a) : show_ledger(p, a, *since);
    });
  });
}

}  // namespace fairlead
