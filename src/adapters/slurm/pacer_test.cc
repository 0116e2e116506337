#include "adapters/slurm/pacer.h"

#include <gtest/gtest.h>

namespace fairlead::slurm {
namespace {

constexpr Duration ms(int64_t n) { return {n * 1000}; }

struct IntervalRow {
  std::string_view name;
  Part part = Part::jobs;
  PaceLimits limits;
  Duration cost;
  bool ok = true;
  Duration want;  // from one read to the next
};

TEST(Pacer, WaitsByWhatAReadCosts) {
  const IntervalRow rows[] = {
      {.name = "an unchanged table is soon looked at again", .cost = ms(1), .want = seconds(1)},
      {.name = "6 ms are 0.6 % of a second", .cost = ms(6), .want = seconds(1)},
      {.name = "18 ms are 0.6 % of three", .cost = ms(18), .want = seconds(3)},
      {.name = "10,000 jobs cost 80 ms: no later than 4.5 s", .cost = ms(80), .want = ms(4500)},
      {.name = "a stalled answer, too", .cost = seconds(30), .want = ms(4500)},
      {.name = "a failed read is tried again soon",
       .cost = seconds(8),
       .ok = false,
       .want = seconds(1)},
      {.name = "a site may ask for less",
       .limits = {.shortest = seconds(10)},
       .cost = ms(1),
       .want = seconds(10)},
      {.name = "and for a smaller share",
       .limits = {.jobs_longest = seconds(60), .share_ppm = 1'000},
       .cost = ms(18),
       .want = seconds(30)},
      {.name = "nodes at 2 s", .part = Part::nodes, .cost = ms(1), .want = seconds(2)},
      {.name = "a fleet of nodes that costs 10 ms",
       .part = Part::nodes,
       .cost = ms(10),
       .want = seconds(10)},
      {.name = "associations at 10 s", .part = Part::rules, .cost = ms(2), .want = seconds(10)},
      {.name = "many associations at most once a minute",
       .part = Part::rules,
       .cost = ms(100),
       .want = seconds(60)},
      {.name = "the topology hardly ever",
       .part = Part::topology,
       .cost = ms(1),
       .want = seconds(300)},
  };
  for (const IntervalRow& row : rows) {
    SCOPED_TRACE(row.name);
    Pacer pacer(row.limits);
    const Instant at = instant_of_seconds(1000);
    for (const Part part : kParts) pacer.was_read(part, instant_of_seconds(9'000), {}, true);
    pacer.was_read(row.part, at, row.cost, row.ok);
    EXPECT_EQ(pacer.next() - at, row.want);
    EXPECT_TRUE(pacer.due(at + row.want - Duration{1}).empty());
    EXPECT_EQ(pacer.due(at + row.want), std::vector<Part>{row.part});
  }
}

TEST(Pacer, EverythingIsDueAtTheStart) {
  Pacer pacer({});
  EXPECT_EQ(pacer.due({}).size(), kPartCount);
  for (const Part part : kParts) pacer.was_read(part, instant_of_seconds(10), {}, true);
  EXPECT_TRUE(pacer.due(instant_of_seconds(10)).empty());
}

TEST(Pacer, HoldsOffWhileTheControllerIsAway) {
  Pacer pacer({});
  pacer.hold_off(instant_of_seconds(15));
  EXPECT_EQ(pacer.next(), instant_of_seconds(15));
  EXPECT_TRUE(pacer.due(instant_of_seconds(14)).empty());
  EXPECT_EQ(pacer.due(instant_of_seconds(15)).size(), kPartCount);
}

// At 10,000 jobs and a change every second: the sum of what is read, over an hour.
TEST(Pacer, KeepsToItsShare) {
  Pacer pacer({});
  const auto cost_of = [](Part part) {
    return part == Part::jobs ? ms(36) : part == Part::steps ? ms(3) : ms(1);
  };
  Duration spent;
  Instant now = instant_of_seconds(1);
  for (const Instant end = now + seconds(3600); now < end; now = pacer.next()) {
    for (const Part part : pacer.due(now)) {
      pacer.was_read(part, now, cost_of(part), true);
      spent.us += cost_of(part).us;
    }
  }
  EXPECT_LE(spent.us, seconds(36).us);  // 1 % of an hour
}

}  // namespace
}  // namespace fairlead::slurm
