// A look at every GPU of a large site through Prometheus: its answers, our samples, the engine.
//
//   telemetry_bench [NODES]     (default 10000, of 8 GPUs)
//
// Ten metrics with two points each, as dcgm-exporter names them. Times are of this process's CPU.
// The longest piece is what a request to the API may have to wait for.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "adapters/prometheus/query_answer.h"
#include "adapters/prometheus/telemetry_events.h"
#include "cpu_clock.h"
#include "runtime/site.h"

namespace {

using namespace fairlead;

constexpr int64_t kStart = 1'796'000'400;
constexpr const char* kMetrics[] = {"DCGM_FI_DEV_GPU_UTIL",     "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
                                    "DCGM_FI_PROF_SM_ACTIVE",   "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
                                    "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_DEV_FB_USED",
                                    "DCGM_FI_DEV_FB_FREE",      "DCGM_FI_DEV_POWER_USAGE",
                                    "DCGM_FI_DEV_SM_CLOCK",     "DCGM_FI_DEV_GPU_TEMP"};

double timed(const std::function<void()>& work) {
  const double begun = cpu_seconds();
  work();
  return cpu_seconds() - begun;
}

std::string node_name(int i) { return "n" + std::to_string(100'000 + i); }

// Prometheus's answer to METRIC[30s].
std::string answer(const char* metric, int nodes, int64_t second) {
  std::string body = R"({"status":"success","data":{"resultType":"matrix","result":[)";
  for (int i = 0; i < nodes * 8; ++i) {
    const std::string host = node_name(i / 8);
    fmt::format_to(
        std::back_inserter(body),
        R"({}{{"metric":{{"__name__":"{}","Hostname":"{}","UUID":"GPU-{:08x}-0000","device":"nvidia{}","gpu":"{}",)"
        R"("instance":"{}:9400","job":"dcgm","modelName":"NVIDIA H100 80GB HBM3"}},"values":[[{}.123,"{}"],[{}.123,"{}"]]}})",
        i == 0 ? "" : ",", metric, host, i, i % 8, i % 8, host, second - 15, i % 17 + 1, second,
        i % 17 + 1);
  }
  return body + "]}}";
}

void show(const char* what, double seconds) {
  fmt::print("{:<58} {:>8.1f} ms\n", what, seconds * 1000);
}

}  // namespace

int main(int argc, char** argv) {
  const int nodes = argc > 1 ? std::atoi(argv[1]) : 10'000;
  evidence::NodeDirectory directory;
  NoJournal journal;
  const auto site = Site::open({.name = "big"}, journal).value();
  std::vector<Event> fleet = {{.at = instant_of_seconds(kStart), .what = PollBegan{}}};
  for (int i = 0; i < nodes; ++i) {
    const Node node{.name = node_name(i), .state = NodeState::idle, .devices = {{"h100", 8}}};
    directory.add(node);
    fleet.push_back({.at = instant_of_seconds(kStart), .what = node});
  }
  fleet.push_back({.at = instant_of_seconds(kStart), .what = PollEnded{}});
  site->take_poll(std::move(fleet));

  prometheus::Delivered delivered;
  for (int look = 1; look <= 3; ++look) {
    const Instant at = instant_of_seconds(kStart + 30 * look);
    evidence::Normaliser normaliser(directory, at);
    double reading = 0, longest = 0;
    size_t bytes = 0;
    for (const char* metric : kMetrics) {
      std::string body = answer(metric, nodes, kStart + 30 * look);
      bytes += body.size();
      const double took = timed([&] {
        if (!prometheus::read_matrix(body, normaliser)) std::abort();
      });
      reading += took;
      longest = std::max(longest, took);
    }
    evidence::Normalised normalised;
    const double joining = timed([&] { normalised = normaliser.finish(); });
    std::vector<Event> events;
    const prometheus::Emit emit = [&](Event event) { events.push_back(std::move(event)); };
    const double telling = timed([&] {
      prometheus::emit_began(emit, at);
      prometheus::emit_samples(emit, at, std::move(normalised), delivered);
      prometheus::emit_ended(emit, at, {});
    });
    const double deciding = timed([&] { site->take_poll(std::move(events)); });
    fmt::print("look {} of {} GPUs, {} MB of answers\n", look, nodes * 8, bytes / 1'000'000);
    show("  answers read (10 metrics)", reading);
    show("    the longest", longest);
    show("  joined to samples", joining);
    show("  made to events", telling);
    show("  thinned, journaled as text, decided", deciding);
    show("  all", reading + joining + telling + deciding);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:<58} {:>8} MB\n", "peak of memory, one answer at a time", usage.ru_maxrss / 1024);
  return 0;
}
