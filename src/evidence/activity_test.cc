#include "evidence/activity.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

constexpr EvidenceRules kRules;

struct LookRow {
  std::string_view name;
  DeviceSample sample;
  std::string_view model = "h100";
  Look want;
};

TEST(Activity, OneLook) {
  const LookRow rows[] = {
      {.name = "no signal is not zero",
       .sample = {.memory_used_mib = 70'000, .power_mw = 90'000},
       .want = Look::unknown},
      {.name = "busy units",
       .sample = {.utilisation_ppm = 970'000,
                  .tensor_active_ppm = 400'000,
                  .memory_active_ppm = 300'000},
       .want = Look::active},
      {.name = "a little work is work",
       .sample = {.utilisation_ppm = 0, .memory_active_ppm = 20'000},
       .want = Look::active},
      {.name = "nothing moves",
       .sample = {.utilisation_ppm = 0, .engine_active_ppm = 0},
       .want = Look::idle},
      {.name = "busy by the clock, units still",
       .sample = {.utilisation_ppm = 1'000'000, .tensor_active_ppm = 0, .memory_active_ppm = 1'000},
       .want = Look::stuck},
      {.name = "no unit counters: idle power at 100 % gives it away",
       .sample = {.utilisation_ppm = 1'000'000, .power_mw = 118'000},
       .want = Look::stuck},
      {.name = "no unit counters: real power",
       .sample = {.utilisation_ppm = 1'000'000, .power_mw = 600'000},
       .want = Look::active},
      {.name = "a model we do not know: power proves nothing",
       .sample = {.utilisation_ppm = 1'000'000, .power_mw = 10'000},
       .model = "x9",
       .want = Look::active},
  };
  for (const LookRow& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(look_at(row.sample, row.model, kRules), row.want);
  }
}

DeviceSample at(int64_t s, int64_t utilisation_ppm, int64_t memory_mib) {
  return {.at = instant_of_seconds(s),
          .utilisation_ppm = utilisation_ppm,
          .memory_used_mib = memory_mib};
}

void look(Activity& activity, const DeviceSample& sample) {
  take_in(activity, sample.at, seen_in(sample, "h100", kRules), kRules);
}

Activity after(std::initializer_list<DeviceSample> samples) {
  Activity activity;
  begin_run(activity, instant_of_seconds(100));
  for (const DeviceSample& sample : samples) look(activity, sample);
  return activity;
}

TEST(Activity, KindsOfIdleHold) {
  EXPECT_EQ(idle_kind(after({at(110, 0, 0)}), false), IdleKind::never_used);
  EXPECT_EQ(idle_kind(after({at(110, 900'000, 9000), at(120, 0, 9000)}), false),
            IdleKind::used_then_idle);
  EXPECT_EQ(idle_kind(after({at(110, 900'000, 9000), at(120, 0, 3)}), false), IdleKind::no_process);
  EXPECT_EQ(idle_kind(after({at(110, 900'000, 9000), at(120, 0, 9000)}), true),
            IdleKind::failed_peer);
  EXPECT_EQ(idle_kind(after({at(110, 900'000, 9000)}), false), IdleKind::none);
  EXPECT_EQ(idle_kind(after({}), false), IdleKind::none);
}

TEST(Activity, WhatWasBeforeWeLookedIsNotClaimed) {
  const int64_t late = 100 + 91;  // the run began at 100, looks begin later than one counts for
  EXPECT_EQ(idle_kind(after({at(late, 0, 9000)}), false), IdleKind::idle);
  EXPECT_EQ(idle_kind(after({at(late, 0, 3)}), false), IdleKind::no_process);
  EXPECT_EQ(idle_kind(after({at(late, 900'000, 9000), at(late + 10, 0, 9000)}), false),
            IdleKind::used_then_idle);
}

TEST(Activity, AnOldLookChangesNothing) {
  const Activity activity = after({at(120, 900'000, 9000), at(110, 0, 0)});
  EXPECT_EQ(activity.look, Look::active);
}

TEST(Activity, ARunDoesNotInheritTheRunBefore) {
  Activity activity = after({at(110, 900'000, 9000)});
  begin_run(activity, instant_of_seconds(200));
  EXPECT_EQ(activity.look, Look::unknown);
  look(activity, at(210, 0, 0));
  EXPECT_EQ(idle_kind(activity, false), IdleKind::never_used);
  EXPECT_EQ(activity.quiet_since, instant_of_seconds(210));
}

}  // namespace
}  // namespace fairlead
