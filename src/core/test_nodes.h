// For tests: an engine that watches nodes of eight, and the jobs on them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/engine.h"
#include "core/test_jobs.h"

namespace fairlead {

inline constexpr int64_t kSiteStart = 7200;

inline constexpr std::string_view kFourClasses = R"(org acme v1
lang 1
class urgent { rank 50 }
class batch  { rank 10 }
class steady { rank 10  min-run 1h }
class fixed  { rank 5  never-preempted }
team acme {
  own 64 h100
  default class batch
  members slurm account "prod"
}
devices h100 { h100 }
)";

inline Instant at_second(int64_t at) { return instant_of_seconds(kSiteStart + at); }

// Nodes of eight; who runs stands on the first devices that are free.
class SiteOfEights {
 public:
  explicit SiteOfEights(int nodes) : engine_("alpha", {}) {
    for (int n = 1; n <= nodes; ++n) free_["n" + std::to_string(n)] = {0, 1, 2, 3, 4, 5, 6, 7};
    Partition all{.name = "all", .nodes = {}};
    for (const auto& [name, free] : free_) all.nodes.push_back(name);
    facts_ = {all, Qos{.name = "batch"}, Qos{.name = "urgent"}, Qos{.name = "steady"},
              Qos{.name = "fixed"}};
    for (const std::string& name : all.nodes) facts_.push_back(node(name));
    facts_.push_back(OrganisationStated{.files = {{"acme.policy", std::string(kFourClasses)}},
                                        .tables = {},
                                        .zones = {},
                                        .groups = {}});
  }
  static Node node(const std::string& name, int32_t cpus_used = 0) {
    return {.name = name,
            .state = NodeState::idle,
            .devices = {{"h100", 8}},
            .cpus = 64,
            .memory_mb = 512'000,
            .cpus_used = cpus_used,
            .features = {name == "n1" ? "ib" : "eth"}};
  }
  void add(What fact) { facts_.push_back(std::move(fact)); }
  Job& run(uint32_t id, const std::string& node, int32_t devices, int64_t at = 5) {
    Job& job = jobs_[id] = waiting_job(id, "prod", 1, devices, at_second(0));
    stand(job, node, at);
    return job;
  }
  Job& wait(uint32_t id, int32_t nodes, int32_t per_node) {
    return jobs_[id] = waiting_job(id, "prod", nodes, per_node, at_second(1));
  }
  void move(uint32_t id, const std::string& to, int64_t at) {
    Job& job = jobs_.at(id);
    std::vector<int32_t>& left = free_.at(job.held[0].node);
    left.insert(left.end(), job.held[0].devices.begin(), job.held[0].devices.end());
    job.held.clear();
    stand(job, to, at);
    ++job.restarts;
  }
  std::vector<Decision> poll(int64_t at) {
    std::vector<Decision> decisions;
    const auto step = [&](What what) {
      for (Decision& d : engine_.step({.at = at_second(at), .what = std::move(what)}))
        decisions.push_back(std::move(d));
    };
    step(PollBegan{});
    for (const What& fact : std::exchange(facts_, {})) step(fact);
    for (const auto& [id, job] : jobs_) step(job);
    step(PollEnded{});
    EXPECT_EQ(engine_.recount(), "");
    return decisions;
  }
  const State& state() const { return engine_.state(); }
  uint32_t number_of(WorkloadId id) const { return state().workloads.at(id).job.id; }
  const Suggestion* suggested(uint32_t id, SuggestionKind kind = SuggestionKind::make_room) const {
    const auto workload = state().queues.find(std::to_string(id));
    if (!workload) return nullptr;
    const auto found = state().suggested.now.find(*workload);
    return found == state().suggested.now.end() || found->second.kind != kind ? nullptr
                                                                              : &found->second;
  }
  int32_t free_on(const std::string& node) const {
    return static_cast<int32_t>(free_.at(node).size());
  }

 private:
  void stand(Job& job, const std::string& node, int64_t at) {
    std::vector<int32_t>& free = free_.at(node);
    NodeShare share{.node = node, .device_count = job.request.devices.total, .cpus = 8};
    for (; std::ssize(share.devices) < share.device_count; free.erase(free.begin()))
      share.devices.push_back(free.front());
    job.state = JobState::running;
    job.reason = "None";
    job.start = at_second(at);
    job.held = {share};
  }

  Engine engine_;
  std::vector<What> facts_;
  std::map<uint32_t, Job> jobs_;
  std::map<std::string, std::vector<int32_t>> free_;
};

}  // namespace fairlead
