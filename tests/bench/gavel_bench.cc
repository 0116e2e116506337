// Gavel's protocol (Narayanan et al., OSDI '20) beside what Gavel published.
//
//   gavel_bench DATA_FOLDER [single | multi] [JOBS_PER_HOUR...]
//
// 36 V100, 36 P100 and 36 K80, counted; rounds of 360 s; jobs arrive at the rate given, and the
// mean completion of the jobs 4,000 to 4,999 counts, over the three streams that there are. A job
// runs as fast on a class of devices as Gavel's table says, and its work is done when its steps
// are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "contest/contest.h"
#include "contest/rivals.h"
#include "contest/throughputs.h"
#include "cpu_clock.h"
#include "unpacked.h"

namespace fairlead {
namespace {

constexpr int64_t kRound = 360;  // this and what follows: given by the protocol
constexpr size_t kCountedFrom = 4000, kCountedUntil = 5000;
constexpr std::array<int, 3> kStreams = {0, 1, 2};
constexpr const char* kFleet = "36 x 1 v100, 36 x 1 p100, 36 x 1 k80";

// "single,2.0,fifo,18.32"
std::map<std::string, std::string> published(const std::string& folder) {
  std::map<std::string, std::string> out;
  const std::string text = unpacked(folder + "/gavel/published_avg_jct_hours.csv");
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (const size_t comma = line.rfind(','); comma != line.npos)
      out[line.substr(0, comma)] = line.substr(comma + 1);
    at = end + 1;
  }
  return out;
}

Result<contest::Match> match_of(const std::string& folder, const std::string& trace, int stream,
                                double rate, const contest::Throughputs& table) {
  const std::string file =
      fmt::format("{}/gavel/streams/jobs_{}_seed{}.csv.gz", folder, trace, stream);
  std::vector<HistoryInput> inputs;
  inputs.push_back({file, unpacked(file)});
  HistoryOptions options;
  options.arrivals_per_hour = rate;
  const auto history = read_history(std::move(inputs), options);
  if (!history) return std::unexpected(history.error());
  const auto fleet = contest::read_fleet(kFleet, "fleet");
  if (!fleet) return std::unexpected(fleet.error());
  auto match = contest::match_of(*history, {.organisation = {}, .zones = {}, .fleet = *fleet});
  if (!match) return std::unexpected(match.error());
  const std::array<std::string, 3> devices = {"v100", "p100", "k80"};
  if (const auto ok = contest::accept_devices(*match, table, devices); !ok)
    return std::unexpected(ok.error());
  match->round = kRound;
  return match;
}

// In hours; nothing where one of them never ended.
std::optional<double> counted_completion(const contest::Match& match,
                                         const contest::Outcome& outcome) {
  double sum = 0;
  for (size_t i = kCountedFrom; i < kCountedUntil; ++i) {
    if (i >= outcome.fates.size() || outcome.fates[i].end == 0) return std::nullopt;
    sum += static_cast<double>(outcome.fates[i].end - match.jobs[i].submit);
  }
  return sum / static_cast<double>(kCountedUntil - kCountedFrom) / 3600;
}

struct RuleRow {
  const char* name;
  std::unique_ptr<contest::Rival> (*make)(const contest::Match& match);
  const char* published;  // its name there
};
constexpr RuleRow kRules[] = {
    {"fifo", contest::make_fifo, "fifo"},
    {"fifo, fastest", contest::make_gavel_fifo_perf, "fifo_perf"},
    {"easy", contest::make_easy, ""},
    {"fairlead", contest::make_fairlead, ""},
};
constexpr std::pair<const char*, const char*> kPublishedOnly[] = {
    {"LAS", "max_min_fairness"},
    {"Gandiva", "gandiva"},
    {"AlloX", "allox"},
    {"Gavel LAS", "max_min_fairness_perf"},
    {"with sharing", "max_min_fairness_packed"}};

bool play(const std::string& folder, const std::string& trace, const std::string& rate,
          const contest::Throughputs& table, const std::map<std::string, std::string>& known) {
  const auto there = [&](const char* policy) {
    const auto it = known.find(fmt::format("{},{},{}", trace, rate, policy));
    return it == known.end() ? std::string("-") : it->second;
  };
  std::string line = fmt::format("{:<6} {:>4} |", trace, rate);
  for (const RuleRow& rule : kRules) {
    double sum = 0;
    bool all = true;
    const double begun = cpu_seconds();
    for (const int stream : kStreams) {
      const auto match = match_of(folder, trace, stream, std::atof(rate.c_str()), table);
      if (!match) return fmt::print("{}\n", to_text(match.error())), false;
      const auto rival = rule.make(*match);
      contest::Arena arena(*match);
      const auto hours = counted_completion(*match, arena.play(*rival));
      all = all && hours.has_value();
      sum += hours.value_or(0);
    }
    line += fmt::format(" {} {}", rule.name, all ? fmt::format("{:.2f}", sum / 3) : "never");
    if (*rule.published != '\0') line += fmt::format(" (published {})", there(rule.published));
    line += fmt::format(" [{:.1f} s] |", cpu_seconds() - begun);
  }
  for (const auto& [name, policy] : kPublishedOnly)
    line += fmt::format(" {} {},", name, there(policy));
  line.back() = ' ';
  fmt::print("{}\n", line);
  std::fflush(stdout);
  return true;
}

int run(int argc, char** argv) {
  const std::string folder = argv[1];
  const std::string json = unpacked(folder + "/gavel/simulation_throughputs.json.gz");
  const auto table = contest::Throughputs::read(json, "simulation_throughputs.json");
  if (!table) return fmt::print("{}\n", to_text(table.error())), 1;
  const auto known = published(folder);
  std::map<std::string, std::vector<std::string>> rates = {
      {"single", {"2.0", "4.0", "4.8", "5.6", "6.0"}}, {"multi", {"2.0", "2.4", "2.6", "2.8"}}};
  if (argc > 2) rates = {{argv[2], rates[argv[2]]}};
  if (argc > 3) rates.begin()->second.assign(argv + 3, argv + argc);
  fmt::print("mean completion in hours; published figures are Gavel's\n");
  for (const auto& [trace, loads] : rates)
    for (const std::string& rate : loads)
      if (!play(folder, trace, rate, *table, known)) return 1;
  return 0;
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
  if (argc < 2)
    return fmt::print("gavel_bench DATA_FOLDER [single | multi] [JOBS_PER_HOUR...]\n"), 2;
  return fairlead::run(argc, argv);
}
