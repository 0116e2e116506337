// The site that tests of explain/ look at, and jobs that wait on it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/engine.h"
#include "explain/explain.h"

namespace fairlead {

constexpr int64_t kNow = 10'000;

inline Job waiting(uint32_t id, std::string reason, JobRequest request) {
  Job j{.id = id,
        .label = std::to_string(id),
        .user = "ana",
        .account = "vision",
        .qos = "batch",
        .partition = "all"};
  j.state = JobState::pending;
  j.reason = std::move(reason);
  j.priority = 100;
  j.submit = instant_of_seconds(kNow - 600);
  j.request = std::move(request);
  return j;
}

inline JobRequest gang(int32_t nodes, int32_t per_node, std::string model = "") {
  return {.devices = {.model = std::move(model), .per_node = per_node, .total = nodes * per_node},
          .nodes_min = nodes,
          .time_limit_s = 3600};
}

inline Job running(uint32_t id, std::string node, std::vector<int32_t> devices) {
  Job j = waiting(id, "None", gang(1, static_cast<int32_t>(devices.size())));
  j.state = JobState::running;
  j.start = instant_of_seconds(kNow - 300);
  j.held = {{.node = std::move(node),
             .devices = devices,
             .device_count = static_cast<int32_t>(devices.size())}};
  return j;
}

// Eight nodes of eight h100 under two leaves. n1..n3 have four devices taken each, n8 is drained.
inline std::vector<What> site() {
  std::vector<What> facts;
  Partition all{.name = "all"};
  for (int i = 1; i <= 8; ++i) {
    const std::string name = "n" + std::to_string(i);
    all.nodes.push_back(name);
    facts.push_back(Node{.name = name,
                         .state = NodeState::idle,
                         .drain = i == 8,
                         .reason = i == 8 ? "bad fan" : "",
                         .devices = {{"h100", 8}},
                         .cpus = 64,
                         .memory_mb = 512'000,
                         .features = {"ib"}});
  }
  facts.push_back(all);
  Partition shorts = all;
  shorts.name = "short";
  shorts.time_max_s = 1800;
  shorts.nodes_max = 2;
  facts.push_back(shorts);
  Partition closed = all;
  closed.name = "maint";
  closed.up = false;
  closed.state = "DOWN";
  facts.push_back(closed);
  facts.push_back(Topology{{{.name = "leaf0", .nodes = {"n1", "n2", "n3", "n4"}},
                            {.name = "leaf1", .nodes = {"n5", "n6", "n7", "n8"}}}});
  facts.push_back(Scheduler{.cluster = "lab", .enforces_limits = true});
  facts.push_back(Qos{.name = "batch"});
  Qos small{.name = "small", .tres_per_user = {{"gres/gpu", 8}}};
  small.limits.wall_per_job_s = 7200;
  facts.push_back(small);
  facts.push_back(Association{.id = 1, .account = "root"});
  Association research{.id = 2, .parent = 1, .account = "research"};
  research.limits.tres_group = {{"gres/gpu", 20}};
  facts.push_back(research);
  facts.push_back(Association{.id = 3, .parent = 2, .account = "vision"});
  facts.push_back(Association{.id = 4, .parent = 3, .account = "vision", .user = "ana"});
  facts.push_back(Licence{.name = "sim", .total = 4, .used = 3});
  for (int i = 1; i <= 3; ++i)
    facts.push_back(running(static_cast<uint32_t>(i), "n" + std::to_string(i), {0, 1, 2, 3}));
  Job failed = waiting(9, "", gang(1, 1));
  failed.state = JobState::failed;
  facts.push_back(failed);
  return facts;
}

inline Explanation explain(const std::vector<What>& extra, const Job& job) {
  Engine engine("alpha", {});
  const Instant now = instant_of_seconds(kNow);
  engine.step({.at = now, .what = PollBegan{.full = true}});
  for (const What& what : site()) engine.step({.at = now, .what = what});
  for (const What& what : extra) engine.step({.at = now, .what = what});
  engine.step({.at = now, .what = job});
  engine.step({.at = now, .what = PollEnded{}});
  Explainer explainer(engine.state());
  return explainer.explain(*explainer.find(job.label));
}

// Four of the nodes are in maintenance now, for a reservation of somebody else.
inline std::vector<What> maintenance() {
  std::vector<What> facts{Reservation{.name = "fix",
                                      .start = instant_of_seconds(kNow - 60),
                                      .end = instant_of_seconds(kNow + 3600),
                                      .nodes = {"n4", "n5", "n6", "n7"},
                                      .flags = {"MAINT"}}};
  for (const char* name : {"n4", "n5", "n6", "n7"}) {
    facts.push_back(Node{.name = name,
                         .state = NodeState::idle,
                         .maintenance = true,
                         .devices = {{"h100", 8}},
                         .cpus = 64,
                         .memory_mb = 512'000,
                         .features = {"ib"}});
  }
  return facts;
}

inline Association spent(int64_t limit_minutes, int64_t used_minutes) {
  Association research{.id = 2, .parent = 1, .account = "research"};
  research.limits.tres_minutes_group = {{"gres/gpu", limit_minutes}};
  research.used.tres_minutes = {{"gres/gpu", used_minutes}};
  return research;
}

inline Job with(Job job, auto&& change) {
  change(job);
  return job;
}

}  // namespace fairlead
