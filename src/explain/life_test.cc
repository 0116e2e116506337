// Arrays, heterogeneous jobs, and work that is over.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "explain/test_site.h"

namespace fairlead {
namespace {

using enum BlockerCode;

// Submitted, requeued, failed, and forgotten by the scheduler.
TEST(Explain, ALifeIsToldAfterTheSchedulerHasForgottenIt) {
  Engine engine("alpha", {});
  const auto at = [](int64_t s) { return instant_of_seconds(kNow + s); };
  for (const What& what : site()) engine.step({.at = at(0), .what = what});
  const auto poll = [&](int64_t second, What what) {
    if (Job* job = std::get_if<Job>(&what)) job->name = "train";
    engine.step({.at = at(second), .what = PollBegan{}});
    engine.step({.at = at(second), .what = std::move(what)});
    engine.step({.at = at(second), .what = PollEnded{}});
  };
  Job job = waiting(50, "None", gang(1, 2));
  job.submit = at(0);
  poll(1, job);
  Job first = running(50, "n4", {0, 1});
  first.submit = at(0);
  first.start = at(10);
  first.nodes = "n4";
  poll(11, first);
  Job again = waiting(50, "BeginTime", gang(1, 2));
  again.submit = at(20);
  again.restarts = 1;
  again.requeued = true;
  poll(21, again);
  Job second = running(50, "n5", {0, 1});
  second.submit = at(20);
  second.start = at(30);
  second.restarts = 1;
  second.nodes = "n5";
  poll(31, second);
  Job failed = second;
  failed.state = JobState::failed;
  failed.held.clear();
  failed.end = at(40);
  failed.exit_code = 139;
  poll(41, failed);
  Explanation told = *Explainer(engine.state()).explain("50");
  const auto check = [&] {
    EXPECT_TRUE(told.over);
    EXPECT_EQ(told.state, "failed");
    EXPECT_EQ(told.name, "train");
    EXPECT_EQ(told.wants, "1x2, time limit 1h");
    EXPECT_EQ(told.exit_code, 139);
    EXPECT_EQ(told.submitted, at(0));
    EXPECT_EQ(told.waited_us, seconds(10).us);
    EXPECT_EQ(told.ran_us, seconds(20).us);
    EXPECT_EQ(told.time_limit_s, 3600);
    EXPECT_EQ(told.gpu_seconds.lost, 20);
    EXPECT_EQ(told.gpu_seconds.held(), 40);
    ASSERT_EQ(told.runs.size(), 2u);
    EXPECT_EQ(told.runs[0], (RunTold{.epoch = 1,
                                     .submitted = at(0),
                                     .started = at(10),
                                     .ended = at(20),
                                     .state = "requeued",
                                     .nodes = "n4"}));
    EXPECT_EQ(told.runs[1], (RunTold{.epoch = 2,
                                     .submitted = at(20),
                                     .started = at(30),
                                     .ended = at(40),
                                     .state = "failed",
                                     .exit_code = 139,
                                     .nodes = "n5"}));
  };
  check();
  poll(400, JobGone{50});
  told = *Explainer(engine.state()).explain("50");
  check();
  EXPECT_FALSE(Explainer(engine.state()).explain("51"));
}

TEST(Explain, ATaskThatWaitsIsFoundInTheRecordOfItsArray) {
  Engine engine("alpha", {});
  Job array = waiting(50, "Priority", gang(1, 1));
  array.label = "50_[3-9%1]";
  array.array = {.id = 50, .waiting = "3-9%1", .waiting_count = 7, .running_max = 1};
  engine.step({.at = instant_of_seconds(kNow), .what = array});
  engine.step({.at = instant_of_seconds(kNow), .what = waiting(60, "Priority", gang(1, 1))});
  const Explainer explainer(engine.state());
  ASSERT_NE(explainer.find("50_7"), nullptr);
  EXPECT_EQ(explainer.find("50_7")->job.label, "50_[3-9%1]");
  EXPECT_EQ(explainer.find("50_10"), nullptr);  // no such task
  EXPECT_EQ(explainer.find("50_2"), nullptr);   // waits no more
  EXPECT_EQ(explainer.find("50_7x"), nullptr);
  EXPECT_NE(explainer.find("50_[2-9%1]"), nullptr);  // its name before 50_2 ran
  EXPECT_EQ(explainer.find("60_1"), nullptr);        // no array
  EXPECT_EQ(explainer.find("x_1"), nullptr);
}

TEST(Explain, TheListOfAnArrayMayHaveStepsAndMayBeCutShort) {
  const auto finds = [](const char* list, const char* task) {
    Engine engine("alpha", {});
    Job array = waiting(50, "Priority", gang(1, 1));
    array.label = fmt::format("50_[{}]", list);
    array.array = {.id = 50, .waiting = list, .waiting_count = 4};
    engine.step({.at = instant_of_seconds(kNow), .what = array});
    return Explainer(engine.state()).find(task) != nullptr;
  };
  EXPECT_TRUE(finds("1,4-6", "50_1"));
  EXPECT_TRUE(finds("1,4-6", "50_6"));
  EXPECT_FALSE(finds("1,4-6", "50_3"));
  EXPECT_TRUE(finds("0-12:4", "50_8"));
  EXPECT_FALSE(finds("0-12:4", "50_6"));
  EXPECT_TRUE(finds("1,3,5,...", "50_901"));
  EXPECT_TRUE(finds("0xff", "50_2"));
  EXPECT_TRUE(finds("", "50_2"));
}

TEST(Explain, ATaskWaitsForTheTaskOfItsNumber) {
  Engine engine("alpha", {});
  const auto state = [&](Job job) {
    engine.step({.at = instant_of_seconds(kNow), .what = std::move(job)});
  };
  Job first = running(41, "n1", {0});
  first.label = "40_0";
  first.array = {.id = 40, .task = 0};
  state(first);
  Job rest = waiting(40, "Priority", gang(1, 1));
  rest.label = "40_[1-3]";
  rest.array = {.id = 40, .waiting = "1-3", .waiting_count = 3};
  state(rest);
  Job after = waiting(50, "Dependency", gang(1, 1));
  after.label = "50_[0-3]";
  after.array = {.id = 50, .waiting = "0-3", .waiting_count = 4};
  after.request.dependency = "aftercorr:40_*(unfulfilled)";
  state(after);
  Explainer explainer(engine.state());
  const auto message = [&](const char* label) {
    const auto explanation = explainer.explain(label);
    for (const Blocker& b : explanation->blockers) {
      if (b.code == DEPENDENCY) return b.message;
    }
    return std::string();
  };
  EXPECT_EQ(message("50_0"), "waits for aftercorr:40_0, which is running");
  EXPECT_EQ(message("50_2"), "waits for aftercorr:40_2, which is pending");
  EXPECT_EQ(message("50"), "waits for aftercorr:40, which is pending");
}

TEST(Explain, AHeterogeneousJobWaitsForWhatAnyComponentWaitsFor) {
  Engine engine("alpha", {});
  const Instant now = instant_of_seconds(kNow);
  for (const What& what : site()) engine.step({.at = now, .what = what});
  const auto component = [](uint32_t id, int32_t offset, JobRequest request) {
    Job j = waiting(id, "Resources", std::move(request));
    j.account = "x";
    j.het_id = 70;
    j.het_offset = offset;
    j.label = "70+" + std::to_string(offset);
    return j;
  };
  engine.step({.at = now, .what = component(70, 0, gang(1, 8))});
  engine.step({.at = now, .what = component(71, 1, gang(1, 1, "b200"))});
  engine.step({.at = now, .what = PollEnded{}});
  Explainer explainer(engine.state());
  for (const char* label : {"70", "70+0", "70+1"}) {
    SCOPED_TRACE(label);
    const auto got = explainer.explain(label);
    ASSERT_TRUE(got);
    ASSERT_EQ(got->blockers.size(), 1u);
    EXPECT_EQ(got->blockers[0].code, DEVICES_NO_NODE);
    EXPECT_NE(got->wants.find(" : "), std::string::npos);
    EXPECT_TRUE(got->can_never_start);
  }
}

}  // namespace
}  // namespace fairlead
