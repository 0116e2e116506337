// Every cure that is told does what it says: the job is stated anew as the cure has it, and the
// engine that watches the site looks again.
#include "explain/cures.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "base/rng.h"
#include "explain/simulate.h"
#include "explain/test_site.h"

namespace fairlead {
namespace {

using enum BlockerCode;

constexpr std::string_view kAcme = R"(org acme v7
lang 1
class urgent { rank 20 preempts batch most 16 per workload }
class batch  { rank 10 most 24 per workload }
team acme {
  own 32 h100
  default class batch
  team vision { own 8 h100 borrow 8 h100 members slurm account "vision" }
  team speech { own 16 h100 borrow 0 h100 lend 4 h100 members slurm account "speech" }
  team other  { own 8 h100 members slurm account "other" }
}
devices h100 { h100 }
reclaim for-waiting { wait 5m most 5 evictions per 10m }
)";

// A state drawn from numbers: each is a job, and what it is lies in its digits. Six nodes of eight
// under three leaves; the last is drained.
class DrawnSite {
 public:
  explicit DrawnSite(const std::vector<uint32_t>& numbers, const std::vector<Job>& jobs = {})
      : engine_("alpha", {}) {
    Partition all{.name = "all"};
    std::vector<What> facts;
    for (int i = 1; i <= 6; ++i) {
      all.nodes.push_back("n" + std::to_string(i));
      facts.push_back(
          Node{.name = all.nodes.back(),
               .state = NodeState::idle,
               .drain = i == 6,
               .devices = {{"h100", 8}},
               .cpus = 64,
               .memory_mb = 512'000,
               .features = i > 3 ? std::vector<std::string>{"ib"} : std::vector<std::string>{}});
    }
    facts.push_back(all);
    facts.push_back(Topology{{{.name = "leaf0", .nodes = {"n1", "n2"}},
                              {.name = "leaf1", .nodes = {"n3", "n4"}},
                              {.name = "leaf2", .nodes = {"n5", "n6"}}}});
    for (const char* qos : {"batch", "urgent"}) facts.push_back(Qos{.name = qos});
    facts.push_back(OrganisationStated{
        .files = {{"acme.policy", std::string(kAcme)}}, .tables = {}, .zones = {}, .groups = {}});
    for (const uint32_t number : numbers) facts.push_back(drawn(number));
    for (const Job& job : jobs) facts.push_back(job);
    poll(engine_, facts);
  }

  const Engine& engine() const { return engine_; }

  static void poll(Engine& engine, const std::vector<What>& facts) {
    const auto step = [&](What what) {
      engine.step({.at = instant_of_seconds(kNow), .what = std::move(what)});
    };
    step(PollBegan{});
    for (const What& fact : facts) step(fact);
    step(PollEnded{});
  }

 private:
  Job drawn(uint32_t number) {
    const auto digit = [&](uint32_t of) {
      const uint32_t d = number % of;
      number /= of;
      return static_cast<int32_t>(d);
    };
    const bool runs = digit(2) == 0;
    const int32_t nodes = 1 + digit(5), per_node = 1 << digit(4);
    Job j = waiting(next_++, "None", gang(nodes, per_node, "h100"));
    j.account =
        std::vector<std::string>{"vision", "speech", "other"}[static_cast<size_t>(digit(3))];
    j.qos = digit(4) == 0 ? "urgent" : "batch";
    j.request.time_limit_s = 600 * (1 + digit(12));
    j.request.switches = digit(4) == 0 ? 1 : 0;
    j.submit = instant_of_seconds(kNow - 60 * (1 + digit(20)));
    if (digit(5) == 0) j.request.features = digit(2) == 0 ? "ib" : "roce";
    if (digit(5) == 0) j.request.devices.per_node = 0;
    if (!runs) return j;
    for (int32_t n = 0; n < 5 && std::ssize(j.held) < nodes; ++n) {
      if (used_[n] + per_node > 8) continue;
      NodeShare share{.node = "n" + std::to_string(n + 1), .device_count = per_node};
      for (int32_t d = 0; d < per_node; ++d) share.devices.push_back(used_[n]++);
      j.held.push_back(share);
    }
    if (j.held.empty()) return j;
    j.request.nodes_min = static_cast<int32_t>(j.held.size());
    j.request.devices = {
        .model = "h100", .per_node = per_node, .total = per_node * j.request.nodes_min};
    j.request.features.clear();
    j.state = JobState::running;
    j.start = instant_of_seconds(kNow - 300);
    return j;
  }

