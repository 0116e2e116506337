// A small report with something in every section, for tests of how reports look.
#pragma once

#include "views/report.h"

namespace fairlead {

inline Report sample_report() {
  constexpr int64_t kHour = 3600;
  const Instant to = *parse_rfc3339("2026-11-30T10:00:00Z");
  const ColumnSeconds seconds{.useful = 80 * kHour,
                              .held_idle = 20 * kHour,
                              .held_unmeasured = 10 * kHour,
                              .lost = 4 * kHour,
                              .reserved = 2 * kHour,
                              .free = 24 * kHour,
                              .stranded = 10 * kHour,
                              .down = 10 * kHour,
                              .total = 160 * kHour};
  Report r{
      .site = "alpha",
      .from = to - fairlead::seconds(10 * kHour),
      .to = to,
      .fleet_known = true,
      .gpus = 16,
      .gpu_seconds = seconds,
      .telemetry_coverage_ppm = 909'090,
      .useful_ppm = 500'000,
      .sentences = {
          "Of 160 GPU-hours 71.2 % were held and 50.0 % were seen to do useful work; telemetry "
          "covers 90.9 % of what was held.",
          "4 GPUs are held and idle now, most of it by 4242 of team research (no_process); 20.0 "
          "GPU-hours were held idle in all.",
          "1 workloads wait, most for FRAGMENTED; 2 GPUs are free, 1 more are free and stranded."}};
  r.models = {
      {.model = "h100",
       .gpus = {.useful = 8, .held_idle = 4, .free = 2, .stranded = 1, .down = 1, .total = 16},
       .gpu_seconds = seconds}};
  ReportRow research{
      .name = "research",
      .gpu_seconds = {.useful = 80 * kHour, .held_idle = 20 * kHour, .total = 100 * kHour},
      .workloads = 3,
      .started = 2,
      .never_started = 1,
      .wait_us = {.p50 = 60'000'000, .p90 = 7'200'000'000, .p99 = 7'200'000'000},
      .requested_gpu_seconds = 20 * kHour,
      .used_gpu_seconds = 10 * kHour};
  TeamRow team;
  static_cast<ReportRow&>(team) = research;
  team.team = team.name;
  r.teams = {team};
  r.classes = r.users = r.partitions = {research};
  r.classes[0].name = "batch";
  r.users[0].name = "ana";
  r.partitions[0].name = "all";
  r.idle_holds = {{.workload = "4242",
                   .team = "research",
                   .user = "ana",
                   .kind = IdleKind::no_process,
                   .gpus = 4,
                   .since = to - fairlead::seconds(5 * kHour),
                   .gpu_seconds = 20 * kHour}};
  r.waiting = {{.workload = "4243",
                .team = "ads",
                .user = "bo",
                .klass = "batch",
                .partition = "all",
                .gang = "1x8 h100",
                .wait_us = 8'040'000'000,
                .gpus = 8,
                .priority = 100,
                .blockers = {BlockerCode::FRAGMENTED, BlockerCode::PRIORITY},
                .message = "3 devices are free, 8 are asked for, but only 0 nodes have 8 together",
                .scheduler_reason = "Resources"}};
  r.fragmentation = {
      .free_gpus = 2,
      .stranded_gpus = 1,
      .fgd_ppm = 333'333,
      .waiting_shapes = {
          {.gang = "1x8 h100", .partition = "all", .count = 1, .fits = 0, .enough = false}}};
  r.ended = {{.state = JobState::completed, .workloads = 1, .gpu_seconds = 10 * kHour}};
  r.sources = {{.source = Source::scheduler,
                .ok = true,
                .known = true,
                .last_ok = to - fairlead::seconds(2)},
               {.source = Source::telemetry,
                .ok = false,
                .known = true,
                .last_ok = to - fairlead::seconds(600),
                .unreadable = 3,
                .detail = "connection refused"},
               {.source = Source::accounting}};
  r.notes = {"telemetry is not seen: connection refused"};
  return r;
}

}  // namespace fairlead
