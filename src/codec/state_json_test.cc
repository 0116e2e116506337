#include "codec/state_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/engine.h"

namespace fairlead {
namespace {

Engine busy_engine() {
  Engine engine("alpha", {});
  const Instant at = instant_of_seconds(7200);
  engine.step({.at = at, .what = PollBegan{.full = true}});
  engine.step(
      {.at = at, .what = Node{.name = "n1", .state = NodeState::mixed, .devices = {{"h100", 8}}}});
  Job job{.id = 1, .label = "1", .user = "ana \u00ff", .account = "research", .partition = "all"};
  job.state = JobState::running;
  job.start = at;
  job.held = {{.node = "n1", .devices = {0, 1}, .device_count = 2}};
  engine.step({.at = at, .what = job});
  engine.step({.at = at, .what = Association{.id = 7, .account = "research"}});
  engine.step({.at = at, .what = PollEnded{}});
  engine.step({.at = at + seconds(5000), .what = PollEnded{}});
  return engine;
}

TEST(StateJson, RoundTripsToTheSameDigest) {
  const Engine engine = busy_engine();
  const auto back = read_state(to_json(engine.state()));
  ASSERT_TRUE(back.has_value()) << to_text(back.error());
  EXPECT_EQ(to_json(*back), to_json(engine.state()));
  EXPECT_EQ(Engine(*back).recount(), "");
}

// Written before there were organisations: what is not there is not known, and follows from the
// job.
TEST(StateJson, ReadsASnapshotOfBeforeOrganisations) {
  std::string text = to_json(busy_engine().state());
  const auto cut = [&](const std::string& part) {
    ASSERT_TRUE(text.contains(part)) << part;
    text.erase(text.find(part), part.size());
  };
  cut(",\"organisation_stated\":{}");
  cut(fmt::format("\"account\":{},", *busy_engine().state().names.find("research")));
  const auto back = read_state(text);
  ASSERT_TRUE(back.has_value()) << to_text(back.error());
  const Engine engine(*back);
  EXPECT_EQ(engine.digest(), busy_engine().digest());
  EXPECT_EQ(engine.state().organisation, nullptr);
}

TEST(StateJson, RefusesWhatItCannotRead) {
  std::string text = to_json(busy_engine().state());
  EXPECT_EQ(read_state(text.substr(0, text.size() / 2)).error().code, "state-bad");
  EXPECT_EQ(read_state("").error().code, "state-bad");
  EXPECT_EQ(read_state(R"({"fairlead_state":99})").error().code, "state-version");
  EXPECT_EQ(read_state(R"({"site":"x"})").error().code, "state-bad");
}

}  // namespace
}  // namespace fairlead
