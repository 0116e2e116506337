// Cases that must hold of the whole engine, with the numbers of the report.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "core/allocator.h"
#include "core/team_books.h"
#include "core/test_jobs.h"
#include "core/test_restart.h"

namespace fairlead {
namespace {

constexpr int64_t kStart = 7200;

constexpr std::string_view kAcme = R"(org acme v1
lang 1
class batch { rank 10 }
team acme {
  own 800 h100
  default class batch
  team product  { own 16 h100  borrow 16 h100  members slurm account "prod" }
  team research { own 16 h100  borrow 8 h100  members slurm account "res" }
  team gangs    { own 768 h100  members slurm account "gangs" }
}
devices h100 { h100 }
)";

struct Asked {
  uint32_t id = 0;
  std::string account;
  int32_t nodes = 1, per_node = 1;
};

Job job(const Asked& asked) {
  return waiting_job(asked.id, asked.account, asked.nodes, asked.per_node,
                     instant_of_seconds(kStart + 1));
}

class Site {
 public:
  explicit Site(int nodes) : engine_("alpha", {}) {
    Partition all{.name = "all"};
    for (int i = 0; i < nodes; ++i) all.nodes.push_back("n" + std::to_string(i));
    step(0, PollBegan{});
    step(0, all);
    step(0, Qos{.name = "batch"});
    for (const std::string& name : all.nodes)
      step(0, Node{.name = name, .state = NodeState::idle, .devices = {{"h100", 8}}});
    step(0, OrganisationStated{.files = {{"acme.policy", std::string(kAcme)}},
                               .tables = {},
                               .zones = {},
                               .groups = {}});
    step(0, PollEnded{});
  }
  void step(int64_t at, What what) {
    engine_.step({.at = instant_of_seconds(kStart + at), .what = std::move(what)});
  }
  void poll(int64_t at, const std::vector<Job>& jobs) {
    step(at, PollBegan{});
    for (const Job& j : jobs) step(at, j);
    step(at, PollEnded{});
    EXPECT_EQ(engine_.recount(), "");
  }
  void restart() { engine_ = restarted(engine_); }
  const State& state() const { return engine_.state(); }
  const Workload& workload(uint32_t id) const {
    return state().workloads.at(*state().queues.find(std::to_string(id)));
  }
  // Where it would start now; nothing: it would not.
  std::optional<std::string> start(uint32_t id) const {
    const auto found = state().queues.find(std::to_string(id));
    if (!found) return std::nullopt;
    const auto made = state().suggested.now.find(*found);
    if (made == state().suggested.now.end() || made->second.kind != SuggestionKind::start)
      return std::nullopt;
    return made->second.nodes;
  }
  // What a scheduler says of a job that it has started on any devices that are free.
  Job started(Job j, int64_t at) const {
    int32_t wanted = j.request.nodes_min;
    for (const FleetNode& node : state().fleet.nodes()) {
      NodeShare share{.node = node.facts.name, .device_count = j.request.devices.per_node};
      for (const DeviceIndex d : node.devices)
        if (state().devices[d].holder == 0 && std::ssize(share.devices) < share.device_count)
          share.devices.push_back(state().fleet.device(d).index);
      if (std::ssize(share.devices) < share.device_count) continue;
      j.held.push_back(share);
      if (--wanted == 0) break;
    }
    EXPECT_EQ(wanted, 0);
    j.state = JobState::running;
    j.reason = "None";
    j.start = instant_of_seconds(kStart + at);
    return j;
  }

