#include "explain/explain.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "explain/policy_rules.h"
#include "explain/test_site.h"

namespace fairlead {
namespace {

using enum BlockerCode;

struct Row {
  std::string_view name;
  Job job;
  std::vector<What> extra = {};
  std::vector<BlockerCode> want;
  int64_t want_short_by = -1;  // of the first; -1: whatever
  bool want_never = false;
  bool want_agrees = true;
};

std::vector<Row> rows() {
  return {
      {.name = "fits now", .job = waiting(50, "None", gang(1, 8)), .want = {NOT_YET_EXAMINED}},
      {.name = "too many devices for any node",
       .job = with(waiting(50, "Resources", gang(1, 9)), [](Job& j) { j.account = "x"; }),
       .want = {DEVICES_NO_NODE},
       .want_never = true},
      {.name = "a model no node has",
       .job = waiting(50, "BadConstraints", gang(1, 1, "b200")),
       .want = {DEVICES_NO_NODE},
       .want_never = true},
      {.name = "more nodes than there are",
       .job = with(waiting(50, "PartitionConfig", gang(9, 1)), [](Job& j) { j.account = "x"; }),
       .want = {SHAPE_NEVER},
       .want_short_by = 1,
       .want_never = true},
      {.name = "a feature no node has",
       .job = with(waiting(50, "BadConstraints", gang(1, 1)),
                   [](Job& j) { j.request.features = "roce"; }),
       .want = {FEATURES_NO_NODE},
       .want_never = true},
      {.name = "the scheduler took its priority, and nobody holds it",
       .job = with(waiting(50, "BadConstraints", gang(1, 1)),
                   [](Job& j) {
                     j.request.features = "roce";
                     j.priority = 0;
                   }),
       .want = {FEATURES_NO_NODE},
       .want_never = true},
      {.name = "one node too many is drained, and the rest is not together",
       .job = waiting(50, "Resources", gang(8, 1)),
       .want = {NODES_DOWN, FRAGMENTED},
       .want_short_by = 1},
      {.name = "not enough devices",
       .job = with(waiting(50, "Resources", gang(7, 8)), [](Job& j) { j.account = "x"; }),
       .want = {CAPACITY},
       .want_short_by = 12},
      {.name = "enough devices, not together",
       .job = with(waiting(50, "Resources", gang(5, 8)), [](Job& j) { j.account = "x"; }),
       .want = {FRAGMENTED},
       .want_short_by = 1},
      {.name = "enough nodes, not under one leaf",
       .job = with(waiting(50, "Resources", gang(4, 8)),
                   [](Job& j) {
                     j.account = "x";
                     j.request.switches = 1;
                   }),
       .want = {TOPOLOGY_FRAGMENTED}},
      {.name = "more nodes than any leaf has",
       .job = with(waiting(50, "Resources", gang(5, 1)),
                   [](Job& j) {
                     j.account = "x";
                     j.request.switches = 1;
                   }),
       .want = {TOPOLOGY_FRAGMENTED},
       .want_short_by = 1,
       .want_never = true},
      {.name = "more nodes than any leaf has, which the scheduler waits for no longer than that",
       .job = with(waiting(50, "Resources", gang(5, 8)),
                   [](Job& j) {
                     j.account = "x";
                     j.request.switches = 1;
                     j.request.switches_wait_s = 300;
                   }),
       .want = {TOPOLOGY_FRAGMENTED, FRAGMENTED},
       .want_short_by = 1},
      {.name = "an account above has reached its limit",
       .job = waiting(50, "AssocGrpGRES", gang(2, 8)),
       .want = {ASSOCIATION_LIMIT},
       .want_short_by = 12 + 16 - 20},
      {.name = "no limit is enforced",
       .job = waiting(50, "None", gang(2, 8)),
       .extra = {Scheduler{.cluster = "lab"}},
       .want = {NOT_YET_EXAMINED}},
      {.name = "a user's share of a class",
       .job = with(waiting(50, "QOSMaxGRESPerUser", gang(1, 16)),
                   [](Job& j) {
                     j.qos = "small";
                     j.account = "x";
                     j.request.devices.per_node = 0;
                     j.request.nodes_min = 1;
                   }),
       .want = {QOS_LIMIT},
       .want_short_by = 8,
       .want_never = true},
      {.name = "longer than the class allows",
       .job = with(waiting(50, "QOSMaxWallDurationPerJobLimit", gang(1, 1)),
                   [](Job& j) {
                     j.qos = "small";
                     j.request.time_limit_s = 9000;
                   }),
       .want = {QOS_JOB_LIMIT},
       .want_short_by = 1800,
       .want_never = true},
      {.name = "partition down",
       .job = with(waiting(50, "PartitionDown", gang(1, 1)), [](Job& j) { j.partition = "maint"; }),
       .want = {PARTITION_DOWN}},
      {.name = "two limits of a partition at once",
       .job = with(waiting(50, "PartitionTimeLimit", gang(3, 1)),
                   [](Job& j) { j.partition = "short"; }),
       .want = {PARTITION_TIME_LIMIT, PARTITION_NODE_LIMIT},
       .want_short_by = 1800,
       .want_never = true},
      {.name = "of two partitions the one that takes it counts",
       .job = with(waiting(50, "None", gang(1, 1)), [](Job& j) { j.partition = "maint,all"; }),
       .want = {NOT_YET_EXAMINED}},
      {.name = "of two partitions one refuses it, and the scheduler names that one",
       .job = with(waiting(50, "PartitionNodeLimit", gang(6, 8)),
                   [](Job& j) {
                     j.account = "x";
                     j.partition = "all,short";
                   }),
       .want = {PARTITION_NODE_LIMIT, CAPACITY}},
      {.name = "the nodes of a partition that refuses it are no room for it",
       .job = with(waiting(50, "PartitionNodeLimit", gang(3, 1)),
                   [](Job& j) { j.partition = "drained,short"; }),
       .extra = {Partition{.name = "drained", .nodes = {"n6", "n7", "n8"}}},
       .want = {PARTITION_NODE_LIMIT, NODES_DOWN, FRAGMENTED}},
      {.name = "of two partitions one refuses it for good, and one is down",
       .job = with(waiting(50, "PartitionDown", gang(3, 1)),
                   [](Job& j) { j.partition = "short,maint"; }),
       .want = {PARTITION_DOWN}},
      {.name = "licences",
       .job =
           with(waiting(50, "Licenses", gang(1, 1)), [](Job& j) { j.request.licences = "sim:3"; }),
       .want = {LICENCES},
       .want_short_by = 2},
      {.name = "held by its owner",
       .job = with(waiting(50, "JobHeldUser", gang(1, 1)), [](Job& j) { j.priority = 0; }),
       .want = {HELD_BY_USER}},
      {.name = "held by an administrator",
       .job = with(waiting(50, "JobHeldAdmin", gang(1, 1)), [](Job& j) { j.priority = 0; }),
       .want = {HELD_BY_ADMIN}},
      {.name = "begin time",
       .job = with(waiting(50, "BeginTime", gang(1, 1)),
                   [](Job& j) { j.eligible = instant_of_seconds(kNow + 90); }),
       .want = {BEGIN_TIME},
       .want_short_by = 90},
      {.name = "a dependency that can come",
       .job = with(waiting(50, "Dependency", gang(1, 1)),
                   [](Job& j) { j.request.dependency = "afterok:1(unfulfilled)"; }),
       .want = {DEPENDENCY}},
      {.name = "a dependency that cannot",
       .job = with(waiting(50, "DependencyNeverSatisfied", gang(1, 1)),
                   [](Job& j) { j.request.dependency = "afterok:9"; }),
       .want = {DEPENDENCY_NEVER},
       .want_never = true},
      {.name = "an array at its own limit",
       .job = with(waiting(50, "JobArrayTaskLimit", gang(1, 1)),
                   [](Job& j) {
                     j.array = {.id = 50, .waiting = "3-9%1", .waiting_count = 7, .running_max = 1};
                   }),
       .extra = {with(running(51, "n4", {0}), [](Job& j) { j.array = {.id = 50, .task = 2}; })},
       .want = {ARRAY_LIMIT},
       .want_short_by = 1},
      {.name = "the last task of an array at its limit, which Slurm tells as itself",
       .job = with(waiting(50, "JobArrayTaskLimit", gang(1, 1)),
                   [](Job& j) { j.array = {.id = 50, .task = 9, .running_max = 1}; }),
       .extra = {with(running(51, "n4", {0}), [](Job& j) { j.array = {.id = 50, .task = 2}; })},
       .want = {ARRAY_LIMIT},
       .want_short_by = 1},
      {.name = "a reservation ahead",
       .job =
           with(waiting(50, "ReqNodeNotAvail, Reserved for maintenance", gang(1, 1)), [](Job&) {}),
       .extra = {Reservation{.name = "fix",
                             .start = instant_of_seconds(kNow + 1800),
                             .end = instant_of_seconds(kNow + 9000),
                             .nodes = {"n1", "n2", "n3", "n4", "n5", "n6", "n7"}}},
       .want = {RESERVATION}},
      {.name = "its own reservation has not begun",
       .job = with(waiting(50, "Reservation", gang(1, 1)), [](Job& j) { j.reservation = "fix"; }),
       .extra = {Reservation{.name = "fix",
                             .start = instant_of_seconds(kNow + 1800),
                             .end = instant_of_seconds(kNow + 9000),
                             .nodes = {"n1"}}},
       .want = {RESERVATION},
       .want_short_by = 1800},
      {.name = "larger work ahead",
       .job = with(waiting(50, "Priority", gang(1, 8)), [](Job& j) { j.account = "x"; }),
       .extra = {with(waiting(40, "Resources", gang(7, 8)),
                      [](Job& j) {
                        j.priority = 500;
                        j.account = "x";
                      })},
       .want = {PRIORITY},
       .want_short_by = 1},
      {.name = "the same priority and a lower number ahead",
       .job = with(waiting(50, "Priority", gang(1, 8)), [](Job& j) { j.account = "x"; }),
       .extra = {with(waiting(40, "Resources", gang(7, 8)), [](Job& j) { j.account = "x"; })},
       .want = {PRIORITY},
       .want_short_by = 1},
      {.name = "the same priority and a higher number is behind",
       .job = with(waiting(50, "None", gang(1, 8)), [](Job& j) { j.account = "x"; }),
       .extra = {with(waiting(60, "Resources", gang(7, 8)),
                      [](Job& j) {
                        j.account = "x";
                        j.submit = instant_of_seconds(kNow - 9000);
                      })},
       .want = {NOT_YET_EXAMINED}},
      {.name = "nodes in maintenance, and the others are busy",
       .job = with(waiting(50, "ReqNodeNotAvail, May be reserved for other job", gang(2, 8)),
                   [](Job& j) { j.account = "x"; }),
       .extra = maintenance(),
       .want = {RESERVATION, CAPACITY},
       .want_short_by = 2},
      {.name = "nodes in maintenance, and not enough others",
       .job = with(waiting(50, "ReqNodeNotAvail, May be reserved for other job", gang(5, 1)),
                   [](Job& j) { j.account = "x"; }),
       .extra = maintenance(),
       .want = {RESERVATION, FRAGMENTED},
       .want_short_by = 2},
      {.name = "nodes in maintenance that are not needed",
       .job = with(waiting(50, "None", gang(3, 4)), [](Job& j) { j.account = "x"; }),
       .extra = maintenance(),
       .want = {NOT_YET_EXAMINED}},
      {.name = "an account has used its GPU-minutes",
       .job = waiting(50, "AssocGrpGRESMinutes", gang(1, 1)),
       .extra = {spent(1000, 1200)},
       .want = {ASSOCIATION_LIMIT},
       .want_short_by = 200},
      {.name = "an account has GPU-minutes left",
       .job = waiting(50, "None", gang(1, 1)),
       .extra = {spent(1000, 999)},
       .want = {NOT_YET_EXAMINED}},
      {.name = "enforced safely, what runs and the job itself count too",
       .job = waiting(50, "AssocGrpGRESMinutes", gang(1, 1)),
       .extra = {spent(1000, 300),
                 Scheduler{.cluster = "lab", .enforces_limits = true, .enforces_safe = true}},
       .want = {ASSOCIATION_LIMIT},
       .want_short_by = 300 + 12 * 55 + 60 - 1000},
      {.name = "a class has used its wall time",
       .job = waiting(50, "QOSGrpWallLimit", gang(1, 1)),
       .extra = {[] {
         Qos batch{.name = "batch"};
         batch.limits.wall_group_s = 3600;
         batch.used.wall_s = 4000;
         return batch;
       }()},
       .want = {QOS_LIMIT},
       .want_short_by = 400},
      {.name = "one job may not promise so many GPU-minutes",
       .job = waiting(50, "AssocMaxGRESMinutesPerJob", gang(1, 8)),
       .extra = {[] {
         Association ana{.id = 4, .parent = 3, .account = "vision", .user = "ana"};
         ana.limits.tres_minutes_per_job = {{"gres/gpu", 100}};
         return ana;
       }()},
       .want = {ASSOCIATION_JOB_LIMIT},
       .want_short_by = 8 * 60 - 100,
       .want_never = true},
      {.name = "of two dependencies one is enough, and one may still be met",
       .job =
           with(waiting(50, "Dependency", gang(1, 1)),
                [](Job& j) { j.request.dependency = "afterok:2(unfulfilled)?afterok:9(failed)"; }),
       .want = {DEPENDENCY}},
      {.name = "of two dependencies one is enough, and none can be met",
       .job = with(waiting(50, "DependencyNeverSatisfied", gang(1, 1)),
                   [](Job& j) { j.request.dependency = "afterok:9(failed)?afterok:9(failed)"; }),
       .want = {DEPENDENCY_NEVER},
       .want_never = true},
      {.name = "both dependencies have to be met, and one cannot",
       .job =
           with(waiting(50, "Dependency", gang(1, 1)),
                [](Job& j) { j.request.dependency = "afterok:2(unfulfilled),afterok:9(failed)"; }),
       .want = {DEPENDENCY_NEVER, DEPENDENCY},
       .want_never = true},
      {.name = "all of them at once",
       .job = with(waiting(50, "JobHeldUser", gang(7, 8)),
                   [](Job& j) {
                     j.priority = 0;
                     j.request.licences = "sim:2";
                     j.request.dependency = "afterok:1";
                   }),
       .want = {ASSOCIATION_LIMIT, HELD_BY_USER, DEPENDENCY, LICENCES, CAPACITY},
       .want_never = true},
      {.name = "a reason we see no cause for is said",
       .job = waiting(50, "BurstBufferResources", gang(1, 1)),
       .want = {UNEXPLAINED},
       .want_agrees = false},
  };
}

TEST(Explain, FindsAllBlockers) {
  for (Row& row : rows()) {
    SCOPED_TRACE(row.name);
    const Explanation got = explain(row.extra, row.job);
    std::vector<std::string> codes;
    std::vector<std::string> want;
    for (const Blocker& b : got.blockers) codes.push_back(enum_name(b.code));
    std::ranges::sort(row.want);
    for (const BlockerCode code : row.want) want.push_back(enum_name(code));
    EXPECT_EQ(codes, want);
    EXPECT_EQ(got.scheduler_agrees, row.want_agrees);
    EXPECT_EQ(got.can_never_start, row.want_never);
    if (row.want_short_by >= 0 && !got.blockers.empty()) {
      EXPECT_EQ(got.blockers[0].short_by, row.want_short_by);
    }
    for (const Blocker& b : got.blockers) {
      EXPECT_FALSE(b.message.empty());
      EXPECT_FALSE(b.cure.empty());
    }
  }
}

TEST(Explain, NamesTheHoldersAndWhenTheyEnd) {
  const Explanation got = explain({}, waiting(50, "AssocGrpGRES", gang(2, 8)));
  ASSERT_EQ(got.blockers.size(), 1u);
  const Blocker& b = got.blockers[0];
  EXPECT_EQ(b.object, "account research");
  EXPECT_EQ(b.used, 12);
  EXPECT_EQ(b.limit, 20);
  ASSERT_EQ(b.holders.size(), 3u);
  EXPECT_EQ(b.holders[0].workload, "1");
  EXPECT_EQ(b.cured_at, instant_of_seconds(kNow - 300 + 3600));
}

TEST(Explain, EveryCodeIsDocumented) {
  for (int i = 0; i <= static_cast<int>(NOT_YET_EXAMINED); ++i) {
    EXPECT_GT(std::string_view(code_text(static_cast<BlockerCode>(i)).meaning).size(), 10u);
  }
}

TEST(Explain, ReadsDependencies) {
  using D = Dependency;
  EXPECT_EQ(
      parse_dependencies("afterok:17(unfulfilled),afterany:18:19+5"),
      (std::vector<D>{
          {"afterok", 17, -1, "unfulfilled"}, {"afterany", 18, -1, ""}, {"afterany", 19, -1, ""}}));
  EXPECT_EQ(parse_dependencies("afterok:17?afterok:18_3(failed)"),
            (std::vector<D>{{"afterok", 17, -1, ""}, {"afterok", 18, 3, "failed"}}));
  EXPECT_EQ(parse_dependencies("aftercorr:4_*(unfulfilled)"),
            (std::vector<D>{{"aftercorr", 4, -1, "unfulfilled"}}));
  EXPECT_EQ(parse_dependencies("singleton"), (std::vector<D>{{"singleton", 0, -1, ""}}));
  EXPECT_TRUE(parse_dependencies("").empty());
  EXPECT_TRUE(parse_dependencies(":::,((").empty());
}

}  // namespace
}  // namespace fairlead
