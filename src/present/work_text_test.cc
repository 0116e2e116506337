#include "present/work_text.h"

#include <gtest/gtest.h>

#include "present/sample_report.h"

namespace fairlead {
namespace {

const Instant kNow = *parse_rfc3339("2026-11-30T10:00:00Z");

Explanation waiting() {
  Explanation x{.workload = "4242",
                .name = "llm-pretrain",
                .user = "ana",
                .team = "research",
                .klass = "batch",
                .partition = "all",
                .state = "pending",
                .wants = "16x8 h100, time limit 8h"};
  x.as_of = kNow - seconds(2);
  x.submitted = x.waiting_since = kNow - seconds(3 * 3600 + 720);
  x.wait_us = (kNow - x.submitted).us;
  x.priority = 1200;
  x.ahead = 3;
  x.scheduler_reason = "Resources";
  x.blockers = {{.code = BlockerCode::ASSOCIATION_LIMIT,
                 .object = "account research",
                 .limit_name = "GrpTRES gres/gpu",
                 .unit = "devices",
                 .limit = 160,
                 .used = 168,
                 .wanted = 24,
                 .short_by = 32,
                 .message = "research holds 168 of 160 devices",
                 .holders = {{.workload = "4198",
                              .team = "search",
                              .user = "eve",
                              .amount = 64,
                              .ends = kNow + seconds(6000)},
                             {.workload = "4201", .team = "search", .user = "eve", .amount = 8},
                             {.workload = "9901",
                              .team = "ads",
                              .user = "bo",
                              .amount = 4,
                              .idle = IdleKind::no_process}},
                 .holders_more = 2,
                 .waiting_cures = WaitingCures::yes,
                 .cured_at = kNow + seconds(6000),
                 .cure = "12 nodes instead of 16"},
                {.code = BlockerCode::HELD_BY_USER,
                 .object = "job 4242",
                 .message = "its owner holds it",
                 .waiting_cures = WaitingCures::never,
                 .cure = "scontrol release"}};
  return x;
}

TEST(ExplanationText, TellsWhenItWillStart) {
  Explanation x = waiting();
  const auto told = [&] {
    const std::string text = explanation_text(x, {.width = 200, .now = kNow});
    const size_t at = text.find(x.start.p50.known() ? "estimated" : "its start");
    return at == text.npos ? "" : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(told(), "") << "a daemon that is older says nothing";
  x.start.unknown = "it is held";
  EXPECT_EQ(told(), "its start is not known: it is held");
  x.start = {.p50 = kNow + seconds(7200), .p90 = {}};
  EXPECT_EQ(told(),
            "estimated start P50 2026-11-30 12:00 UTC P90 later than is foreseen (by time limits "
            "alone: of runs like these too few are over)");
  x.start = {.p50 = kNow + seconds(30), .p90 = kNow + seconds(3600), .by_history = true};
  x.start.first = {.made = kNow - seconds(600), .p50 = kNow + seconds(900)};
  x.start.scored = 1200;
  x.start.held_ppm = 907'000;
  EXPECT_EQ(told(),
            "estimated start P50 now P90 2026-11-30 11:00 UTC; told first, 10m ago: P50 2026-11-30 "
            "10:15 UTC; 91 % of 1,200 promises had started by their P90");
}

TEST(QueueText, WideTellsStarts) {
  Queue queue{.as_of = kNow};
  queue.waiting = {{.workload = "1", .start_p50 = kNow, .start_p90 = kNow + seconds(5400)},
                   {.workload = "2"}};
  const std::string text = queue_text(queue, {.width = 250, .wide = true});
  EXPECT_NE(text.find("start P50  start P90"), text.npos) << text;
  EXPECT_NE(text.find("      now   in 1h30m"), text.npos) << text;
  const std::string narrow = queue_text(queue, {.width = 100});
  EXPECT_EQ(narrow.find("P50"), narrow.npos);
}

TEST(ExplanationText, TellsAllBlockers) {
  EXPECT_EQ(explanation_text(waiting(), {.width = 110}),
            "4242  llm-pretrain  research / batch / ana                                         "
            "waiting 3h12m, as of 2s ago\n"
            "wants 16x8 h100, time limit 8h, partition all\n"
            "\n"
            "  code               short by           who holds it         waiting cures it        "
            "cheapest cure\n"
            "  ASSOCIATION_LIMIT  32 of 160 devices  4198 4201 (search),  in 1h40m at the latest  "
            "12 nodes instead of 16\n"
            "                                        idle 9901 (ads), 2\n"
            "                                        more\n"
            "  HELD_BY_USER       -                  job 4242             no                      "
            "scontrol release\n"
            "\n"
            "  ASSOCIATION_LIMIT (account research, GrpTRES gres/gpu): research holds 168 of 160 "
            "devices\n"
            "  HELD_BY_USER (job 4242): its owner holds it\n"
            "\n"
            "  priority 1,200; 3 workloads ahead of it\n"
            "  the scheduler says Resources\n");
}

TEST(ExplanationText, HoldersOfOneTeamShareItsName) {
  EXPECT_EQ(holders_text(waiting().blockers[0], 4), "4198 4201 (search), idle 9901 (ads), 2 more");
  EXPECT_EQ(holders_text(waiting().blockers[0], 1), "4198 (search), 4 more");
  EXPECT_EQ(holders_text(waiting().blockers[1], 4), "job 4242");
}

TEST(ExplanationText, OneThatRuns) {
  Explanation x{.workload = "7", .user = "ana", .team = "research", .state = "running"};
  x.as_of = kNow;
  x.started = kNow - seconds(7200);
  x.devices = 8;
  x.nodes = "n1";
  x.gpu_seconds = {.useful = 3 * 3600, .held_idle = 3600};
  x.idle_kind = IdleKind::stuck;
  x.idle_since = kNow - seconds(60);
  const std::string text = explanation_text(x);
  for (const char* want : {"running for 2h", "holds 8 GPUs on n1",
                           "█  useful          3.00  75.0 %", "idle now: stuck, for 1m"}) {
    EXPECT_NE(text.find(want), text.npos) << want << "\n" << text;
  }
  EXPECT_EQ(text.find("priority"), text.npos);
}

TEST(ExplanationText, EveryLineFits) {
  for (const int width : {80, 100, 140}) {
    std::string text = explanation_text(waiting(), {.width = width});
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      EXPECT_LE(display_width(text.substr(at, end - at)), static_cast<size_t>(width))
          << text.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(QueueText, TellsVerdictAndFirstBlocker) {
  const Report r = sample_report();
  const Queue queue{.site = "alpha", .as_of = kNow, .waiting = r.waiting, .waiting_more = 3};
  EXPECT_EQ(
      queue_text(queue, {.width = 200}),
      "workload  team  user  class  wants     waits  priority  verdict  blockers       in words\n"
      "4243      ads   bo    batch  1x8 h100  2h14m       100  waits    FRAGMENTED +1  3 devices "
      "are free, 8 are asked for, but only 0 nodes have 8 together\n"
      "… 3 more\n");
  EXPECT_NE(queue_text(queue, {.wide = true}).find("FRAGMENTED PRIORITY"), std::string::npos);
  EXPECT_NE(queue_text(queue, {.width = 100}).find("FRAGMENTED +1"), std::string::npos);
  EXPECT_EQ(queue_text({.as_of = kNow}), "Nothing waits, as of 2026-11-30 10:00 UTC.\n");
  EXPECT_TRUE(queue_text({.as_of = kNow, .note = "the scheduler is not seen"})
                  .starts_with("Note: the scheduler is not seen\n"));
  EXPECT_NE(queue_text({}).find("never read"), std::string::npos);
}

TEST(WorkTables, HoldOneCellForEachColumn) {
  const Queue queue{.waiting = sample_report().waiting};
  for (const Table& table : {queue_table(queue), explanation_table(waiting())}) {
    ASSERT_FALSE(table.rows.empty());
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  }
}

}  // namespace
}  // namespace fairlead
