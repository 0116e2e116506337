#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/history_read.h"
#include "sim/replay.h"

namespace fairlead {
namespace {

constexpr std::string_view kHeader =
    "JobID|User|Account|QOS|Partition|State|Submit|Start|End|Timelimit|NNodes|ReqTRES|AllocTRES|"
    "NodeList\n";
constexpr int64_t kMidnight = 1'767'225'600;  // 2026-01-01T00:00:00Z

History read(std::string text, HistoryOptions options = {}) {
  std::vector<HistoryInput> inputs;
  inputs.push_back({"dump", std::move(text)});
  auto history = read_history(std::move(inputs), options);
  EXPECT_TRUE(history) << to_text(history.error());
  return history ? std::move(*history) : History{};
}

// One line an event: minutes since midnight, label, state, devices, restarts where there are any.
std::string events_of(const History& history) {
  std::string out;
  HistoryCursor cursor(history);
  Instant last;
  while (const Event* event = cursor.next()) {
    EXPECT_LE(last, event->at);
    last = event->at;
    const int64_t minute = (floor_seconds(event->at) - kMidnight) / 60;
    if (const Job* job = std::get_if<Job>(&event->what)) {
      out += fmt::format("{} {} {} {}{}\n", minute, job->label, enum_name(job->state),
                         job->request.devices.total,
                         job->restarts > 0 ? fmt::format(" restart {}", job->restarts) : "");
    } else if (std::get_if<JobGone>(&event->what)) {
      out += fmt::format("{} gone\n", minute);
    }
  }
  return out;
}

struct EventsRow {
  std::string_view name;
  std::string_view rows;
  std::string_view want;
};

constexpr EventsRow kEventsRows[] = {
    {.name = "a job waits, runs and ends",
     .rows = "4|ana|llm|normal|gpu|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-01T00:"
             "35:00|01:00:00|1|cpu=8,gres/gpu=8|cpu=8,gres/gpu:h100=8,gres/gpu=8|n1\n",
     .want = "0 4 pending 8\n5 4 running 8\n35 4 completed 8\n35 gone\n"},
    {.name = "a job cancelled while it waits never starts, whatever Start says",
     .rows = "4|ana|llm|normal|gpu|CANCELLED by "
             "1001|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-01T00:05:00||1|gres/gpu=2||None "
             "assigned\n",
     .want = "0 4 pending 2\n5 4 cancelled 2\n5 gone\n"},
    {.name = "a job that still runs has no end",
     .rows = "4|ana|llm|normal|gpu|RUNNING|2026-01-01T00:00:00|2026-01-01T00:05:00|Unknown||1|gres/"
             "gpu=2|gres/gpu=2|n1\n",
     .want = "0 4 pending 2\n5 4 running 2\n"},
    {.name = "steps are no jobs",
     .rows = "4|ana|llm|normal|gpu|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-01T00:"
             "06:00||1|||n1\n"
             "4.batch|||||COMPLETED|2026-01-01T00:05:00|2026-01-01T00:05:00|2026-01-01T00:06:00||1|"
             "||n1\n",
     .want = "0 4 pending 0\n5 4 running 0\n6 4 completed 0\n6 gone\n"},
    {.name = "a requeued job is one workload of two runs",
     .rows = "4|ana|llm|normal|gpu|REQUEUED|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-01T00:"
             "10:00||1|gres/gpu=2|gres/gpu=2|n1\n"
             "4|ana|llm|normal|gpu|COMPLETED|2026-01-01T00:10:00|2026-01-01T00:20:00|2026-01-01T00:"
             "30:00||1|gres/gpu=2|gres/gpu=2|n1\n",
     .want = "0 4 pending 2\n5 4 running 2\n10 4 preempted 2\n10 4 pending 2 restart 1\n20 4 "
             "running 2 restart 1\n"
             "30 4 completed 2 restart 1\n30 gone\n"},
    {.name = "an id that another job got later is another workload",
     .rows =
         "4|bob|llm|normal|gpu|COMPLETED|2026-01-01T00:20:00|2026-01-01T00:20:00|2026-01-01T00:30:"
         "00||1|||n1\n"
         "4|ana|llm|normal|gpu|RUNNING|2026-01-01T00:00:00|2026-01-01T00:05:00|Unknown||1|||n1\n",
     .want = "0 4 pending 0\n5 4 running 0\n20 4 vanished 0\n20 gone\n20 4 pending 0\n20 4 running "
             "0\n30 4 completed 0\n30 gone\n"},
    {.name = "a shrunk job goes on with less",
     .rows = "4|ana|llm|normal|gpu|RESIZING|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-01T00:"
             "10:00||4|gres/gpu=32|gres/gpu=32|n[1-4]\n"
             "4|ana|llm|normal|gpu|COMPLETED|2026-01-01T00:10:00|2026-01-01T00:10:00|2026-01-01T00:"
             "30:00||2|gres/gpu=16|gres/gpu=16|n[1-2]\n",
     .want = "0 4 pending 32\n5 4 running 32\n10 4 running 16\n30 4 completed 16\n30 gone\n"},
    {.name = "tasks of an array are jobs, those that wait are one",
     .rows = "4_3|ana|llm|normal|gpu|FAILED|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-01T00:"
             "06:00||1|gres/gpu=1|gres/gpu=1|n1\n"
             "4_[5-9%2]|ana|llm|normal|gpu|PENDING|2026-01-01T00:00:00|Unknown|Unknown||1|gres/"
             "gpu=1||None assigned\n",
     .want = "0 4_[5-9%2] pending 1\n0 4_3 pending 1\n5 4_3 running 1\n6 4_3 failed 1\n6 gone\n"},
    {.name = "parts of a heterogeneous job are told apart",
     .rows = "77+0|ana|llm|normal|gpu|TIMEOUT|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-"
             "01T00:06:00||1|gres/gpu=1|gres/gpu=1|n1\n"
             "77+1|ana|llm|normal|gpu|TIMEOUT|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-"
             "01T00:06:00||1|gres/gpu=8|gres/gpu=8|n2\n",
     .want = "0 77+0 pending 1\n0 77+1 pending 8\n5 77+0 running 1\n5 77+1 running 8\n6 77+0 "
             "timeout 1\n6 77+1 timeout 8\n6 gone\n6 gone\n"},
    {.name = "a run that two dumps hold counts once, as the later one knows it",
     .rows = "4|ana|llm|normal|gpu|RUNNING|2026-01-01T00:00:00|2026-01-01T00:05:00|Unknown||1|gres/"
             "gpu=2|gres/gpu=2|n1\n"
             "4|ana|llm|normal|gpu|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-01T00:"
             "35:00||1|gres/gpu=2|gres/gpu=2|n1\n",
     .want = "0 4 pending 2\n5 4 running 2\n35 4 completed 2\n35 gone\n"},
};

TEST(SacctText, RowsBecomeEvents) {
  for (const EventsRow& row : kEventsRows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(events_of(read(std::string(kHeader) + std::string(row.rows))), row.want);
  }
}

struct OddRow {
  std::string_view name;
  std::string text;
  std::string_view want_reason;  // empty: nothing is left out
  int64_t want_workloads = 1;
};

const std::string kGood =
    "4|ana|llm|normal|gpu|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-01T00:35:00|01:"
    "00:00|1|gres/gpu=8|gres/gpu=8|n1\n";

TEST(SacctText, OddRowsAreLeftOutWithTheirPlace) {
  const std::string head(kHeader);
  const OddRow rows[] = {
      {"Windows line ends",
       "JobID|State|Submit|Start|End\r\n4|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-"
       "01-01T00:35:00\r\n",
       ""},
      {"a delimiter at each line's end (sacct -p)",
       "JobID|State|Submit|Start|End|\n4|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-"
       "01T00:35:00|\n",
       ""},
      {"epoch seconds",
       "JobID|State|Submit|Start|End\n4|COMPLETED|1767225600|1767225900|1767227700\n", ""},
      {"any order, other case, unknown columns",
       "end|STATE|Foo|jobid|submit|start\n2026-01-01T00:35:00|CD|x|4|2026-01-01T00:00:00|2026-01-"
       "01T00:05:00\n",
       ""},
      {"a semicolon between columns",
       "JobID;State;Submit;Start;End\n4;COMPLETED;2026-01-01T00:00:00;2026-01-01T00:05:00;2026-01-"
       "01T00:35:00\n",
       ""},
      {"a delimiter in a job's name",
       "JobID|JobName|State|Submit|Start|End\n4|a|b|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:05:"
       "00|2026-01-01T00:35:00\n",
       ""},
      {"odd bytes in a name",
       "JobID|JobName|State|Submit|Start|End\n4|\xff\xfe\x01|COMPLETED|2026-01-01T00:00:00|2026-01-"
       "01T00:05:00|2026-01-01T00:35:00\n",
       ""},
      {"a header repeated in the middle", head + head + kGood, ""},
      {"a mark at the beginning, comments", "\xef\xbb\xbf# sacct of alpha\n\n" + head + kGood, ""},
      {"no End but Elapsed",
       "JobID|State|Submit|Start|Elapsed\n4|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:05:00|1-00:"
       "30:00\n",
       ""},
      {"a cut last line", head + kGood + "5|ana|llm|norm",
       "fewer columns than the header (a cut line, or a line end in a value)"},
      {"a delimiter in a value of ours", head + kGood + "5|a|na" + kGood.substr(5),
       "more columns than the header (the delimiter stands in a value)"},
      {"a state of a later release",
       head + kGood + "5|ana|llm|normal|gpu|DREAMING|2026-01-01T00:00:00|Unknown|Unknown||1|||\n",
       "State is none that we know"},
      {"a time in words",
       head + kGood + "5|ana|llm|normal|gpu|PENDING|yesterday|Unknown|Unknown||1|||\n",
       "Submit is no time"},
      {"an end before the start",
       head + kGood +
           "5|ana|llm|normal|gpu|FAILED|2026-01-01T00:00:00|2026-01-01T00:05:00|2026-01-01T00:04:"
           "00||1|||n1\n",
       "End is before Start"},
      {"too many devices",
       head + kGood +
           "5|ana|llm|normal|gpu|PENDING|2026-01-01T00:00:00|Unknown|Unknown||1|gres/"
           "gpu=99999999999999999999||\n",
       "ReqTRES has a number that is too large or none"},
      {"too many nodes",
       head + kGood +
           "5|ana|llm|normal|gpu|PENDING|2026-01-01T00:00:00|Unknown|Unknown||99999999999999999999|"
           "||\n",
       "NNodes is no number of nodes"},
      {"an id that is none",
       head + kGood + "job5|ana|llm|normal|gpu|PENDING|2026-01-01T00:00:00|Unknown|Unknown||1|||\n",
       "JobID is no job's id"},
      {"a year that cannot be",
       head + kGood + "5|ana|llm|normal|gpu|PENDING|9999-01-01T00:00:00|Unknown|Unknown||1|||\n",
       "Submit is no time"},
      {"ended and nobody knows when",
       head + kGood +
           "5|ana|llm|normal|gpu|FAILED|2026-01-01T00:00:00|2026-01-01T00:05:00|Unknown||1|||n1\n",
       "ended and has no End"},
  };
  for (const OddRow& row : rows) {
    SCOPED_TRACE(row.name);
    const History history = read(row.text);
    const HistoryNotes& notes = history.notes();
    EXPECT_EQ(notes.workloads, row.want_workloads);
    EXPECT_EQ(notes.skipped.empty() ? "" : notes.skipped[0].reason, row.want_reason);
    if (!notes.skipped.empty()) {
      EXPECT_EQ(notes.skipped[0].line, 3);
    }
  }
}

struct RefusedRow {
  std::string_view name;
  std::string_view text;
  std::string_view want_code;
  std::string_view want_message;
};

constexpr RefusedRow kRefusedRows[] = {
    {"nothing", "  \n", "history-empty", "empty"},
    {"a table for people", "JobID           JobName  Partition\n------------ ----------\n4 x gpu\n",
     "history-unknown-format", "cut off"},
    {"something else", "hello\n", "history-unknown-format", "'hello'"},
    {"no Submit", "JobID|State|Start|End\n4|CD|1|2\n", "history-column-missing",
     "no column Submit"},
    {"a header alone", "JobID|State|Submit|Start|End\n", "history-nothing-readable", "no rows"},
    {"nothing but broken rows", "JobID|State|Submit|Start|End\n4|CD|x|y|z\n",
     "history-nothing-readable", "first line 2: Submit is no time"},
};

TEST(SacctText, WhatCannotBeReadIsRefusedWithAWayOut) {
  for (const RefusedRow& row : kRefusedRows) {
    SCOPED_TRACE(row.name);
    std::vector<HistoryInput> inputs{{"dump.txt", std::string(row.text)}};
    const auto history = read_history(std::move(inputs));
    ASSERT_FALSE(history);
    EXPECT_EQ(history.error().code, row.want_code);
    EXPECT_NE(history.error().message.find(row.want_message), std::string::npos)
        << history.error().message;
    EXPECT_EQ(history.error().place.source, "dump.txt");
    EXPECT_FALSE(history.error().hint.empty());
  }
}

TEST(SacctText, LocalTimesAreTakenToUtc) {
  const History history = read(std::string(kHeader) + kGood, {.utc_offset = seconds(2 * 3600)});
  EXPECT_EQ(floor_seconds(history.from()), kMidnight - 7200);
}

TEST(SacctText, TypedAndUntypedDevicesAreNotAdded) {
  const auto both = parse_tres("cpu=64,gres/gpu:h100=8,gres/gpu=8,node=1");
  EXPECT_EQ(both->devices, 8);
  EXPECT_EQ(both->model, "h100");
  EXPECT_EQ(parse_tres("gres/gpu:h100=4,gres/gpu:a100=4")->devices, 8);
  EXPECT_EQ(parse_tres("gres/gpu:h100=4,gres/gpu:a100=4")->model, "");
  EXPECT_EQ(parse_tres("billing=12345678901234567890,mem=1.50T,gres/gpu=2")->devices, 2);
}

TEST(SacctText, SpansAreReadAsSlurmWritesThem) {
  EXPECT_EQ(parse_slurm_span("1-02:03:04"), 93784);
  EXPECT_EQ(parse_slurm_span("02:03:04"), 7384);
  EXPECT_EQ(parse_slurm_span("03:04"), 184);
  EXPECT_EQ(parse_slurm_span("03:04.250"), 184);
  EXPECT_EQ(parse_slurm_span("UNLIMITED"), -1);
  EXPECT_EQ(parse_slurm_span("Partition_Limit"), -1);
  EXPECT_EQ(parse_slurm_span("9999999999-00:00:00"), std::nullopt);
}

// --- replay --------------------------------------------------------------------------------------

ByColumn seconds_of(const Engine& engine) {
  ByColumn sum;
  engine.state().ledger.for_each(
      0, floor_seconds(engine.state().now),
      [&](const Account& a, int64_t, int64_t ms) { sum[a.column] += ms; });
  for (size_t c = 0; c < kColumns; ++c) sum[static_cast<Column>(c)] /= kMilli;
  return sum;
}

TEST(Replay, AHistoryWithoutAFleetHoldsWhatWasHeld) {
  const ReplayResult result = replay(read(std::string(kHeader) + kGood));
  EXPECT_EQ(seconds_of(result.engine), (ByColumn{.held_unmeasured = 8 * 1800}));
  ASSERT_EQ(result.engine.state().past.size(), 1u);
  EXPECT_EQ(result.engine.state().past[0].label, "4");
  EXPECT_EQ(result.engine.recount(), "");
}

TEST(Replay, WhatWaitsIsNotCalledHeld) {
  const ReplayResult result =
      replay(read(std::string(kHeader) + kGood +
                  "9|ana|ads|normal|gpu|PENDING|2026-01-01T00:00:00|Unknown|Unknown|60|1|"
                  "gres/gpu=8||None assigned\n"));
  ASSERT_EQ(result.engine.state().workloads.size(), 1u);
  const Job& job = result.engine.state().workloads.begin()->second.job;
  EXPECT_EQ(job.state, JobState::pending);
  EXPECT_GT(job.priority, 0);
}

TEST(Replay, WhatARequeueThrewAwayIsLost) {
  const ReplayResult result = replay(read(std::string(kHeader) + std::string(kEventsRows[4].rows)));
  EXPECT_EQ(seconds_of(result.engine), (ByColumn{.held_unmeasured = 2 * 600, .lost = 2 * 300}));
  ASSERT_EQ(result.engine.state().past.size(), 1u);
  EXPECT_EQ(result.engine.state().past[0].epochs, 2);
  EXPECT_EQ(result.engine.state().past[0].state, JobState::completed);
  EXPECT_EQ(result.engine.recount(), "");
}

TEST(Replay, AShrunkJobHoldsLess) {
  const ReplayResult result = replay(read(std::string(kHeader) + std::string(kEventsRows[6].rows)));
  EXPECT_EQ(seconds_of(result.engine), (ByColumn{.held_unmeasured = 32 * 300 + 16 * 1200}));
}

TEST(Replay, OnAKnownFleetTheRestIsFree) {
  HistoryOptions options;
  for (const char* name : {"n1", "n2"})
    options.fleet.push_back({.name = name, .state = NodeState::idle, .devices = {{"h100", 8}}});
  const ReplayResult result = replay(read(std::string(kHeader) + kGood, options));
  EXPECT_EQ(seconds_of(result.engine).held_unmeasured, 8 * 1800);
  EXPECT_EQ(seconds_of(result.engine).total(), 16 * 2100);
  EXPECT_EQ(result.engine.recount(), "");
}

TEST(Replay, ALongPauseIsNoJumpOfAClock) {
  std::string late = kGood;
  for (size_t at; (at = late.find("2026-01")) != std::string::npos;) late.replace(at, 7, "2026-09");
  const ReplayResult result = replay(read(std::string(kHeader) + kGood + "5" + late.substr(1)));
  EXPECT_EQ(result.engine.state().events_refused, 0);
  EXPECT_EQ(result.engine.state().past.size(), 2u);
}

TEST(Replay, ProgressIsToldAndMayStop) {
  const History history = read(std::string(kHeader) + kGood);
  int told = 0;
  const ReplayResult result =
      replay(history, {.progress_every = 1, .progress = [&](const ReplayProgress& p) {
                         EXPECT_EQ(p.workloads_total, 1);
                         return ++told < 2;
                       }});
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.progress.events, 2u);
}

}  // namespace
}  // namespace fairlead
