// fairlead compare, place, simulate: what the planner would do, and what came of it.
#include <fmt/format.h>

#include <filesystem>

#include "apps/arguments.h"
#include "apps/commands.h"
#include "codec/event_json.h"
#include "explain/simulate.h"
#include "io/file.h"
#include "present/comparison_text.h"
#include "present/placement_text.h"
#include "present/work_text.h"
#include "sim/sbatch_script.h"
#include "views/window.h"

namespace fairlead {
namespace {

// One page of a daemon's answer; all of it where the engine is ours.
Result<Comparison> ask_comparison(Asker& asker, const std::string& since, int64_t cursor) {
  return asker.ask<Comparison>(fmt::format("/v1/suggestions?limit=10000&cursor={}", cursor) +
                                   (since.empty() ? "" : "&since=" + io::percent_encode(since)),
                               [&](const Engine& e) -> Result<Comparison> {
                                 const auto from = since_of(since, e.state().now);
                                 if (!from) return std::unexpected(from.error());
                                 return comparison_of(
                                     e.state(),
                                     {.from = since.empty() ? Instant{} : *from, .most = SIZE_MAX});
                               });
}

int show_comparison(Program& p, Asker& asker, const std::string& since) {
  auto got = ask_comparison(asker, since, 0);
  while (got && got->next_cursor != 0) {
    auto next = ask_comparison(asker, since, got->next_cursor);
    if (!next) return complain(next.error());
    std::ranges::move(next->now, std::back_inserter(got->now));
    got->next_cursor = next->next_cursor;
  }
  if (!got) return complain(got.error());
  return print_view(*got, p.output, comparison_text, comparison_table,
                    [](Comparison& c) { return &c.now; });
}

struct SimulateArguments {
  std::string script, user, account;
  std::vector<std::string> options;
};

Result<Job> job_of(const SimulateArguments& a) {
  constexpr size_t kScriptMax = size_t{16} << 20;
  auto text = io::read_file(a.script, kScriptMax);
  if (!text) return std::unexpected(text.error());
  auto job = read_sbatch_script(a.script, *text);
  if (!job) return job;
  if (!a.user.empty()) job->user = a.user;
  if (!a.account.empty()) job->account = a.account;
  return job;
}

int show_simulation(Program& p, Asker& asker, const SimulateArguments& a) {
  const auto job = job_of(a);
  if (!job) return complain(job.error());
  const auto got = asker.ask<Explanation>(
      "/v1/simulate", [&](const Engine& e) -> Result<Explanation> { return simulate(e, *job); },
      to_json(Event{.seq = 0, .at = {}, .what = *job}));
  if (!got) return complain(got.error());
  return print_view(*got, p.output, explanation_text, explanation_table,
                    [](Explanation& x) { return &x.blockers; });
}

// A workload that waits, unless a file has this name.
int show_placement(Program& p, Asker& asker, const SimulateArguments& a) {
  const bool is_script = a.script.contains('/') || std::filesystem::is_regular_file(a.script);
  Result<PlacementTold> got;
  if (is_script) {
    const auto job = job_of(a);
    if (!job) return complain(job.error());
    got = asker.ask<PlacementTold>(
        "/v1/place",
        [&](const Engine& e) -> Result<PlacementTold> { return placement_of(e, *job); },
        to_json(Event{.seq = 0, .at = {}, .what = *job}));
  } else {
    if (!a.user.empty() || !a.account.empty())
      return complain_usage("--user and --account are of a script, and this is a workload",
                            "leave them out");
    got = asker.ask<PlacementTold>(
        "/v1/place?workload=" + io::percent_encode(a.script),
        [&](const Engine& e) -> Result<PlacementTold> {
          if (auto told = placement_of(e, a.script)) return *std::move(told);
          return fail("workload-unknown",
                      fmt::format("no workload {} waits, and no file has this name", a.script),
                      "`fairlead queue` lists what waits");
        },
        "{}");
  }
  if (!got) return complain(got.error());
  return print_view(*got, p.output, placement_text, placement_table,
                    [](PlacementTold& placed) { return &placed.options; });
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

  CLI::App* place = add_command(
      p, "place", "where a job would stand if it started now, why there, and where else",
      "  fairlead place 4242\n  fairlead place train.sbatch --account vision -o json");
  auto where = std::make_shared<SimulateArguments>();
  place->add_option("JOB|SCRIPT", where->script, "a workload that waits, or an sbatch script")
      ->required();
  place->add_option("--user", where->user, "who submits the script");
  place->add_option("--account", where->account, "instead of the script's");
  add_ask_options(*place, p);
  add_output_options(*place, p);
  place->callback(
      [&p, where] { set_run(p, [&p, where](Asker& s) { return show_placement(p, s, *where); }); });

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
