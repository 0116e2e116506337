// One fixed journal, one fixed digest: two compilers, two machines, two days must agree.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "codec/event_json.h"
#include "sim/random_walk.h"
#include "sim/replay.h"
#include "sim/watched_site.h"

namespace fairlead {
namespace {

// Changes when State gains a part or the engine concludes something else from the same events. If
// that is meant, write the digest that the test prints; if it is not, this is the defect.
constexpr std::string_view kWalkDigest = "5a5a663f0f2cbc0c";
constexpr std::string_view kDigest = "91f1ffde40b12297";

std::string golden_path() {
  const char* dir = std::getenv("FAIRLEAD_SOURCE_DIR");
  return std::string(dir == nullptr ? "." : dir) + "/tests/data/golden.events";
}

ModelSubmission job(std::string team, int32_t nodes, int32_t per_node, int64_t runs_s,
                    std::vector<Phase> does = {}) {
  ModelSubmission s;
  s.job.name = "golden";
  s.job.user = "ana";
  s.job.account = std::move(team);
  s.job.qos = "normal";
  s.job.partition = "gpu";
  s.job.request = {.devices = {.model = "h100", .per_node = per_node, .total = per_node * nodes},
                   .nodes_min = nodes,
                   .time_limit_s = 7200};
  s.runs_s = runs_s;
  s.does = std::move(does);
  return s;
}

// A morning of a small site with a bit of everything.
std::string make_journal() {
  std::string out = event_header() + "\n";
  WatchedSite site(instant_of_seconds(1'767'225'600),
                   {.poll_every = seconds(60), .look_every = seconds(120)});
  site.stepped = [&](const Event& event) { out += to_json(event) + "\n"; };
  SlurmModel& m = site.slurm();
  for (const char* name : {"n1", "n2", "n3"})
    m.put(Node{.name = name,
               .state = NodeState::idle,
               .devices = {{"h100", 2}},
               .cpus = 64,
               .memory_mb = 1'000'000});
  m.put(Partition{.name = "gpu", .nodes = {"n1", "n2", "n3"}});
  const auto at = [&](int64_t minute) {
    site.run_until(site.slurm().now() + seconds(minute * 60), true);
  };
  m.submit(job("llm", 2, 2, 3600,
               {{.after_s = 0, .doing = Doing::busy}, {.after_s = 900, .doing = Doing::quiet}}));
  m.submit(job("ads", 1, 2, 1800, {{.after_s = 0, .doing = Doing::stuck}}));
  at(10);
  ModelSubmission sweep = job("ads", 1, 1, 300);
  sweep.array = "0-3%2";
  m.submit(std::move(sweep));
  at(25);
  m.fail_node("n1");
  at(10);
  m.undrain("n1");
  m.crash();
  at(3);
  m.restart();
  at(10);
  site.set_telemetry_away(true);
  at(5);
  site.set_telemetry_away(false);
  m.drain("n3", "fan");
  at(10);
  site.stop_watching();
  at(20);
  site.start_watching();
  m.undrain("n3");
  at(90);
  return out;
}

TEST(Golden, TheSameEventsGiveTheSameDigestEverywhere) {
  std::ifstream file(golden_path(), std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  const std::string journal = content.str();
  ASSERT_FALSE(journal.empty()) << golden_path() << "; FAIRLEAD_UPDATE=1 makes it";
  std::istringstream lines(journal);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const auto event = read_event(line);
    ASSERT_TRUE(event) << line;
    ASSERT_EQ(to_json(*event), line);
  }
  std::vector<HistoryInput> inputs{{golden_path(), journal}};
  const auto history = read_history(std::move(inputs));
  ASSERT_TRUE(history);
  ReplayOptions options;
  options.rules.evidence.idle_hold_after = seconds(600);
  const ReplayResult result = replay(*history, options);
  EXPECT_EQ(result.engine.recount(), "");
  EXPECT_EQ(to_text(result.engine.digest()), kDigest);
}

TEST(Golden, TheSameSeedGivesTheSameWalkEverywhere) {
  EXPECT_EQ(to_text(random_walk({.seed = 12, .steps = 700}).digest), kWalkDigest);
}

TEST(Golden, TheJournalIsWrittenAnewOnlyWhenAsked) {
  if (std::getenv("FAIRLEAD_UPDATE") == nullptr)
    GTEST_SKIP() << "FAIRLEAD_UPDATE=1 writes " << golden_path();
  std::ofstream(golden_path(), std::ios::binary) << make_journal();
}

}  // namespace
}  // namespace fairlead