 private:
  Engine engine_;
};

Job ended(Job j, int64_t at) {
  j.state = JobState::completed;
  j.end = instant_of_seconds(kStart + at);
  j.held.clear();
  return j;
}

// Two gangs of all nodes come in the same millisecond; we crash at any point, the scheduler starts
// what is suggested at any other, and what it says comes late.
TEST(Cases, OfTwoGangsThatWantAllOneRunsWhole) {
  const Site fresh(100);
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Site site = fresh;
    std::vector<Job> gangs{job({.id = 1, .account = "gangs", .nodes = 100, .per_node = 8}),
                           job({.id = 2, .account = "gangs", .nodes = 100, .per_node = 8})};
    if (rng.below(2) == 0) std::swap(gangs[0], gangs[1]);
    const auto maybe_crash = [&] {
      if (rng.below(4) == 0) site.restart();
    };
    std::optional<Job> runs, unseen;  // as the scheduler has it, and has not said yet
    for (int64_t at = 10; at < 100; at += 10) {
      site.step(at, PollBegan{});
      for (const Job& g : gangs) {
        maybe_crash();
        if (at == 10) site.step(at, g);
      }
      if (unseen && rng.below(2) == 0) {
        site.step(at, *unseen);
        unseen.reset();
      }
      maybe_crash();
      site.step(at, PollEnded{});
      maybe_crash();
      const bool first = site.start(1).has_value(), second = site.start(2).has_value();
      ASSERT_FALSE(first && second);
      for (const uint32_t id : {1u, 2u}) {
        const size_t held = site.workload(id).devices.size();
        ASSERT_TRUE(held == 0 || held == 800) << "never a part";
      }
      if (runs) {
        ASSERT_FALSE(site.start(runs->id == 1 ? 2 : 1)) << "booked by who runs, or would";
      } else if ((first || second) && rng.below(2) == 0) {
        const uint32_t id = first ? 1 : 2;
        const Job& gang = *std::ranges::find(gangs, id, &Job::id);
        runs = unseen = site.started(gang, at);
      }
    }
  }
}

// Work comes and goes under limits, and we are restarted fifty times.
TEST(Cases, RestartsUnderLoadChangeNoUsageAndAdmitNothingAboveALimit) {
  Site site(8);
  Rng rng(5);
  std::map<uint32_t, Job> jobs;
  uint32_t next = 1;
  int64_t at = 0;
  for (int restarts = 0; restarts < 50; ++restarts) {
    at += 60;
    std::vector<Job> said;
    for (auto& [id, j] : jobs)
      if (j.state == JobState::running && rng.below(5) == 0) said.push_back(j = ended(j, at));
    for (int i = 0; i < 4; ++i, ++next)
      said.push_back(jobs[next] = job({.id = next,
                                       .account = rng.below(2) == 0 ? "prod" : "res",
                                       .per_node = 1 << rng.below(4)}));
    site.poll(at, said);
    for (auto& [id, j] : jobs) {  // the scheduler follows, one at a time
      if (j.state != JobState::pending || !site.start(id)) continue;
      site.poll(at, {j = site.started(j, at)});
    }
    const auto before = quota_of(site.state());
    const auto usage_before = usages_of(site.state());
    site.restart();
    const auto after = quota_of(site.state());
    const auto usage_after = usages_of(site.state());
    EXPECT_EQ(usage_before.direct, usage_after.direct);
    EXPECT_EQ(usage_before.with_children, usage_after.with_children);
    for (policy::TeamId t = 0; t < site.state().organisation->rules().teams.size(); ++t) {
      EXPECT_EQ(before.used(t, 0), after.used(t, 0));
      EXPECT_LE(after.inner(t, 0), after.limit(t, 0));
    }
  }
  int64_t held = 0;
  for (const auto& [id, workload] : site.state().workloads) held += std::ssize(workload.devices);
  EXPECT_GT(held, 32) << "there was load";
}

// Whatever a job says of itself later, what it holds is charged to whom it was.
TEST(Cases, NoDeviceRunsWithoutACharge) {
  Site site(4);
  const auto used = [&](std::string_view team) {
    const auto& rules = site.state().organisation->rules();
    return quota_of(site.state()).used(*rules.team(team), 0);
  };
  Job mine = site.started(job({.id = 1, .account = "prod", .per_node = 8}), 5);
  site.poll(10, {mine});
  EXPECT_EQ(used("product"), policy::devices(8));
  mine.account = "res";  // labels change while it runs
  mine.qos = "none-such";
  site.poll(20, {mine});
  EXPECT_EQ(used("product"), policy::devices(8));
  EXPECT_EQ(used("research"), policy::Milli{});
  // Somebody else's name, nobody's name, and a request that says less than is held.
  Job odd = site.started(job({.id = 2, .account = "../product", .per_node = 8}), 25);
  odd.request.devices = {.model = "", .per_node = -5, .total = 0};
  site.poll(30, {odd});
  EXPECT_EQ(used("product"), policy::devices(8));
  EXPECT_EQ(used("acme"), policy::devices(16)) << "the root's";
}

}  // namespace
}  // namespace fairlead