  Engine engine_;
  uint32_t next_ = 1;
  int32_t used_[6] = {};
};

std::string told(const Blocker& b) {
  return std::string(enum_name(b.code)) + " (" + b.object + "): " + b.cure;
}

void expect_cured(const Engine& before, const Workload& w, const Blocker& b) {
  Engine engine{State(before.state())};
  DrawnSite::poll(engine, {with_request(w.job, b.cure_request)});
  Explainer explainer(engine.state());
  const Explanation x = explainer.explain(*explainer.find(w.job.label));
  for (const Blocker& left : x.blockers) {
    if (left.code == b.code && left.object == b.object && left.limit_name == b.limit_name)
      RC_FAIL(told(b) + " is still there: " + left.message);
    if (b.cure_effect == CureEffect::starts && left.code != NOT_YET_EXAMINED &&
        left.code != PRIORITY)
      RC_FAIL(told(b) + " leaves " + enum_name(left.code));
  }
  if (b.cure_effect != CureEffect::starts) return;
  if (x.policy.verdict != "start") RC_FAIL(told(b) + " has verdict " + x.policy.verdict);
  if (!x.policy.takes_back.empty()) RC_FAIL(told(b) + " takes something back");
}

TEST(Cures, EveryOneDoesWhatItSays) {
  std::map<BlockerCode, int> tried, starts;
  const auto check = [&](const std::vector<uint32_t>& numbers) {
    const DrawnSite site(numbers);
    Explainer explainer(site.engine());
    for (const auto& [id, w] : site.engine().state().workloads) {
      if (w.job.state != JobState::pending) continue;
      const Explanation x = explainer.explain(w);
      for (const Blocker& b : x.blockers) {
        if (b.cure_effect == CureEffect::none) continue;
        ++tried[b.code];
        starts[b.code] += b.cure_effect == CureEffect::starts ? 1 : 0;
        expect_cured(site.engine(), w, b);
      }
    }
  };
  EXPECT_TRUE(rc::check("a cure that is told cures", [&] {
    check(*rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, 200'000'000)));
  }));
  // And of each kind there are some, in sites that are always the same ones: else the property
  // would say nothing of them.
  tried.clear();
  starts.clear();
  const BlockerCode kinds[] = {CLASS_LIMIT, TEAM_LIMIT,          CAPACITY,
                               FRAGMENTED,  TOPOLOGY_FRAGMENTED, FEATURES_NO_NODE};
  const auto is_missing = [&](BlockerCode code) { return starts[code] == 0; };
  Rng rng(5);
  for (int site = 0; site < 60 || (site < 1000 && std::ranges::any_of(kinds, is_missing)); ++site) {
    std::vector<uint32_t> numbers(6 + rng.below(50));
    for (uint32_t& n : numbers) n = static_cast<uint32_t>(rng.below(200'000'000));
    check(numbers);
  }
  for (const BlockerCode code : kinds) {
    EXPECT_GT(tried[code], 0) << enum_name(code);
    EXPECT_GT(starts[code], 0) << enum_name(code);
  }
}

// A question changes nothing: what is asked next, and what is planned next, is as if it had not
// been asked.
TEST(Cures, AThousandQuestionsChangeNothing) {
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < 24; ++i) numbers.push_back(i * 77'777'777 + 12'345 * i * i);
  const DrawnSite site(numbers), other(numbers);
  const Digest before = site.engine().digest();
  for (int i = 0; i < 1000; ++i) {
    Job job = waiting(999, "", gang(1 + i % 5, 1 + i % 8, "h100"));
    job.account = i % 2 == 0 ? "speech" : "other";
    (void)simulate(site.engine(), job);
  }
  EXPECT_EQ(site.engine().digest(), before);
  Engine asked = site.engine(), unasked = other.engine();
  for (Engine* engine : {&asked, &unasked})
    DrawnSite::poll(*engine, {waiting(77, "None", gang(1, 4, "h100"))});
  EXPECT_EQ(asked.digest(), unasked.digest());
}

