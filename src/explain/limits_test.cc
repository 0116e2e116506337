// What limits of associations and classes say of a job that waits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "explain/test_site.h"

namespace fairlead {
namespace {

using enum BlockerCode;

TEST(Explain, WhatIsUsedDecays) {
  const Scheduler decays{.cluster = "lab", .enforces_limits = true, .usage_half_life_s = 86'400};
  const Explanation got =
      explain({spent(1000, 2000), decays}, waiting(50, "AssocGrpGRESMinutes", gang(1, 1)));
  ASSERT_EQ(got.blockers.size(), 1u);
  EXPECT_EQ(got.blockers[0].used, 2000);
  EXPECT_EQ(got.blockers[0].waiting_cures, WaitingCures::yes);
  const Instant halved = instant_of_seconds(kNow + 86'400);
  EXPECT_GE(got.blockers[0].cured_at, halved);
  EXPECT_LE(got.blockers[0].cured_at, halved + seconds(200));
  const Explanation stays =
      explain({spent(1000, 2000)}, waiting(50, "AssocGrpGRESMinutes", gang(1, 1)));
  EXPECT_EQ(stays.blockers[0].waiting_cures, WaitingCures::unknown);
}

// Job 1 to 3 hold 4 devices each and run for 55 minutes more.
TEST(Explain, ALimitOnMinutesIsToldInMinutesAndCuredByAShorterJob) {
  struct MinutesRow {
    std::string_view name;
    int64_t limit = 0;
    WaitingCures want_cures = WaitingCures::never;
    std::string want_message, want_cure;
    size_t want_holders = 0;
    int64_t want_cured_s = 0;  // from now; 0: never
  };
  const MinutesRow table[] = {
      {.name = "more than may ever run",
       .limit = 10,
       .want_message = "qos batch has promised 660 of 10 GPU-minutes to what runs, 120 are asked "
                       "for (2 devices for 1h)",
       .want_cure = "time limit 5m"},
      {.name = "fewer devices do, too",
       .limit = 60,
       .want_message = "qos batch has promised 660 of 60 GPU-minutes to what runs, 120 are asked "
                       "for (2 devices for 1h)",
       .want_cure = "time limit 30m, or at most 1 device"},
      {.name = "what runs has to spend 60 of its minutes, at 12 in a minute",
       .limit = 720,
       .want_cures = WaitingCures::yes,
       .want_message = "qos batch has promised 660 of 720 GPU-minutes to what runs, 120 are asked "
                       "for (2 devices for 1h)",
       .want_cure = "wait, or time limit 30m, or at most 1 device",
       .want_holders = 3,
       .want_cured_s = 300},
  };
  for (const MinutesRow& row : table) {
    SCOPED_TRACE(row.name);
    Qos batch{.name = "batch"};
    batch.limits.tres_running_minutes_group = {{"gres/gpu", row.limit}};
    const Explanation got = explain({batch}, waiting(50, "QOSGrpGRESRunMinutes", gang(1, 2)));
    ASSERT_EQ(got.blockers.size(), 1u);
    const Blocker& b = got.blockers[0];
    EXPECT_EQ(b.code, QOS_LIMIT);
    EXPECT_EQ(b.unit, "GPU-minutes");
    EXPECT_EQ(b.message, row.want_message);
    EXPECT_EQ(b.cure, row.want_cure);
    EXPECT_EQ(b.waiting_cures, row.want_cures);
    EXPECT_EQ(b.holders.size(), row.want_holders);
    EXPECT_EQ(b.cured_at.known(), row.want_cured_s > 0);
    if (row.want_cured_s > 0) {
      const Instant want = instant_of_seconds(kNow + row.want_cured_s);
      EXPECT_GE(b.cured_at, want - seconds(1));
      EXPECT_LE(b.cured_at, want + seconds(1));
    }
  }
}

TEST(Explain, NobodyHoldsWhatOneJobMayNotAskFor) {
  Qos batch{.name = "batch"};
  batch.limits.tres_per_job = {{"gres/gpu", 1}};
  Association ana{.id = 4, .parent = 3, .account = "vision", .user = "ana"};
  ana.limits.tres_per_job = {{"gres/gpu", 1}};
  Association research{.id = 2, .parent = 1, .account = "research"};
  research.limits.tres_group = {{"gres/gpu", 1}};
  const Explanation got =
      explain({batch, ana, research}, waiting(50, "QOSMaxGRESPerJob", gang(1, 2)));
  ASSERT_EQ(got.blockers.size(), 3u);
  for (const Blocker& b : got.blockers) {
    EXPECT_EQ(b.waiting_cures, WaitingCures::never);
    EXPECT_TRUE(b.holders.empty());
    EXPECT_FALSE(b.cured_at.known());
    EXPECT_EQ(b.cure, "at most 1 device");
  }
}

TEST(Explain, AClassWithoutJobsIsNotCuredByNoJob) {
  Qos batch{.name = "batch"};
  batch.limits.jobs_group = 0;
  const Explanation got = explain({batch}, waiting(50, "QOSGrpJobsLimit", gang(1, 1)));
  ASSERT_EQ(got.blockers.size(), 1u);
  EXPECT_EQ(got.blockers[0].message, "qos batch holds 3 of 0 jobs, 1 more is asked for");
  EXPECT_EQ(got.blockers[0].cure, "another class or account");
}

TEST(Explain, ACureIsNeverToAskForNothing) {
  Association full{.id = 2, .parent = 1, .account = "research"};
  full.limits.tres_group = {{"gres/gpu", 12}};  // as much as is held
  const Explanation got = explain({full}, waiting(50, "AssocGrpGRES", gang(1, 4)));
  ASSERT_FALSE(got.blockers.empty());
  EXPECT_EQ(got.blockers[0].code, ASSOCIATION_LIMIT);
  EXPECT_EQ(got.blockers[0].cure, "wait, or another class or account");
}

TEST(Explain, OneIsNotToldAsMany) {
  struct TextRow {
    std::string_view name;
    Job job;
    std::vector<What> extra = {};
    std::string want_message, want_cure;  // of the first
  };
  const auto licensed = [](const char* licences) {
    return with(waiting(50, "Licenses", gang(1, 1)),
                [&](Job& j) { j.request.licences = licences; });
  };
  const TextRow table[] = {
      {.name = "one licence is left",
       .job = licensed("sim:2"),
       .want_message = "3 of 4 licences sim are in use, 2 are asked for",
       .want_cure = "at most 1 of sim"},
      {.name = "no licence is left",
       .job = licensed("sim:1"),
       .extra = {Licence{.name = "sim", .total = 1, .used = 1}},
       .want_message = "1 of 1 licence sim is in use, 1 is asked for",
       .want_cure = "wait, or without the licence sim"},
      {.name = "the site has no such licence",
       .job = licensed("sim:1"),
       .extra = {Licence{.name = "sim"}},
       .want_message = "0 of 0 licences sim are in use, 1 is asked for",
       .want_cure = "without the licence sim: the site has none"},
      {.name = "more licences than there are",
       .job = licensed("sim:9"),
       .want_message = "3 of 4 licences sim are in use, 9 are asked for",
       .want_cure = "at most 4 of sim"},
      {.name = "one job is ahead",
       .job = waiting(50, "Priority", gang(1, 1)),
       .extra = {waiting(49, "Priority", gang(1, 1))},
       .want_message = "1 waiting job of its partition comes first: a priority above 100, or the "
                       "same and a lower number",
       .want_cure = "a time limit short enough to backfill"},
      {.name = "one node is drained",
       .job = waiting(50, "Resources", gang(8, 1)),
       .want_message = "1 of the 8 nodes that could take it is down or drained (bad fan)",
       .want_cure = "7 nodes, or bring nodes back"},
  };
  for (const TextRow& row : table) {
    SCOPED_TRACE(row.name);
    const Explanation got = explain(row.extra, row.job);
    ASSERT_FALSE(got.blockers.empty());
    EXPECT_EQ(got.blockers[0].message, row.want_message);
    EXPECT_EQ(got.blockers[0].cure, row.want_cure);
    if (got.blockers[0].waiting_cures == WaitingCures::never) {
      EXPECT_FALSE(got.blockers[0].cured_at.known());
    }
  }
}

}  // namespace
}  // namespace fairlead
