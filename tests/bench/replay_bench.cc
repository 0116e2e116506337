// Measures a replay from text to books, and the engine's events per second on a large fleet.
//
//   replay_bench [JOBS] [DEVICES]      prints one line a figure, in seconds of processor time
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>

#include "cpu_clock.h"
#include "sim/replay.h"
#include "sim/synthetic.h"

namespace fairlead {
namespace {

// Processor time, so that other work on the machine counts as little as it can. One thread.
struct Clock {
  using time_point = double;
  static double now() { return fairlead::cpu_seconds(); }
};

double seconds_since(Clock::time_point start) { return Clock::now() - start; }

int64_t peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void replay_year(int64_t jobs, int64_t devices) {
  auto start = Clock::now();
  std::string text = synthetic_sacct({.jobs = jobs, .devices = devices});
  fmt::print("generated   {:>10} jobs    {:>7.2f} s   {} MiB of text, peak {} MiB\n", jobs,
             seconds_since(start), text.size() >> 20, peak_mib());
  start = Clock::now();
  std::vector<HistoryInput> inputs;
  inputs.push_back({"synthetic", std::move(text)});
  const auto history = read_history(std::move(inputs));
  const double read_s = seconds_since(start);
  if (!history) {
    fmt::print("{}\n", to_text(history.error()));
    std::exit(1);
  }
  fmt::print("read        {:>10} rows    {:>7.2f} s   history holds {} MiB, peak {} MiB\n",
             history->notes().rows, read_s, history->memory_bytes() >> 20, peak_mib());
  start = Clock::now();
  const ReplayResult result = replay(*history);
  const double replay_s = seconds_since(start);
  fmt::print("replayed    {:>10} events  {:>7.2f} s   {:.0f} events/s, peak {} MiB\n",
             result.progress.events, replay_s,
             static_cast<double>(result.progress.events) / replay_s, peak_mib());
  fmt::print("in all      {:>10} jobs/s  {:>7.2f} s   digest {}\n",
             static_cast<int64_t>(static_cast<double>(jobs) / (read_s + replay_s)),
             read_s + replay_s, to_text(result.engine.digest()));
}

// 10,000 nodes of eight devices, half of them held, then jobs that come and go one by one.
void engine_on_large_fleet(int32_t nodes) {
  Engine engine("bench", {});
  int64_t second = 1'767'225'600;
  const auto step = [&](What what) {
    engine.step({.at = instant_of_seconds(second), .what = std::move(what)});
  };
  const auto job = [](uint32_t id, JobState state, int64_t start, int64_t end, int32_t node) {
    Job j{.id = id,
          .label = std::to_string(id),
          .user = "ana",
          .account = "research",
          .qos = "batch",
          .partition = "gpu"};
    j.state = state;
    j.submit = instant_of_seconds(start);
    j.start = state == JobState::pending ? Instant{} : instant_of_seconds(start);
    j.end = instant_of_seconds(end);
    j.request.devices = {.model = "h100", .per_node = 8, .total = 8};
    if (state == JobState::running)
      j.held = {{.node = fmt::format("n{:05}", node),
                 .devices = {0, 1, 2, 3, 4, 5, 6, 7},
                 .device_count = 8}};
    return j;
  };
  auto start = Clock::now();
  for (int32_t i = 0; i < nodes; ++i) {
    step(Node{.name = fmt::format("n{:05}", i),
              .state = NodeState::idle,
              .devices = {{"h100", 8}},
              .cpus = 128,
              .memory_mb = 2'000'000});
  }
  for (int32_t i = 0; i < nodes / 2; ++i)
    step(job(static_cast<uint32_t>(i + 1), JobState::running, second, 0, i));
  fmt::print("fleet       {:>10} nodes   {:>7.2f} s\n", nodes, seconds_since(start));
  start = Clock::now();
  constexpr int kJobs = 100'000;
  for (int i = 0; i < kJobs; ++i) {
    const auto id = static_cast<uint32_t>(1'000'000 + i);
    const int32_t node = nodes / 2 + i % (nodes / 2);
    step(job(id, JobState::pending, second, 0, node));
    step(job(id, JobState::running, second, 0, node));
    if (i % 4 == 0) ++second;
    step(job(id, JobState::completed, second - 1, second, node));
    step(JobGone{id});
  }
  const double s = seconds_since(start);
  fmt::print("engine      {:>10} events  {:>7.2f} s   {:.0f} events/s with {} devices\n", 4 * kJobs,
             s, 4 * kJobs / s, nodes * 8);
  start = Clock::now();
  for (int i = 0; i < 10; ++i) {
    Samples samples;
    for (int32_t n = 0; n < nodes; ++n) {
      for (int32_t d = 0; d < 8; ++d) {
        samples.samples.push_back({.node = fmt::format("n{:05}", n),
                                   .index = d,
                                   .at = instant_of_seconds(second),
                                   .utilisation_ppm = 900'000 * (i % 2)});
      }
    }
    step(std::move(samples));
    step(PollEnded{.source = Source::telemetry});
    second += 30;
  }
  const double looks_s = seconds_since(start);
  fmt::print("looks       {:>10} devices {:>7.2f} s   {:.0f} samples/s, poll ends included\n",
             10 * nodes * 8, looks_s, 10.0 * nodes * 8 / looks_s);
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
  const int64_t jobs = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const int64_t devices = argc > 2 ? std::atoll(argv[2]) : 6000;
  fairlead::replay_year(jobs, devices);
  fairlead::engine_on_large_fleet(10'000);
  return 0;
}
