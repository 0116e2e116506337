// fairlead compare, simulate: what the planner would do, and what came of it.
#include <fmt/format.h>

#include "apps/arguments.h"
#include "apps/commands.h"
#include "codec/event_json.h"
#include "explain/simulate.h"
#include "io/file.h"
#include "present/comparison_text.h"
#include "present/work_text.h"
#include "sim/sbatch_script.h"
#include "views/window.h"

namespace fairlead {
namespace {

int show_comparison(Program& p, Asker& asker, const std::string& since) {
  const auto got = asker.ask<Comparison>(
      "/v1/suggestions" + (since.empty() ? "" : "?since=" + io::percent_encode(since)),
      [&](const Engine& e) -> Result<Comparison> {
        const auto from = since_of(since, e.state().now);
        if (!from) return std::unexpected(from.error());
        return comparison_of(e.state(), since.empty() ? Instant{} : *from);
      });
  if (!got) return complain(got.error());
  return print_view(*got, p.output, comparison_text, comparison_table,
                    [](Comparison& c) { return &c.now; });
}

struct SimulateArguments {
  std::string script, user, account;
  std::vector<std::string> options;
};

int show_simulation(Program& p, Asker& asker, const SimulateArguments& a) {
  constexpr size_t kScriptMax = size_t{16} << 20;
  auto text = io::read_file(a.script, kScriptMax);
  if (!text) return complain(text.error());
  auto job = read_sbatch_script(a.script, *text);
  if (!job) return complain(job.error());
  if (!a.user.empty()) job->user = a.user;
  if (!a.account.empty()) job->account = a.account;
  const auto got = asker.ask<Explanation>(
      "/v1/simulate",
      [&](const Engine& e) -> Result<Explanation> { return simulate(e.state(), *job); },
      to_json(Event{.seq = 0, .at = {}, .what = *job}));
  if (!got) return complain(got.error());
  return print_view(*got, p.output, explanation_text, explanation_table,
                    [](Explanation& x) { return &x.blockers; });
}

}  // namespace

void add_suggest_commands(Program& p) {
  CLI::App* compare =
      add_command(p, "compare", "what we suggested beside what happened without us",
                  "  fairlead compare --since 7d\n  fairlead compare --filter kind=start -o json");
  auto since = std::make_shared<std::string>();
  add_since_option(*compare, *since);
  add_watch_option(*compare, p);
  add_ask_options(*compare, p);
  add_output_options(*compare, p);
  compare->callback(
      [&p, since] { set_run(p, [&p, since](Asker& a) { return show_comparison(p, a, *since); }); });

  CLI::App* c = add_command(p, "simulate", "ask before submitting: what would become of a job now",
                            "  fairlead simulate train.sbatch\n  fairlead simulate train.sbatch "
                            "--account vision --user ana -o json");
  auto a = std::make_shared<SimulateArguments>();
  c->add_option("SCRIPT", a->script, "an sbatch script; its #SBATCH lines are read")->required();
  c->add_option("--user", a->user, "who submits it");
  c->add_option("--account", a->account, "instead of the script's");
  add_ask_options(*c, p);
  add_output_options(*c, p);
  c->callback([&p, a] { set_run(p, [&p, a](Asker& s) { return show_simulation(p, s, *a); }); });
}

}  // namespace fairlead
