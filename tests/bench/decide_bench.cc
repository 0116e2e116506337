// What it costs to decide at the size of a large site, with an organisation: 10,000 nodes of 8
// devices, 150,000 jobs, 40 teams and two classes.
//
//   decide_bench [NODES JOBS]
//
// Times are of this process's CPU: the median and the worst of so many.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "core/team_books.h"
#include "cpu_clock.h"
#include "explain/explain.h"
#include "explain/simulate.h"
#include "views/comparison.h"
#include "views/placement_view.h"

namespace {

using namespace fairlead;

constexpr int64_t kStart = 1'796'000'400;

void show(const char* what, int times, const std::function<void(int)>& work) {
  std::vector<double> took;
  for (int i = 0; i < times; ++i) {
    const double begun = cpu_seconds();
    work(i);
    took.push_back((cpu_seconds() - begun) * 1000);
  }
  std::sort(took.begin(), took.end());
  std::printf("%-64s %9.2f ms, the worst of %d %9.2f ms\n", what, took[took.size() / 2], times,
              took.back());
  std::fflush(stdout);
}

std::string node_name(int i) { return "n" + std::to_string(100'000 + i); }

OrganisationStated organisation(int nodes) {
  std::string text =
      "org bench v1\nlang 1\nclass prod { rank 20 }\nclass batch { rank 10 }\nteam site {\n  own " +
      std::to_string(nodes * 8) + " h100\n  default class batch\n";
  for (int t = 0; t < 40; ++t)
    text += "  team team" + std::to_string(t) + " { own " + std::to_string(nodes * 8 / 50) +
            " h100 members slurm account \"team" + std::to_string(t) + "\" }\n";
  text += "}\ndevices h100 { h100 }\n";
  return {.files = {{"bench.policy", text}}, .tables = {}, .zones = {}, .groups = {}};
}

Job waiting_job(int i) {
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
  const int gang = i % 10 == 0 ? 2 << (i % 6) : 1;
  const int width = i % 10 == 0 ? 8 : 1 << (i % 4);
  j.request = {.devices = {.model = "h100", .per_node = width, .total = width * gang},
               .nodes_min = gang,
               .cpus = 8,
               .cpus_per_node = 8,
               .memory_per_node_mb = 64'000,
               .time_limit_s = 3600 * (1 + i % 24)};
  j.state = JobState::pending;
  j.reason = "Priority";
  return j;
}

Job running_job(int i, int node) {
  Job j = waiting_job(i);
  j.state = JobState::running;
  j.reason = "None";
  j.start = instant_of_seconds(kStart - 1000 + i % 1000);
  j.request.nodes_min = 1;
  j.request.devices = {.model = "h100", .per_node = 8, .total = 8};
  j.held = {{.node = node_name(node),
             .devices = {0, 1, 2, 3, 4, 5, 6, 7},
             .device_count = 8,
             .cpus = 64,
             .memory_mb = 512'000}};
  return j;
}

class Site {
 public:
  Site(int nodes, int first_running, bool has_organisation) : engine_("big", {}) {
    step(PollBegan{});
    Partition all{.name = "all"};
    for (int i = 1; i <= nodes; ++i) {
      all.nodes.push_back(node_name(i));
      step(Node{.name = node_name(i),
                .state = NodeState::mixed,
                .devices = {{"h100", 8}},
                .cpus = 128,
                .memory_mb = 2'000'000,
                .cpus_used = i <= first_running ? 64 : 0,
                .features = {"h100", "ib"}});
    }
    step(all);
    for (const char* qos : {"batch", "prod"}) step(Qos{.name = qos});
    if (has_organisation) step(organisation(nodes));
    for (int i = 1; i <= first_running; ++i) step(running_job(i, i));
  }
  void step(What what) { engine_.step({.at = now_, .what = std::move(what)}); }
  void pass(int64_t seconds_on) { now_ = now_ + seconds(seconds_on); }
  Engine& engine() { return engine_; }

 private:
  Instant now_ = instant_of_seconds(kStart);
  Engine engine_;
};

// 1 % of the jobs are stated anew; some runs end.
void change(Site& site, int jobs, int running, int poll) {
  site.pass(60);
  site.step(PollBegan{});
  for (int k = 0; k < jobs / 100; ++k) {
    const int i = 1 + static_cast<int>((poll * 7919LL + k * 101LL) % jobs);
    Job j = i <= running ? running_job(i, i) : waiting_job(i);
    j.priority += poll;
    if (i <= running && k % 2 == 0) {
      j.state = JobState::completed;
      j.end = instant_of_seconds(kStart + 60 * poll);
      j.held.clear();
    }
    site.step(std::move(j));
  }
  site.step(PollEnded{});
}

void large_site(int nodes, int jobs) {
  const int running = nodes * 95 / 100;
  for (const bool has_organisation : {false, true}) {
    Site site(nodes, running, has_organisation);
    for (int i = running + 1; i <= jobs; ++i) site.step(waiting_job(i));
    show(has_organisation ? "first look, with an organisation"
                          : "first look, without an organisation",
         1, [&](int) { site.step(PollEnded{}); });
    show("  a poll with 1 % changed", 15, [&](int i) { change(site, jobs, running, i + 1); });
    if (!has_organisation) continue;
    const Engine& engine = site.engine();
    const State& state = engine.state();
    show("  of it: quota", 5, [&](int) { (void)quota_of(state); });
    show("  of it: usages", 5, [&](int) { (void)usages_of(state); });
    Allocator allocator;
    const RunLengths lengths;
    show("  of it: a look of the planner, all made anew", 1,
         [&](int) { (void)allocator.look(state, lengths); });
    show("  of it: a look of the planner", 15, [&](int) { (void)allocator.look(state, lengths); });
    uint64_t steps = 0;
    show("  of it, where due: estimates of the first 512", 9,
         [&](int) { steps = allocator.foresee(state, lengths).steps; });
    std::printf("  %llu steps of the estimates\n", static_cast<unsigned long long>(steps));
    show("simulate", 15, [&](int i) {
      Job job = waiting_job(jobs + 1 + i);
      (void)simulate(engine, job);
    });
    show("place", 15, [&](int i) { (void)placement_of(engine, waiting_job(jobs + 1 + i)); });
    int told = 0;
    show("simulate what does not fit, with cures that were tried", 15, [&](int i) {
      Job job = waiting_job(jobs + 1 + i);
      job.request.nodes_min = nodes * 6 / 10 + i;
      job.request.devices = {.model = "h100", .per_node = 8, .total = 8 * job.request.nodes_min};
      const Explanation x = simulate(engine, job);
      for (const Blocker& blocker : x.blockers)
        told += blocker.cure_effect != CureEffect::none ? 1 : 0;
    });
    std::printf("  %d cures told\n", told);
    show("explain", 15, [&](int i) {
      Explainer explainer(engine);
      (void)explainer.explain(std::to_string(running + 1 + i * 997));
    });
    show("a page of 500 suggestions", 15, [&](int) { (void)comparison_of(state); });
    std::printf("  of %zu\n", state.suggested.now.size());
  }
}

// Jobs that all fit: planned and suggested, explained, started and booked.
void admissions(int nodes) {
  Site site(nodes, 0, true);
  site.step(PollEnded{});
  const int jobs = nodes * 8 / 4;
  const double begun = cpu_seconds();
  site.pass(60);
  site.step(PollBegan{});
  for (int i = 1; i <= jobs; ++i) {
    Job j = waiting_job(i);
    j.request.nodes_min = 1;
    j.request.devices = {.model = "h100", .per_node = 4, .total = 4};
    site.step(std::move(j));
  }
  site.step(PollEnded{});
  const double planned = cpu_seconds();
  const size_t suggested = site.engine().state().suggested.now.size();
  Explainer explainer(site.engine().state());
  size_t told = 0;
  for (const auto& [id, workload] : site.engine().state().workloads)
    told += explainer.explain(workload).policy.verdict == "start" ? 1 : 0;
  const double explained = cpu_seconds();
  site.pass(60);
  site.step(PollBegan{});
  for (int i = 1; i <= jobs; ++i) {
    Job j = running_job(i, 1 + (i - 1) / 2);
    j.request.devices = {.model = "h100", .per_node = 4, .total = 4};
    const int first = (i - 1) % 2 * 4;
    j.held[0].devices = {first, first + 1, first + 2, first + 3};
    j.held[0].device_count = 4;
    j.start = instant_of_seconds(kStart + 100);
    site.step(std::move(j));
  }
  site.step(PollEnded{});
  const double booked = cpu_seconds();
  std::printf("%d jobs that fit on %d nodes: %zu suggested, %zu explained, %lld started as told\n",
              jobs, nodes, suggested, told,
              static_cast<long long>(site.engine().state().suggested.card.started));
  std::printf("  stated and planned %.2f s, explained %.2f s, started and booked %.2f s: %.0f /s\n",
              planned - begun, explained - planned, booked - explained, jobs / (booked - begun));
}

}  // namespace

int main(int argc, char** argv) {
  const int nodes = argc > 2 ? std::atoi(argv[1]) : 10'000;
  const int jobs = argc > 2 ? std::atoi(argv[2]) : 150'000;
  std::printf("%d nodes of 8 devices, %d jobs\n", nodes, jobs);
  admissions(nodes);
  large_site(nodes, jobs);
}
