// The live path at the size of a large site: 10,000 nodes of 8 devices, 150,000 jobs.
//
//   scale_bench [NODES JOBS]     (default 10000 150000)
//
// Prints one line a figure: the first load to the first full report, a poll with 1 % changed, an
// explanation, a restart, events per second, and the peak of memory. Times are of this process's
// CPU.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "codec/event_json.h"
#include "codec/json.h"
#include "cpu_clock.h"
#include "explain/explain.h"
#include "runtime/site.h"
#include "runtime/store_journal.h"
#include "views/ledger_view.h"
#include "views/report.h"

namespace {

using namespace fairlead;

void show(const char* what, double seconds, const char* target) {
  std::printf("%-52s %10.1f ms   target %s\n", what, seconds * 1000, target);
  std::fflush(stdout);
}

double timed(const std::function<void()>& work) {
  const double begun = cpu_seconds();
  work();
  return cpu_seconds() - begun;
}

constexpr int64_t kStart = 1'796'000'400;

std::string node_name(int i) { return "n" + std::to_string(100'000 + i); }

// Jobs 1… hold one whole node each while nodes last (95 %); the rest wait in many shapes.
Job job_of(int i, int nodes, int64_t second) {
  Job j;
  j.id = static_cast<uint32_t>(i);
  j.label = std::to_string(i);
  j.name = "train-" + std::to_string(i % 97);
  j.user = "u" + std::to_string(i % 400);
  j.account = "team" + std::to_string(i % 40);
  j.qos = i % 5 == 0 ? "prod" : "batch";
  j.partition = "all";
  j.submit = instant_of_seconds(kStart - 50'000 + i % 40'000);
  j.eligible = j.submit;
  j.priority = 1000 + i % 5000;
  const int width = 1 << (i % 4);
  j.request = {.devices = {.model = "h100", .per_node = width, .total = width},
               .nodes_min = 1,
               .cpus = 8,
               .cpus_per_node = 8,
               .memory_per_node_mb = 64'000,
               .time_limit_s = 3600 * (1 + i % 24)};
  if (i <= nodes * 95 / 100) {
    j.state = JobState::running;
    j.start = instant_of_seconds(kStart - 1000 + i % 1000);
    j.request.devices = {.model = "h100", .per_node = 8, .total = 8};
    j.held = {{.node = node_name(i),
               .devices = {0, 1, 2, 3, 4, 5, 6, 7},
               .device_count = 8,
               .cpus = 64,
               .memory_mb = 512'000}};
    j.nodes = node_name(i);
    return j;
  }
  j.state = JobState::pending;
  j.reason = "Priority";
  if (i % 10 == 0) {
    const int gang = 2 << (i % 6);
    j.request.nodes_min = gang;
    j.request.devices = {.model = "h100", .per_node = 8, .total = 8 * gang};
  }
  if (second % 2 == 1) j.priority += 1;
  return j;
}

std::vector<std::string> full_poll(int nodes, int jobs) {
  std::vector<std::string> lines;
  const Instant at = instant_of_seconds(kStart);
  const auto add = [&](What what) {
    lines.push_back(to_json(Event{.at = at, .what = std::move(what)}));
  };
  add(PollBegan{.full = true});
  add(Scheduler{.cluster = "big", .release = "24.11.5", .enforces_limits = true});
  Partition all{.name = "all"};
  for (int i = 1; i <= nodes; ++i) {
    all.nodes.push_back(node_name(i));
    add(Node{.name = node_name(i),
             .state = NodeState::mixed,
             .devices = {{"h100", 8}},
             .cpus = 128,
             .memory_mb = 2'000'000,
             .cpus_used = i <= nodes * 95 / 100 ? 64 : 0,
             .features = {"h100", "ib"}});
  }
  add(all);
  add(Qos{.name = "batch"});
  add(Qos{.name = "prod"});
  for (int i = 0; i < 40; ++i)
    add(Association{.id = 10 + i, .parent = 1, .account = "team" + std::to_string(i)});
  for (int i = 1; i <= jobs; ++i) add(job_of(i, nodes, 0));
  add(PollEnded{});
  return lines;
}

// 1 % of the jobs are stated anew, some of them begin to run on nodes that others left.
std::vector<std::string> changed_poll(int nodes, int jobs, int64_t second) {
  std::vector<std::string> lines;
  const Instant at = instant_of_seconds(kStart + second);
  const auto add = [&](What what) {
    lines.push_back(to_json(Event{.at = at, .what = std::move(what)}));
  };
  add(PollBegan{});
  for (int k = 0; k < jobs / 100; ++k) {
    const int i = 1 + static_cast<int>((second * 7919 + k * 101LL) % jobs);
    Job j = job_of(i, nodes, second);
    if (j.state == JobState::running && k % 2 == 0) {
      j.state = JobState::completed;
      j.end = at;
      j.held.clear();
    }
    add(std::move(j));
  }
  add(PollEnded{});
  return lines;
}

void feed(Site& site, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) site.take_line(line);
}

int64_t peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  const int nodes = argc > 2 ? std::atoi(argv[1]) : 10'000;
  const int jobs = argc > 2 ? std::atoi(argv[2]) : 150'000;
  const std::string folder =
      std::filesystem::temp_directory_path() / ("fairlead-scale-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::printf("%d nodes of 8 devices, %d jobs\n", nodes, jobs);
  std::vector<std::string> first = full_poll(nodes, jobs);
  const size_t lines = first.size();
  {
    auto journal = StoreJournal::open(folder + "/store.db");
    if (!journal) return std::fputs(to_text(journal.error()).c_str(), stderr), 1;
    auto site = Site::open({.name = "big"}, **journal);
    if (!site) return std::fputs(to_text(site.error()).c_str(), stderr), 1;
    Site& s = **site;
    size_t bytes = 0;
    const double load = timed([&] { feed(s, first); });
    show("first load: lines to state, journaled", load, "");
    const double report =
        timed([&] { bytes = json::to_json(report_of(s.state(), {}), json::Style::view).size(); });
    show("  and the first full report", load + report, "5000 ms");
    first.clear();
    first.shrink_to_fit();
    std::vector<double> polls;
    constexpr int kPolls = 21;
    for (int i = 1; i <= kPolls; ++i) {
      const auto poll = changed_poll(nodes, jobs, 60LL * i);
      const double took = timed([&] {
        feed(s, poll);
        bytes += json::to_json(report_of(s.state(), {}), json::Style::view).size();
      });
      polls.push_back(took);
    }
    std::sort(polls.begin(), polls.end());
    show("a poll with 1 % changed to the updated report, median", polls[kPolls / 2], "100 ms");
    show("  the worst of 21", polls.back(), "");
    double explain_worst = 0;
    double explain_sum = 0;
    constexpr int kExplains = 50;
    for (int i = 0; i < kExplains; ++i) {
      const std::string label = std::to_string(nodes + 1 + i * 1000);
      const double took = timed([&] {
        Explainer explainer(s.state());
        const Workload* w = explainer.find(label);
        if (w != nullptr) bytes += json::to_json(explainer.explain(*w), json::Style::view).size();
      });
      explain_worst = std::max(explain_worst, took);
      explain_sum += took;
    }
    show("an explanation, everything made anew, mean", explain_sum / kExplains, "10 ms");
    show("  the worst of 50", explain_worst, "10 ms");
    const auto many = changed_poll(nodes, jobs * 20, 3000);  // one poll of 30,000 records
    std::vector<Event> events;
    for (const std::string& line : many) events.push_back(*read_event(line));
    Engine engine(s.state());
    const double steps = timed([&] {
      for (const Event& e : events) engine.step(e);
    });
    std::printf("%-52s %10.0f /s   target 100,000 /s\n", "engine events, ledger and invariants",
                static_cast<double>(events.size()) / steps);
    show("snapshot", timed([&] { (void)s.snapshot(); }), "");
    std::printf("(%zu lines, %zu bytes of JSON)\n", lines, bytes);
  }
  const double restart = timed([&] {
    auto journal = StoreJournal::open(folder + "/store.db");
    auto site = Site::open({.name = "big"}, **journal);
    if (!site) std::abort();
    const auto text = json::to_json(report_of((*site)->state(), {}), json::Style::view);
    if (text.empty()) std::abort();
  });
  show("restart to the first right report", restart, "5000 ms");
  std::printf("%-52s %10ld MB   target 1000 MB (the first load's lines included)\n",
              "peak of memory", peak_mb());
  std::filesystem::remove_all(folder);
  return 0;
}
