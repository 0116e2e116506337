// Runs that accounting tells of, against sums made by hand. Every step recounts the whole state.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/engine.h"

namespace fairlead {
namespace {

constexpr int64_t kOpened = 7200;
constexpr int64_t kGpus = 8;

Instant at(int64_t second) { return instant_of_seconds(kOpened + second); }

Job job(uint32_t id, JobState state, int64_t start, int64_t end, int32_t gpus = 8) {
  Job j{.id = id,
        .label = std::to_string(id),
        .user = "ana",
        .account = "research",
        .qos = "batch",
        .partition = "all",
        .state = state,
        .submit = at(-100)};
  if (start >= 0) j.start = at(start);
  if (end >= 0) j.end = at(end);
  j.request = {.devices = {.model = "h100", .per_node = gpus, .total = gpus}};
  return j;
}

Job running(uint32_t id, int64_t start, int32_t gpus = 8, int32_t first = 0) {
  Job j = job(id, JobState::running, start, -1, gpus);
  j.held = {{.node = "n1", .device_count = gpus}};
  for (int32_t i = 0; i < gpus; ++i) j.held[0].devices.push_back(first + i);
  j.nodes = "n1";
  return j;
}

AccountedRun over(uint32_t id, int64_t start, int64_t end, int32_t gpus = 8,
                  JobState state = JobState::completed) {
  Job j = job(id, state, start, end, gpus);
  j.requeued = state == JobState::pending;
  if (start >= 0) j.nodes = "n1";
  return {j};
}

AccountedRun submitted(AccountedRun run, int64_t second) {
  run.job.submit = at(second);
  return run;
}

// One node of eight devices, seen from second 0 on.
class Site {
 public:
  Site() : engine_("alpha", {}) {
    const Node node{.name = "n1", .state = NodeState::idle, .devices = {{"h100", 8}}, .cpus = 64};
    poll(0, {node, Partition{.name = "all", .nodes = {"n1"}}}, Source::scheduler, true);
    accounting(0, {});
  }
  void poll(int64_t second, std::vector<What> records, Source source = Source::scheduler,
            bool full = false) {
    step(second, PollBegan{.source = source, .full = full});
    for (What& record : records) step(second, std::move(record));
    step(second, PollEnded{.source = source});
  }
  void full_poll(int64_t second, std::vector<What> jobs) {
    const Node node{.name = "n1", .state = NodeState::idle, .devices = {{"h100", 8}}, .cpus = 64};
    jobs.insert(jobs.begin(), {node, Partition{.name = "all", .nodes = {"n1"}}});
    poll(second, std::move(jobs), Source::scheduler, true);
  }
  void accounting(int64_t second, std::vector<AccountedRun> runs) {
    poll(second, {runs.begin(), runs.end()}, Source::accounting);
  }
  void look(int64_t second, int64_t ppm) {
    Samples samples;
    for (int32_t i = 0; i < 8; ++i)
      samples.samples.push_back(
          {.node = "n1", .index = i, .at = at(second), .utilisation_ppm = ppm});
    step(second, samples);
  }
  void step(int64_t second, What what) {
    engine_.step({.at = at(second), .what = std::move(what)});
    ASSERT_EQ(engine_.recount(), "");
  }
  ByColumn sums(int64_t second) {
    step(second, Tick{});
    ByColumn sum;
    engine_.state().ledger.for_each(
        0, kOpened + second, [&](const Account& a, int64_t, int64_t ms) { sum[a.column] += ms; });
    for (size_t c = 0; c < kColumns; ++c) sum[static_cast<Column>(c)] /= kMilli;
    EXPECT_EQ(sum.total(), kGpus * second);
    return sum;
  }
  const State& state() const { return engine_.state(); }
  const PastWorkload* past(uint32_t id) const {
    for (const PastWorkload& p : state().past) {
      if (p.job == id) return &p;
    }
    return nullptr;
  }