// What is asked before is what happens afterwards.
TEST(Cures, SimulateIsTheRealDecision) {
  const bool held = rc::check("a simulated job is decided as a submitted one", [] {
    const DrawnSite site(
        *rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, 200'000'000)));
    Job job = waiting(999, "None", gang(*rc::gen::inRange(1, 5), *rc::gen::inRange(1, 9), "h100"));
    job.account = *rc::gen::element<std::string>("vision", "speech", "other");
    job.submit = instant_of_seconds(kNow);
    const Explanation asked = simulate(site.engine(), job);
    Engine engine{State(site.engine().state())};
    DrawnSite::poll(engine, {job});
    const Explanation real = Explainer(engine.state()).explain("999").value();
    RC_ASSERT(asked.policy.verdict == real.policy.verdict);
    RC_ASSERT(asked.policy.nodes == real.policy.nodes);
    RC_ASSERT(asked.policy.because == real.policy.because);
    RC_ASSERT(asked.policy.at == real.policy.at);
    RC_ASSERT(asked.policy.takes_back == real.policy.takes_back);
  });
  EXPECT_TRUE(held);
}

TEST(Cures, ATimeLimitThatEndsBeforeSomebodysStart) {
  std::vector<Job> jobs;
  for (uint32_t i = 1; i <= 4; ++i) {
    jobs.push_back(running(i, "n" + std::to_string(i), {0, 1, 2, 3, 4, 5, 6, 7}));
    jobs.back().account = i > 2 ? "speech" : i > 1 ? "other" : "vision";
  }
  for (const uint32_t id : {10u, 11u}) {
    jobs.push_back(waiting(id, "None", gang(id == 10 ? 2 : 1, 8, "h100")));
    jobs.back().account = "other";
    jobs.back().request.time_limit_s = 7200;
    jobs.back().submit = instant_of_seconds(kNow - 1000 + id);
  }
  const DrawnSite site({}, jobs);
  const Explanation x = Explainer(site.engine()).explain("11").value();
  const auto b = std::ranges::find(x.blockers, RESERVED_AHEAD, &Blocker::code);
  ASSERT_NE(b, x.blockers.end());
  EXPECT_EQ(b->cure, "time limit 55m: starts now");
  expect_cured(site.engine(), *Explainer(site.engine()).find("11"), *b);
}

// n1 to n4 have six free, n5 has two; eight are asked for together. n6 takes no work.
TEST(Cures, OthersWouldMakeRoom) {
  std::vector<Job> jobs;
  for (uint32_t i = 1; i <= 5; ++i) {
    std::vector<int32_t> devices{0, 1};
    if (i == 5) devices = {0, 1, 2, 3, 4, 5};
    jobs.push_back(running(i, "n" + std::to_string(i), devices));
    jobs.back().account = "speech";
    jobs.back().may_requeue = true;
  }
  Job eight = waiting(10, "Resources", gang(1, 8, "h100"));
  eight.account = "other";
  const DrawnSite before({}, jobs);
  const Explanation asked = simulate(before.engine(), eight);
  jobs.push_back(eight);
  const DrawnSite site({}, jobs);
  const Explanation x = Explainer(site.engine()).explain("10").value();
  const auto b = std::ranges::find(x.blockers, FRAGMENTED, &Blocker::code);
  ASSERT_NE(b, x.blockers.end());
  EXPECT_EQ(b->cure, "move 1 job (2 GPUs), 1 from n1 to n5: starts now");
  EXPECT_EQ(b->cure_effect, CureEffect::starts);
  EXPECT_EQ(b->cure_request, CureRequest{}) << "of itself it changes nothing";
  EXPECT_EQ(x.policy.verdict, "make_room");
  EXPECT_EQ(x.policy.nodes, "n1");
  ASSERT_EQ(x.policy.moves.size(), 1u);
  EXPECT_EQ(x.policy.moves[0].lost_gpu_seconds, 2 * 300);
  EXPECT_EQ(asked.policy.verdict, x.policy.verdict);
  EXPECT_EQ(asked.policy.nodes, x.policy.nodes);
  EXPECT_EQ(asked.policy.moves, x.policy.moves);
}

TEST(Cures, OneChangeForAll) {
  std::vector<uint32_t> none;
  const DrawnSite site(none);
  Job job = waiting(50, "None", gang(3, 8, "h100"));
  job.request.features = "roce";
  const Explanation x = simulate(site.engine(), job);
  ASSERT_EQ(x.blockers.size(), 2u);
  EXPECT_EQ(x.blockers[0].cure, "without this constraint: leaves TEAM_LIMIT");
  EXPECT_EQ(x.blockers[1].cure, "2x8 h100 instead of 3x8 h100: leaves FEATURES_NO_NODE");
  EXPECT_EQ(x.enough, "2x8 h100 instead of 3x8 h100, without this constraint: starts now");
}

}  // namespace
}  // namespace fairlead
