// openb: the published packing policies and our own, beside the published results.
//
//   openb_bench [--data FOLDER] [--seeds FIRST-LAST] [--runs] [TRACE…]
//
// FOLDER is where openb's tables lie (default: ../shared/data/openb, or openb below FAIRLEAD_DATA);
// traces are named as there ("default", "gpuspec33"; default: the seventeen of the paper). Seeds
// 42-51 are the published ones; any other works as well and has no published figure beside it.
// Prints for each trace and policy, as means over the seeds, unallocated devices at 100 % arrived
// load and allocated ones at 130 %, in % of all, the published means, and how many runs are equal
// to theirs to the last digit.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/packing.h"

namespace {

using namespace fairlead;

std::string content_of(const std::string& path) {
  std::string out;
  const bool packed = path.ends_with(".gz");
  FILE* file = packed ? popen(fmt::format("gzip -dc '{}' 2>/dev/null", path).c_str(), "r")
                      : std::fopen(path.c_str(), "r");
  char buffer[1 << 16];
  for (size_t n; file != nullptr && (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
    out.append(buffer, n);
  if (file != nullptr) packed ? pclose(file) : std::fclose(file);
  return out;
}

struct Arguments {
  std::string data;
  int64_t first = 42, last = 51;
  std::vector<std::string> traces;
  bool runs = false;
};

[[noreturn]] void usage() {
  std::fputs("usage: openb_bench [--data FOLDER] [--seeds FIRST-LAST] [--runs] [TRACE...]\n",
             stderr);
  std::exit(2);
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  const char* data = std::getenv("FAIRLEAD_DATA");
  a.data = data == nullptr ? "../shared/data/openb" : std::string(data) + "/openb";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--data" && i + 1 < argc) {
      a.data = argv[++i];
    } else if (word == "--seeds" && i + 1 < argc) {
      char* end = nullptr;
      a.first = a.last = std::strtoll(argv[++i], &end, 10);
      if (*end == '-') a.last = std::strtoll(end + 1, &end, 10);
      if (*end != '\0' || a.last < a.first) usage();
    } else if (word == "--runs") {
      a.runs = true;
    } else if (word.starts_with('-')) {
      usage();
    } else {
      a.traces.emplace_back(word);
    }
  }
  if (a.traces.empty())
    a.traces = {"default",    "cpu050",     "cpu100",      "cpu200",     "cpu250",     "gpushare40",
                "gpushare60", "gpushare80", "gpushare100", "multigpu20", "multigpu30", "multigpu40",
                "multigpu50", "gpuspec10",  "gpuspec20",   "gpuspec25",  "gpuspec33"};
  return a;
}

struct Entrant {
  const char* label;  // of published ones as there
  PackRule rule;
};
std::vector<Entrant> entrants(const PackTrace& trace) {
  return {{"01-Random", {.policy = PackPolicy::random}},
          {"02-DotProd", {.policy = PackPolicy::dot_product}},
          {"03-GpuClustering", {.policy = PackPolicy::gpu_clustering}},
          {"04-GpuPacking", {.policy = PackPolicy::gpu_packing}},
          {"05-BestFit", {.policy = PackPolicy::best_fit}},
          {"06-FGD", {.policy = PackPolicy::fgd}},
          {"index", {.policy = PackPolicy::tightest}},
          {"rehearsed", rehearsed_rule(trace)}};
}

// Published allocation in % at 100 and 130 % by "trace,policy,seed".
struct Published {
  double at_100 = 0, at_130 = 0;
};
std::map<std::string, Published> published(const std::string& folder) {
  std::map<std::string, Published> result;
  const std::string text = content_of(folder + "/published/analysis_allo_discrete.csv.gz");
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::vector<std::string> fields(1);
    for (const char c : rest.substr(0, end)) {
      if (c == ',')
        fields.emplace_back();
      else if (c != '\r')
        fields.back().push_back(c);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (fields.size() < 5 + 131 || !fields[0].starts_with("openb_pod_list_")) continue;
    result[fields[0].substr(15) + ',' + fields[1] + ',' + fields[3]] = {
        std::strtod(fields[5 + 100].c_str(), nullptr),
        std::strtod(fields[5 + 130].c_str(), nullptr)};
  }
  return result;
}

bool same(double ours, double theirs) { return std::abs(ours - theirs) < 0.005 + 1e-9; }

struct Mean {
  double sum = 0, squares = 0;
  int64_t count = 0;
  void add(double x) { sum += x, squares += x * x, ++count; }
  double value() const { return count == 0 ? NAN : sum / static_cast<double>(count); }
  double deviation() const {
    if (count < 2) return 0;
    const auto n = static_cast<double>(count);
    return std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1)));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const Arguments args = parse(argc, argv);
  const auto theirs = published(args.data);
  const std::string nodes = content_of(args.data + "/openb_node_list_gpu_node.csv");
  if (nodes.empty()) {
    fmt::print(stderr, "no openb data in {}: --data or FAIRLEAD_DATA names another folder\n",
               args.data);
    return 1;
  }
  fmt::print("seeds {} to {}; unallocated devices at 100 % load, allocated at 130 %, in %\n\n",
             args.first, args.last);
  fmt::print("{:<12} {:<16} {:>8} {:>5} {:>9} {:>8} {:>9} {:>6} {:>8}\n", "trace", "policy",
             "unalloc.", "sd", "published", "alloc.", "published", "equal", "s/run");
  std::map<std::string_view, std::pair<int64_t, int64_t>> equal;  // by policy: runs equal, compared
  for (const std::string& name : args.traces) {
    const std::string file = fmt::format("openb_pod_list_{}.csv.gz", name);
    const std::string pods = content_of(args.data + "/" + file);
    const auto trace =
        read_pack_trace({.source = file, .text = pods}, {.source = "nodes", .text = nodes});
    if (!trace) {
      fmt::print(stderr, "{}\n", to_text(trace.error()));
      return 1;
    }
    for (const auto& [label, rule] : entrants(*trace)) {
      Mean at_100, at_130, published_100, published_130, seconds;
      int64_t same_runs = 0;
      for (int64_t seed = args.first; seed <= args.last; ++seed) {
        const Arrivals arrivals = arrivals_of(*trace, seed);
        const auto begun = std::chrono::steady_clock::now();
        const PackResult result = pack(*trace, arrivals, rule, static_cast<uint64_t>(seed));
        seconds.add(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
        at_100.add(100 - result.allocated[100]);
        at_130.add(result.allocated[130]);
        const auto p = theirs.find(fmt::format("{},{},{}", name, label, seed));
        if (args.runs)
          fmt::print("{:<12} {:<16} seed {:<6} {:8.4f} {:>8} {:8.4f} {:>8}\n", name, label, seed,
                     100 - result.allocated[100],
                     p == theirs.end() ? "-" : fmt::format("{:.2f}", 100 - p->second.at_100),
                     result.allocated[130],
                     p == theirs.end() ? "-" : fmt::format("{:.2f}", p->second.at_130));
        if (p == theirs.end()) continue;
        published_100.add(100 - p->second.at_100);
        published_130.add(p->second.at_130);
        if (same(result.allocated[100], p->second.at_100) &&
            same(result.allocated[130], p->second.at_130))
          ++same_runs;
      }
      equal[label].first += same_runs;
      equal[label].second += published_100.count;
      const auto shown = [](const Mean& m) {
        return m.count == 0 ? std::string("-") : fmt::format("{:.2f}", m.value());
      };
      fmt::print("{:<12} {:<16} {:>8} {:>5.2f} {:>9} {:>8} {:>9} {:>6} {:>8.2f}{}\n", name, label,
                 shown(at_100), at_100.deviation(), shown(published_100), shown(at_130),
                 shown(published_130),
                 published_100.count == 0 ? std::string("-")
                                          : fmt::format("{}/{}", same_runs, published_100.count),
                 seconds.value(),
                 std::string_view(label) == "rehearsed" ? "  " + to_text(rule) : std::string());
      std::fflush(stdout);
    }
  }
  std::string told;
  for (const auto& [label, count] : equal)
    if (count.second > 0) told += fmt::format("  {} {}/{}", label, count.first, count.second);
  if (!told.empty())
    fmt::print("\nruns equal to the published ones, at 100 % and at 130 %:{}\n", told);
}