 private:
  Engine engine_;
};

struct GapRow {
  const char* name;
  std::vector<Job> before;         // what ran when we were last there, at 100
  std::vector<AccountedRun> told;  // what accounting tells afterwards
  std::vector<Job> listed;         // what the scheduler lists afterwards
  ByColumn want;                   // seconds until 10'100
};

// We are away from 100 to 10'000, across two full hours.
const GapRow kGapRows[] = {
    {.name = "a job that ended",
     .before = {running(1, 50)},
     .told = {over(1, 50, 4000)},
     .listed = {},
     .want = {.held_unmeasured = 8 * 3950, .free = 8 * (10'100 - 3950)}},
    {.name = "a job that began and ended",
     .before = {},
     .told = {over(1, 200, 4200)},
     .listed = {},
     .want = {.held_unmeasured = 8 * 4000, .free = 8 * 6100}},
    {.name = "one after the other on the same devices, and the last one runs still",
     .before = {running(1, 50)},
     .told = {over(1, 50, 1000), over(2, 1000, 3000, 4), over(3, 3000, 9000)},
     .listed = {running(4, 9500)},
     .want = {.held_unmeasured = 8 * 950 + 4 * 2000 + 8 * 6000 + 8 * 600,
              .free = 8 * 50 + 4 * 2000 + 8 * 500}},
    {.name = "a job that was requeued and runs again",
     .before = {running(1, 50)},
     .told = {over(1, 50, 1000, 8, JobState::pending)},
     .listed = {[] {
       Job again = running(1, 2000);
       again.submit = at(1000);
       again.restarts = 1;
       return again;
     }()},
     .want = {.held_unmeasured = 8 * 8100, .lost = 8 * 950, .free = 8 * 1050}},
    {.name = "requeued twice, the run between never seen",
     .before = {running(1, 50)},
     .told = {over(1, 50, 1000, 8, JobState::pending),
              submitted(over(1, 2000, 3000, 8, JobState::node_fail), 1000)},
     .listed = {[] {
       Job again = running(1, 4000);
       again.submit = at(3000);
       again.restarts = 2;
       return again;
     }()},
     .want = {.held_unmeasured = 8 * 6100, .lost = 8 * (950 + 1000), .free = 8 * 2050}},
    {.name = "requeued, and the second run ended too",
     .before = {running(1, 50)},
     .told = {over(1, 50, 1000, 8, JobState::pending),
              submitted(over(1, 2000, 3000, 8, JobState::cancelled), 1000)},
     .listed = {},
     .want = {.held_unmeasured = 8 * 1000, .lost = 8 * 950, .free = 8 * 8150}},
    {.name = "a job that waited and was cancelled",
     .before = {job(1, JobState::pending, -1, -1)},
     .told = {over(1, -1, 500, 8, JobState::cancelled)},
     .listed = {},
     .want = {.free = 8 * 10'100}},
    {.name = "an end that the scheduler still lists too",
     .before = {running(1, 50)},
     .told = {over(1, 50, 4000)},
     .listed = {[] {
       Job ended = job(1, JobState::completed, 50, 4000);
       ended.nodes = "n1";
       return ended;
     }()},
     .want = {.held_unmeasured = 8 * 3950, .free = 8 * (10'100 - 3950)}},
};

void come_before(Site& site, const GapRow& row) {
  std::vector<What> before(row.before.begin(), row.before.end());
  site.poll(100, std::move(before));
}

// Stranded counts as free here: nothing of these rows is about shapes.
ByColumn merged(ByColumn sum) {
  sum.free += std::exchange(sum.stranded, 0);
  return sum;
}

TEST(Accounted, WhatHappenedWhileWeWereAwayIsBookedAsItWas) {
  for (const GapRow& row : kGapRows) {
    SCOPED_TRACE(row.name);
    Site site;
    come_before(site, row);
    site.accounting(10'000, row.told);
    site.full_poll(10'001, {row.listed.begin(), row.listed.end()});
    site.accounting(10'010, row.told);  // told again: nothing twice
    EXPECT_EQ(merged(site.sums(10'100)), row.want);
  }
}

// slurmdbd was down as well: the scheduler tells first, and the rows are put right afterwards.
TEST(Accounted, TheSumsAreTheSameWhenAccountingIsLate) {
  for (const GapRow& row : kGapRows) {
    SCOPED_TRACE(row.name);
    Site site;
    come_before(site, row);
    site.step(10'000, PollBegan{.source = Source::accounting});
    site.step(10'000, PollEnded{.source = Source::accounting, .ok = false, .detail = "down"});
    site.full_poll(10'000, {row.listed.begin(), row.listed.end()});
    site.poll(10'030, {});
    site.accounting(10'035, row.told);
    site.poll(10'060, {});
    site.accounting(10'065, row.told);
    EXPECT_EQ(merged(site.sums(10'100)), row.want);
  }
}

TEST(Accounted, BothRunsOfARequeuedJobAreKnownAfterwards) {
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late);
    Site site;
    site.poll(100, {running(1, 50)});
    if (late) {
      site.full_poll(10'000, {});
      site.poll(10'030, {});
    }
    site.accounting(10'035, {over(1, 50, 1000, 8, JobState::pending),
                             submitted(over(1, 2000, 3000, 8, JobState::cancelled), 1000)});
    site.full_poll(10'040, {});
    site.poll(10'110, {});
    site.accounting(10'111, {});
    const PastWorkload* past = site.past(1);
    ASSERT_NE(past, nullptr);
    EXPECT_EQ(past->state, JobState::cancelled);
    EXPECT_EQ(past->epochs, 2);
    ASSERT_EQ(past->former.size(), 1U);
    EXPECT_EQ(past->former[0].end, at(1000));
    EXPECT_EQ(past->former[0].state, JobState::pending);
    EXPECT_EQ(past->last.start, at(2000));
  }
}

TEST(Accounted, AVanishedRunIsSettledByWhatAccountingSays) {
  Site site;
  site.poll(10, {running(1, 10)});
  site.look(20, 900'000);
  site.poll(30, {});
  site.look(31, 900'000);
  site.poll(40, {JobGone{1}});
  // Seen at work until 30, and gone at 40: nobody saw what it did between.
  EXPECT_EQ(site.sums(40), (ByColumn{.useful = 8 * 10, .held_unmeasured = 8 * 20, .free = 8 * 10}));
  EXPECT_EQ(site.state().queues.unsettled(), 1U);
  AccountedRun told = over(1, 10, 34, 8, JobState::failed);
  told.job.exit_code = 3;
  site.accounting(45, {told});
  EXPECT_EQ(site.sums(50), (ByColumn{.useful = 8 * 10, .held_unmeasured = 8 * 14, .free = 8 * 26}));
  EXPECT_EQ(site.state().queues.unsettled(), 0U);
  site.poll(120, {});
  site.accounting(121, {told});
  ASSERT_NE(site.past(1), nullptr);
  EXPECT_EQ(site.past(1)->state, JobState::failed);
  EXPECT_EQ(site.past(1)->last.exit_code, 3);
  EXPECT_EQ(site.past(1)->last.end, at(34));
  EXPECT_EQ(site.past(1)->milli_seconds.held(), 8 * 24 * kMilli);
}

// We were away for less than the grace, and looks at the devices went on after the run's end.
TEST(Accounted, WhatALookTookForItsWorkAfterItsEndIsGivenBackToo) {
  Site site;
  site.poll(10, {running(1, 10)});
  site.look(12, 900'000);
  site.poll(15, {});
  site.look(20, 0);
  site.look(25, 900'000);
  site.poll(55, {JobGone{1}});
  site.accounting(60, {over(1, 10, 16)});
  EXPECT_EQ(site.sums(70).held(), 8 * 6);
  EXPECT_EQ(site.sums(70).free, 8 * 64);
}

TEST(Accounted, AnotherJobOfTheSameNumberIsAWorkloadOfItsOwn) {
  Site site;
  site.poll(100, {running(1, 50)});
  AccountedRun other = submitted(over(1, 4000, 5000), 3900);
  other.job.user = "bob";
  site.accounting(10'000, {other});
  site.full_poll(10'001, {});
  EXPECT_EQ(site.state().past.size(), 2U);
  EXPECT_EQ(site.state().past[0].state, JobState::vanished);
  EXPECT_EQ(site.state().past[1].state, JobState::completed);
  site.sums(10'100);
}

TEST(Accounted, AVanishedRunThatComesBackIsTheSameRun) {
  Site site;
  site.poll(10, {running(1, 10)});
  site.poll(40, {JobGone{1}});
  site.poll(50, {running(1, 10)});
  const Workload& w = site.state().workloads.at(*site.state().queues.find("1"));
  EXPECT_TRUE(w.holding);
  EXPECT_EQ(w.epoch, 1);
  EXPECT_EQ(site.sums(60), (ByColumn{.held_unmeasured = 8 * 50, .free = 8 * 10}));
}

TEST(Accounted, WhatTheSchedulerListsIsTheSchedulersToTell) {
  Site site;
  site.poll(10, {running(1, 10)});
  site.accounting(12, {over(1, 10, 11)});
  EXPECT_EQ(site.sums(20), (ByColumn{.held_unmeasured = 8 * 10, .free = 8 * 10}));
}

// What contradicts itself is booked as far as the hour has seconds that nobody held, and no
// further.
TEST(Accounted, ANodeWithoutRoomIsNeverBookedAboveItsHardware) {
  Site site;
  site.poll(10, {running(1, 10)});
  site.poll(100, {});
  site.accounting(101, {over(2, 20, 90)});
  EXPECT_EQ(site.sums(101), (ByColumn{.held_unmeasured = 8 * 101}));
}

// Accounting took the seconds that nobody held, of no device in particular; a start that is told
// late gets what the hour has left, and no more.
TEST(Accounted, WhatWasTakenFromTheFreeIsNotHeldASecondTime) {
  Site site;
  site.poll(10, {running(1, 10, 4)});
  site.full_poll(100, {job(1, JobState::completed, 10, 100, 4)});
  site.accounting(101, {over(2, 20, 90)});
  site.poll(110, {running(3, 30, 4, 4)});
  EXPECT_EQ(site.sums(110), (ByColumn{.held_unmeasured = 8 * 110}));
}

// Any runs of any devices, told in any share by the scheduler and by accounting: hardware adds up,
// and every run that fits is booked for what it held.
RC_GTEST_PROP(Accounted, AnyGapAddsUp, ()) {
  Site site;
  std::vector<AccountedRun> told;
  std::vector<What> before, after;
  int64_t want = 0;
  for (int32_t device = 0; device < 8; ++device) {  // each device has its own chain of runs
    int64_t second = *rc::gen::inRange<int64_t>(1, 90);
    for (uint32_t n = 0; n < 4; ++n) {
      const int64_t start = second + *rc::gen::inRange<int64_t>(0, 2000);
      const int64_t end = start + *rc::gen::inRange<int64_t>(1, 4000);
      second = end;
      const uint32_t id = static_cast<uint32_t>(device) * 10 + n + 1;
      if (start <= 100) before.emplace_back(running(id, start, 1, device));
      if (start >= 9000) break;
      if (end > 9000) {
        after.emplace_back(running(id, start, 1, device));
        want += 10'000 - start;
        break;
      }
      if (end <= 100) {
        before.pop_back();
        continue;
      }
      told.push_back(over(id, start, end, 1));
      want += end - start;
    }
  }
  std::ranges::sort(told, {},
                    [](const AccountedRun& r) { return std::pair(r.job.start, r.job.id); });
  site.poll(100, before);
  const bool late = *rc::gen::arbitrary<bool>();
  if (!late) site.accounting(9000, told);
  site.full_poll(9001, after);
  if (late) {
    site.poll(9030, {});
    site.accounting(9031, told);
  }
  RC_ASSERT(site.sums(10'000).held() == want);
}

}  // namespace
}  // namespace fairlead
