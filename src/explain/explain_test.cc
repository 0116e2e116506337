#include "explain/explain.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/engine.h"
#include "explain/policy_rules.h"

namespace fairlead {
namespace {

using enum BlockerCode;

constexpr int64_t kNow = 10'000;

Job waiting(uint32_t id, std::string reason, JobRequest request) {
  Job j{.id = id,
        .label = std::to_string(id),
        .user = "ana",
        .account = "vision",
        .qos = "batch",
        .partition = "all"};
  j.state = JobState::pending;
  j.reason = std::move(reason);
  j.priority = 100;
  j.submit = instant_of_seconds(kNow - 600);
  j.request = std::move(request);
  return j;
}

JobRequest gang(int32_t nodes, int32_t per_node, std::string model = "") {
  return {.devices = {.model = std::move(model), .per_node = per_node, .total = nodes * per_node},
          .nodes_min = nodes,
          .time_limit_s = 3600};
}

Job running(uint32_t id, std::string node, std::vector<int32_t> devices) {
  Job j = waiting(id, "None", gang(1, static_cast<int32_t>(devices.size())));
  j.state = JobState::running;
  j.start = instant_of_seconds(kNow - 300);
  j.held = {{.node = std::move(node),
             .devices = devices,
             .device_count = static_cast<int32_t>(devices.size())}};
  return j;
}

// Eight nodes of eight h100 under two leaves. n1..n3 have four devices taken each, n8 is drained.
std::vector<What> site() {
  std::vector<What> facts;
  Partition all{.name = "all"};
  for (int i = 1; i <= 8; ++i) {
    const std::string name = "n" + std::to_string(i);
    all.nodes.push_back(name);
    facts.push_back(Node{.name = name,
                         .state = NodeState::idle,
                         .drain = i == 8,
                         .reason = i == 8 ? "bad fan" : "",
                         .devices = {{"h100", 8}},
                         .cpus = 64,
                         .memory_mb = 512'000,
                         .features = {"ib"}});
  }
  facts.push_back(all);
  Partition shorts = all;
  shorts.name = "short";
  shorts.time_max_s = 1800;
  shorts.nodes_max = 2;
  facts.push_back(shorts);
  Partition closed = all;
  closed.name = "maint";
  closed.up = false;
  closed.state = "DOWN";
  facts.push_back(closed);
  facts.push_back(Topology{{{.name = "leaf0", .nodes = {"n1", "n2", "n3", "n4"}},
                            {.name = "leaf1", .nodes = {"n5", "n6", "n7", "n8"}}}});
  facts.push_back(Scheduler{.cluster = "lab", .enforces_limits = true});
  facts.push_back(Qos{.name = "batch"});
  Qos small{.name = "small", .tres_per_user = {{"gres/gpu", 8}}};
  small.limits.wall_per_job_s = 7200;
  facts.push_back(small);
  facts.push_back(Association{.id = 1, .account = "root"});
  Association research{.id = 2, .parent = 1, .account = "research"};
  research.limits.tres_group = {{"gres/gpu", 20}};
  facts.push_back(research);
  facts.push_back(Association{.id = 3, .parent = 2, .account = "vision"});
  facts.push_back(Association{.id = 4, .parent = 3, .account = "vision", .user = "ana"});
  facts.push_back(Licence{.name = "sim", .total = 4, .used = 3});
  for (int i = 1; i <= 3; ++i)
    facts.push_back(running(static_cast<uint32_t>(i), "n" + std::to_string(i), {0, 1, 2, 3}));
  Job failed = waiting(9, "", gang(1, 1));
  failed.state = JobState::failed;
  facts.push_back(failed);
  return facts;
}

Explanation explain(const std::vector<What>& extra, const Job& job) {
  Engine engine("alpha", {});
  const Instant now = instant_of_seconds(kNow);
  engine.step({.at = now, .what = PollBegan{.full = true}});
  for (const What& what : site()) engine.step({.at = now, .what = what});
  for (const What& what : extra) engine.step({.at = now, .what = what});
  engine.step({.at = now, .what = job});
  engine.step({.at = now, .what = PollEnded{}});
  Explainer explainer(engine.state());
  return explainer.explain(*explainer.find(job.label));
}

// Four of the nodes are in maintenance now, for a reservation of somebody else.
std::vector<What> maintenance() {
  std::vector<What> facts{Reservation{.name = "fix",
                                      .start = instant_of_seconds(kNow - 60),
                                      .end = instant_of_seconds(kNow + 3600),
                                      .nodes = {"n4", "n5", "n6", "n7"},
                                      .flags = {"MAINT"}}};
  for (const char* name : {"n4", "n5", "n6", "n7"}) {
    facts.push_back(Node{.name = name,
                         .state = NodeState::idle,
                         .maintenance = true,
                         .devices = {{"h100", 8}},
                         .cpus = 64,
                         .memory_mb = 512'000,
                         .features = {"ib"}});
  }
  return facts;
}

Association spent(int64_t limit_minutes, int64_t used_minutes) {
  Association research{.id = 2, .parent = 1, .account = "research"};
  research.limits.tres_minutes_group = {{"gres/gpu", limit_minutes}};
  research.used.tres_minutes = {{"gres/gpu", used_minutes}};
  return research;
}

struct Row {
  std::string_view name;
  Job job;
  std::vector<What> extra = {};
  std::vector<BlockerCode> want;
  int64_t want_short_by = -1;  // of the first; -1: whatever
  bool want_never = false;
  bool want_agrees = true;
};

Job with(Job job, auto&& change) {
  change(job);
  return job;
}

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

TEST(Explain, ACureIsNeverToAskForNothing) {
  Association full{.id = 2, .parent = 1, .account = "research"};
  full.limits.tres_group = {{"gres/gpu", 12}};  // as much as is held
  const Explanation got = explain({full}, waiting(50, "AssocGrpGRES", gang(1, 4)));
  ASSERT_FALSE(got.blockers.empty());
  EXPECT_EQ(got.blockers[0].code, ASSOCIATION_LIMIT);
  EXPECT_EQ(got.blockers[0].cure, "wait, or another class or account");
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
