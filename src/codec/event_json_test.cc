#include "codec/event_json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead {
namespace {

Event job_event() {
  Job job;
  job.id = 4242;
  job.label = "4242";
  job.user = "ana \"q\" \xff\n";
  job.state = JobState::running;
  job.request.devices = {.model = "h100", .per_node = 8, .total = 16};
  job.held = {{.node = "n001", .devices = {0, 1, 2}, .device_count = 3}};
  return {.seq = 7, .at = {1'796'025'540'000'000}, .what = job};
}

TEST(EventJson, WritesOnlyWhatIsNotDefault) {
  EXPECT_EQ(to_json(Event{.at = {5}, .what = Tick{}}), R"({"at":5,"tick":{}})");
  EXPECT_EQ(to_json(Event{.seq = 1, .at = {5}, .what = JobGone{.id = 9}}),
            R"({"seq":1,"at":5,"job_gone":{"id":9}})");
}

TEST(EventJson, ReadsBackAJob) {
  Event want = job_event();
  const auto got = read_event(to_json(want));
  ASSERT_TRUE(got.has_value()) << to_text(got.error());
  std::get<Job>(want.what).user =
      "ana \"q\" \u00ff\n";  // a byte that is no UTF-8 becomes a character
  EXPECT_EQ(*got, want);
}

struct BadRow {
  std::string_view name;
  std::string_view line;
  std::string_view want;  // is part of the message
};

TEST(EventJson, RefusesWithAReason) {
  const BadRow rows[] = {
      {.name = "cut in the middle", .line = R"({"at":5,"job":{"id":4)", .want = ""},
      {.name = "no kind", .line = R"({"at":5})", .want = "no kind"},
      {.name = "unknown kind", .line = R"({"at":5,"pod":{}})", .want = "'pod'"},
      {.name = "two kinds", .line = R"({"at":5,"tick":{},"job_gone":{}})", .want = "second kind"},
      {.name = "wrong type",
       .line = R"({"at":5,"job":{"id":"x"}})",
       .want = "job.id: expected a whole"},
      {.name = "too large",
       .line = R"({"at":5,"job":{"id":4294967296}})",
       .want = "smaller number"},
      {.name = "unknown word", .line = R"({"at":5,"job":{"state":"zzz"}})", .want = "'zzz'"},
      {.name = "text after", .line = R"({"at":5,"tick":{}} x)", .want = "not JSON"},
  };
  for (const BadRow& row : rows) {
    SCOPED_TRACE(row.name);
    const auto got = read_event(row.line);
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().code, "event-bad");
    EXPECT_NE(got.error().message.find(row.want), std::string::npos) << got.error().message;
  }
}

TEST(EventJson, RefusesAnotherVersion) {
  EXPECT_TRUE(check_event_header(event_header()).has_value());
  EXPECT_EQ(check_event_header(R"({"fairlead_events":2})").error().code, "event-version");
  EXPECT_EQ(check_event_header("hello").error().code, "event-bad");
}

TEST(EventJson, SkipsMembersOfANewerWriter) {
  const auto got = read_event(R"({"at":5,"job_gone":{"id":9,"why":{"deep":[1,2]}}})");
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(std::get<JobGone>(got->what).id, 9u);
}

TEST(EventJson, AQuestionHasNoMembersThatAreNotKnown) {
  const auto told = [](const char* line) {
    const auto event = read_event(line, json::Unknown::refused);
    return event ? std::string("read") : event.error().message;
  };
  EXPECT_EQ(told(R"({"job":{"request":{"nodes_min":2}}})"), "read");
  EXPECT_EQ(told(R"({"job":{"request":{"node_min":2}}})"),
            "job.request: no member is called 'node_min'; did you mean 'nodes_min'?");
  EXPECT_EQ(told(R"({"job":{"qqqqqqqq":1}})").substr(0, 36),
            "job: no member is called 'qqqqqqqq';");
}

RC_GTEST_PROP(EventJson, AnyTextSurvivesAsValidJson, (const std::string& text)) {
  Event event = job_event();
  std::get<Job>(event.what).name = text;
  RC_ASSERT(read_event(to_json(event)).has_value());
}

}  // namespace
}  // namespace fairlead
