#include "policy/foresee.h"

#include <gtest/gtest.h>

#include "policy/test_cluster.h"

namespace fairlead::policy {
namespace {

// A cluster whose future is played: 16 devices of two teams that own eight each.
class Foresee : public testing::Test {
 protected:
  Foresee() {
    one_ = cluster_.add_team(kRoot, devices(8));
    two_ = cluster_.add_team(kRoot, devices(8));
  }

  // Runs for `limit`, and in truth until `end` from now.
  void run(WorkId id, TeamId team, int64_t size, int64_t limit, int64_t end) {
    cluster_.run(id, team, size);
    cluster_.running.back().started = kNow;
    cluster_.running.back().ends = kNow + seconds(limit);
    ends_.push_back(kNow + seconds(end));
  }
  void submit(WorkId id, TeamId team, int64_t size, int64_t limit) {
    cluster_.submit(id, team, size);
    cluster_.waiting.back().time_max = seconds(limit);
    cluster_.waiting.back().since = kNow - seconds(1000 - static_cast<int64_t>(id));
  }

  // Seconds from now at which each starts that does; what starts goes for half its limit.
  std::map<WorkId, int64_t> starts(int looks_max = 100) {
    const Quota quota = cluster_.quota();
    const Waiting waiting(cluster_.waiting);
    CountedRoom room({cluster_.free()});
    const FutureTold told =
        play_future(world(quota, waiting), room,
                    {.ends = ends_,
                     .length = [](const Work& work) { return Duration{work.time_max.us / 2}; },
                     .follow_calendar = {},
                     .looks_max = looks_max});
    std::map<WorkId, int64_t> seconds_to;
    for (const auto& [id, at] : told.starts) seconds_to[id] = whole_seconds(at - kNow);
    return seconds_to;
  }
  World world(const Quota& quota, const Waiting& waiting) const {
    static const Usages kNothingUsed;
    static const std::vector<BudgetState> kNoBudgets;
    static const SpentPairs kNoneSpent;
    return {.organisation = cluster_.org,
            .quota = quota,
            .waiting = waiting,
            .running = cluster_.running,
            .usages = kNothingUsed,
            .budgets = kNoBudgets,
            .spent = kNoneSpent,
            .now = kNow,
            .evictions_left = {}};
  }

  TestCluster cluster_ = test_cluster(16, {test_class("batch", 1)});
  TeamId one_ = 0, two_ = 0;
  std::vector<Instant> ends_;
};

using Starts = std::map<WorkId, int64_t>;

TEST_F(Foresee, WhatFitsStartsNowAndTheRestWhenSomethingHasEnded) {
  run(1, one_, 12, 1000, 300);
  submit(2, one_, 4, 100);
  submit(3, two_, 8, 100);
  EXPECT_EQ(starts(), (Starts{{2, 0}, {3, 300}}));
}

TEST_F(Foresee, WhatStartsIsInTheWayOfWhatComesAfterIt) {
  run(1, one_, 16, 1000, 200);
  submit(2, two_, 16, 400);
  submit(3, two_, 16, 400);
  EXPECT_EQ(starts(), (Starts{{2, 200}, {3, 400}})) << "half of its limit after the first";
}

TEST_F(Foresee, ThePlannerGoesByLimitsAndNotByTheEndsThatWereDrawn) {
  run(1, one_, 12, 1000, 100);
  submit(2, two_, 16, 100);
  submit(3, two_, 4, 2000);
  EXPECT_EQ(starts()[2], 100);
  EXPECT_EQ(starts()[3], 150) << "had it started at once it would be in the way at 1000";
  cluster_.waiting.back().time_max = seconds(900);
  EXPECT_EQ(starts()[3], 0) << "over before the promise of the planner, by its limit";
  EXPECT_EQ(starts()[2], 450) << "and in the way of a start that came sooner than was promised";
}

TEST_F(Foresee, NothingIsTakenBack) {
  run(1, one_, 16, 1000, 500);
  submit(2, two_, 8, 100);
  EXPECT_EQ(starts(), (Starts{{2, 500}})) << "though it is entitled to it";
}

TEST_F(Foresee, WhatCanNeverStartHasNoStart) {
  run(1, one_, 4, 1000, 500);
  submit(2, one_, 17, 100);
  submit(3, two_, 8, 100);
  EXPECT_EQ(starts(), (Starts{{3, 0}}));
}

TEST_F(Foresee, ARunOfWhichNobodyKnowsTheEndNeverEnds) {
  run(1, one_, 16, 1000, 500);
  ends_[0] = {};
  submit(2, two_, 8, 100);
  EXPECT_EQ(starts(), Starts{});
}

TEST_F(Foresee, SoManyLooksAndNoMore) {
  run(1, one_, 16, 1000, 500);
  submit(2, two_, 16, 100);
  submit(3, two_, 16, 100);
  EXPECT_EQ(starts(2), (Starts{{2, 500}}));
}

TEST_F(Foresee, EndsThatLieCloseTogetherAreOneLook) {
  run(1, one_, 8, 2000, 1600);
  run(2, one_, 8, 2000, 1690);
  submit(3, two_, 8, 100);
  EXPECT_EQ(starts(), (Starts{{3, 1690}})) << "within a sixteenth of the time from now";
  ends_[1] = kNow + seconds(1701);
  EXPECT_EQ(starts(), (Starts{{3, 1600}}));
}

TEST_F(Foresee, TheFirstOfTheOrderAreOfAllTeams) {
  for (WorkId id = 1; id <= 6; ++id) submit(id, one_, 4, 100);
  for (WorkId id = 11; id <= 13; ++id) submit(id, two_, 4, 100);
  const Quota quota = cluster_.quota();
  const Waiting waiting(cluster_.waiting);
  const Waiting first = first_of_order(world(quota, waiting), 4);
  EXPECT_EQ(first.size(), 4u);
  for (const WorkId id : {1, 2, 11, 12}) EXPECT_NE(first.find(id), nullptr) << id;
}

}  // namespace
}  // namespace fairlead::policy
