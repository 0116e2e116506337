// Rules of papers beside what the papers published, on their own traces: Muri's (SIGCOMM '22).
//
//   published_bench DATA_FOLDER        prints a row for each trace and rule
//
// The protocol is that of the paper's simulator: 8 nodes of 8; lengths times 1.015, and each
// submission and end costs a running job the start of its model, in seconds (both are constants of
// the simulator). What differs is said by the numbers.
#include <fmt/format.h>

#include <cstdio>
#include <map>

#include "contest/contest.h"
#include "contest/rivals.h"
#include "unpacked.h"

namespace fairlead {
namespace {

// "trace1,SRTF,avg_jct_s,1370603.198"
std::map<std::string, double> published(const std::string& folder) {
  std::map<std::string, double> out;
  std::string text = unpacked(folder + "/muri/published.csv");
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (const size_t comma = line.rfind(','); comma != line.npos)
      out[line.substr(0, comma)] = std::atof(line.c_str() + comma + 1);
    at = end + 1;
  }
  return out;
}

int64_t start_of(std::string_view model, int64_t devices) {
  if (model == "vgg16" || model == "vgg19") return devices <= 2 ? 7 : devices <= 4 ? 8 : 9;
  if (model == "resnet18") return devices == 1 ? 4 : devices <= 4 ? 5 : 7;
  if (model == "shufflenet_v2_x1_0")
    return devices <= 2 ? 4 : devices <= 8 ? 5 : devices <= 16 ? 7 : 8;
  if (model == "a2c") return devices == 1 ? 38 : devices <= 4 ? 39 : 46;
  if (model == "dqn") return devices <= 2 ? 5 : devices <= 8 ? 6 : 8;
  return 10;
}

struct PaperRow {
  const char* rule;
  contest::PaperRule kind;
  const char* published;
};
constexpr PaperRow kPaperRows[] = {
    {"srtf", contest::PaperRule::srtf, "SRTF"},
    {"srsf", contest::PaperRule::srsf, "SRSF"},
    {"tiresias", contest::PaperRule::tiresias, "Tiresias_L"},
};

void compare(const std::string& folder, const std::string& trace,
             const std::map<std::string, double>& known) {
  std::vector<HistoryInput> inputs;
  inputs.push_back({trace, unpacked(fmt::format("{}/muri/{}.csv.gz", folder, trace))});
  const auto history = read_history(std::move(inputs));
  if (!history) {
    fmt::print("{}: {}\n", trace, to_text(history.error()));
    return;
  }
  auto match = contest::match_of(
      *history, {.organisation = {}, .zones = {}, .fleet = {{.nodes = 8, .each = 8, .model = ""}}});
  if (!match) {
    fmt::print("{}: {}\n", trace, to_text(match.error()));
    return;
  }
  for (contest::Job& job : match->jobs) job.limit = job.length = job.length * 1015 / 1000;
  const auto overhead = [&](const contest::Job& job) {
    return start_of(match->organisation.classes[job.klass].name, job.gang.total());
  };
  const auto row = [&](const char* rule, const contest::Outcome& outcome, const char* theirs) {
    const contest::Score s = contest::score_of(*match, outcome, {});
    const double jct = static_cast<double>(s.all.completion_us.mean) / 1e6;
    const double makespan = static_cast<double>(s.makespan_us) / 1e6;
    const auto published_of = [&](const char* metric) {
      const auto it = known.find(fmt::format("{},{},{}", trace, theirs, metric));
      return it == known.end() ? 0.0 : it->second;
    };
    const double jct_there = published_of("avg_jct_s"), makespan_there = published_of("makespan_s");
    const auto off = [](double ours, double there) {
      return there > 0 ? fmt::format("{:+.1f} %", 100 * (ours / there - 1)) : std::string("-");
    };
    fmt::print(
        "{:<12} {:<10} JCT {:>12.0f} published {:>12.0f} {:>9}   makespan {:>12.0f} published "
        "{:>12.0f} {:>9}\n",
        trace, rule, jct, jct_there, off(jct, jct_there), makespan, makespan_there,
        off(makespan, makespan_there));
  };
  // Tiresias is placed by counts there: as if each device stood alone.
  contest::Match counted = *match;
  counted.fleet = {{.nodes = 64, .each = 1, .device = 0}};
  for (contest::Job& job : counted.jobs) job.gang = contest::gang_of(0, job.gang.total(), 1);
  for (const PaperRow& paper : kPaperRows) {
    const contest::Match& at = paper.kind == contest::PaperRule::tiresias ? counted : *match;
    const auto rival = contest::make_paper(at, paper.kind, overhead);
    contest::Arena arena(at);
    row(paper.rule, arena.play(*rival), paper.published);
  }
  for (const char* rule : {"fifo", "easy", "fairlead"}) {
    const auto rival = contest::rival_kind(rule)->make(*match);
    contest::Arena arena(*match);
    row(rule, arena.play(*rival), "");
  }
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
  using namespace fairlead;
  if (argc < 2) return fmt::print("published_bench DATA_FOLDER\n"), 2;
  const std::string folder = argv[1];
  const auto known = published(folder);
  if (known.empty()) return fmt::print("no muri/published.csv below {}\n", folder), 1;
  for (const char* trace :
       {"trace1", "trace1_pr", "trace2", "trace2_pr", "trace3", "trace3_pr", "trace4", "trace4_pr"})
    compare(folder, trace, known);
  return 0;
}
