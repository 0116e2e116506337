// Measures rules side by side on a made-up year, in seconds of processor time.
//
//   contest_bench [JOBS] [DEVICES] [NODES] [RULE...]
//
// The year is made for DEVICES; it is played on NODES of eight, DEVICES / 8 where none are given:
// fewer nodes are more load.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "contest/contest.h"
#include "contest/rivals.h"
#include "cpu_clock.h"
#include "sim/synthetic.h"

namespace fairlead {
namespace {

int64_t peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// Of 24 teams the first 12 own a tenth more of the fleet than the others; QOS of the text are
// classes.
policy::Organisation organisation(int64_t devices) {
  policy::Organisation org{.name = "bench", .version = "v1"};
  org.devices = {{.name = "H100", .models = {"H100"}}};
  org.for_waiting = policy::ReclaimForWaiting{.wait = seconds(300),
                                              .most = policy::Cap{.most = 5, .per = seconds(600)}};
  const auto add_class = [&](const char* name, int64_t rank) {
    org.classes.push_back({.name = name, .rank = rank, .min_run = seconds(600)});
  };
  add_class("high", 50);
  add_class("low", 10);
  add_class("normal", 30);
  org.classes[0].preempts = {1};
  const auto add_team = [&](std::string name, int64_t own) {
    org.teams.push_back({.name = name,
                         .path = name,
                         .limits = {policy::Limits{.own = policy::devices(own)}},
                         .half_life = seconds(7 * 86400),
                         .classes = {0, 1, 2},
                         .default_class = policy::ClassId{2}});
    org.teams.back().end = static_cast<policy::TeamId>(org.teams.size());
  };
  add_team("site", devices);
  for (int t = 0; t < 24; ++t) {
    add_team(fmt::format("team{:02}", t), devices * (t < 12 ? 11 : 9) / 240);
    org.members.push_back({.source = policy::MemberSource::slurm_account,
                           .claim = "",
                           .pattern = org.teams.back().name,
                           .team = static_cast<policy::TeamId>(t + 1)});
  }
  org.teams[policy::kRoot].end = static_cast<policy::TeamId>(org.teams.size());
  return org;
}

void play(const contest::Match& match, const std::string& rule) {
  double start = cpu_seconds();
  const auto* kind = contest::rival_kind(rule);
  if (kind == nullptr) {
    fmt::print("there is no rule {}\n", rule);
    std::exit(2);
  }
  const auto rival = kind->make(match);
  contest::Arena arena(match);
  const contest::Outcome outcome = arena.play(*rival);
  const double s = cpu_seconds() - start;
  start = cpu_seconds();
  const contest::Score score = contest::score_of(match, outcome, {});
  fmt::print(
      "{:<18} {:>7.2f} s  {:>5.1f} us a job  looks {:>9}  used {:>5.1f} %  wait mean {:>8} P99 "
      "{:>8}  evictions {:>6}  lost {:>7} GPU-hours  share error {:.2f} %  digest {}\n",
      rule, s, s * 1e6 / static_cast<double>(match.jobs.size()), outcome.looks,
      static_cast<double>(score.utilisation_ppm) / 1e4, to_short_text({score.all.wait_us.mean}),
      to_short_text({score.all.wait_us.p99}), score.all.evictions,
      score.all.lost_gpu_seconds / 3600,
      static_cast<double>(score.share_error_ppm.value_or(0)) / 1e4, score.digest);
  for (const contest::Group& klass : score.classes)
    fmt::print("  {:<16} wait mean {:>8} P99 {:>8}  evictions {:>6}\n", klass.name,
               to_short_text({klass.wait_us.mean}), to_short_text({klass.wait_us.p99}),
               klass.evictions);
  std::fflush(stdout);  // the next may take long
}

int run(int argc, char** argv) {
  const int64_t jobs = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const int64_t devices = argc > 2 ? std::atoll(argv[2]) : 6000;
  const int64_t nodes = argc > 3 && std::atoll(argv[3]) > 0 ? std::atoll(argv[3]) : devices / 8;
  double start = cpu_seconds();
  std::vector<HistoryInput> inputs;
  inputs.push_back({"synthetic", synthetic_sacct({.jobs = jobs, .devices = devices})});
  fmt::print("generated          {:>7.2f} s\n", cpu_seconds() - start);
  start = cpu_seconds();
  const auto history = read_history(std::move(inputs));
  if (!history) return fmt::print("{}\n", to_text(history.error())), 1;
  fmt::print("read               {:>7.2f} s\n", cpu_seconds() - start);
  start = cpu_seconds();
  const auto match = contest::match_of(
      *history, {.organisation = organisation(nodes * 8),
                 .zones = {},
                 .fleet = {{.nodes = static_cast<int32_t>(nodes), .each = 8, .model = "H100"}}});
  if (!match) return fmt::print("{}\n", to_text(match.error())), 1;
  int64_t work = 0;
  for (const contest::Job& job : match->jobs) work += job.length * job.gang.total();
  const int64_t span = match->jobs.back().submit - match->jobs.front().submit;
  fmt::print("matched            {:>7.2f} s  {} jobs, {} x 8 devices, load {:.0f} %\n",
             cpu_seconds() - start, match->jobs.size(), nodes,
             100.0 * static_cast<double>(work) / static_cast<double>(nodes * 8 * span));
  std::vector<std::string> rules(argv + std::min(argc, 4), argv + argc);
  if (rules.empty())
    rules = {"fairlead", "fifo", "easy", "conservative", "slurm-multifactor", "kueue"};
  for (const std::string& rule : rules) play(*match, rule);
  fmt::print("peak               {} MiB\n", peak_mib());
  return 0;
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) { return fairlead::run(argc, argv); }
