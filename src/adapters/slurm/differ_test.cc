#include "adapters/slurm/differ.h"

#include <gtest/gtest.h>

#include "codec/event_json.h"

namespace fairlead::slurm {
namespace {

Job waits(uint32_t id) { return {.id = id, .state = JobState::pending}; }
Job runs(uint32_t id) {
  return {.id = id,
          .state = JobState::running,
          .held = {{.node = "n1", .devices = {0}, .device_count = 1}}};
}

// One event, short: "job 7", "job_gone 7", "poll_began full".
std::string short_text(const What& what) {
  if (const auto* r = std::get_if<PollBegan>(&what)) return r->full ? "began full" : "began";
  if (const auto* r = std::get_if<PollEnded>(&what))
    return "ended" + std::string(r->ok ? "" : " bad") +
           (r->unreadable != 0 ? " unreadable " + std::to_string(r->unreadable) : "");
  if (const auto* r = std::get_if<Job>(&what)) return "job " + std::to_string(r->id);
  if (const auto* r = std::get_if<JobGone>(&what)) return "gone " + std::to_string(r->id);
  if (const auto* r = std::get_if<Node>(&what)) return "node " + r->name;
  if (const auto* r = std::get_if<NodeGone>(&what)) return "gone " + r->name;
  if (const auto* r = std::get_if<RuleGone>(&what)) return "gone " + r->kind + " " + r->name;
  return kWhatNames[what.index()];
}

std::vector<std::string> texts(const std::vector<What>& events) {
  std::vector<std::string> out;
  for (const What& what : events) out.push_back(short_text(what));
  return out;
}

using Texts = std::vector<std::string>;

PerPart<bool> changed(std::initializer_list<Part> parts) {
  PerPart<bool> out;
  for (const Part part : parts) out[part] = true;
  return out;
}

TEST(Differ, StatesEverythingOnceThenWhatChanged) {
  SlurmFacts facts{.jobs = {runs(1), waits(2)}, .nodes = {{.name = "n1"}}};
  Differ differ;
  EXPECT_EQ(texts(differ.poll(facts, {}, false)),
            (Texts{"began full", "scheduler", "node n1", "job 2", "job 1", "ended"}));
  EXPECT_EQ(texts(differ.poll(facts, changed({Part::jobs, Part::nodes}), false)),
            (Texts{"began", "ended"}));
  facts.jobs[0].comment = "x";
  facts.nodes.clear();
  EXPECT_EQ(texts(differ.poll(facts, changed({Part::jobs}), false)),
            (Texts{"began", "job 1", "ended"}));
  EXPECT_EQ(texts(differ.poll(facts, changed({Part::nodes}), false)),
            (Texts{"began", "gone n1", "ended"}));
  EXPECT_EQ(texts(differ.poll(facts, {}, true)),
            (Texts{"began full", "scheduler", "job 2", "job 1", "ended"}));
}

TEST(Differ, WhatLeftComesBeforeWhatTookItsPlace) {
  SlurmFacts facts{.jobs = {runs(9), runs(3)}};
  Differ differ;
  differ.poll(facts, {}, true);
  facts.jobs = {runs(4), waits(5)};
  EXPECT_EQ(texts(differ.poll(facts, changed({Part::jobs}), false)),
            (Texts{"began", "job 5", "gone 3", "gone 9", "job 4", "ended"}));
}

TEST(Differ, AnUnreadableRecordIsNotGone) {
  SlurmFacts facts{.jobs = {waits(1), waits(2)}};
  Differ differ;
  differ.poll(facts, {}, true);
  facts.jobs = {waits(1)};
  facts.unreadable[Part::jobs] = 1;
  EXPECT_EQ(texts(differ.poll(facts, changed({Part::jobs}), false)),
            (Texts{"began", "ended unreadable 1"}));
  facts.unreadable[Part::jobs] = 0;
  EXPECT_EQ(texts(differ.poll(facts, changed({Part::jobs}), false)),
            (Texts{"began", "gone 2", "ended"}));
}

TEST(Differ, RulesThatLeaveAreNamed) {
  SlurmFacts facts{.partitions = {{.name = "a"}},
                   .qos = {{.name = "q"}},
                   .associations = {{.id = 7}},
                   .reservations = {{.name = "r"}},
                   .licences = {{.name = "l"}}};
  Differ differ;
  differ.poll(facts, {}, true);
  EXPECT_EQ(
      texts(differ.poll(
          {}, changed({Part::partitions, Part::rules, Part::reservations, Part::licences}), false)),
      (Texts{"began", "gone partition a", "gone qos q", "gone association 7", "gone reservation r",
             "gone licence l", "ended"}));
}

TEST(Differ, WhatMovesAtEveryLookIsNoChange) {
  Job job = waits(1);
  const Digest before = digest_of(job);
  job.last_evaluated = instant_of_seconds(9);
  EXPECT_EQ(digest_of(job), before);
  job.start_planned = instant_of_seconds(299);
  EXPECT_EQ(digest_of(job), before);
  job.start_planned = instant_of_seconds(300);
  EXPECT_NE(digest_of(job), before);
}

TEST(Differ, UsageThatHardlyMovedIsNoChange) {
  const Digest before =
      digest_of(Association{.id = 1, .usage_raw = 1'000'000, .fairshare_ppm = 500'100});
  EXPECT_EQ(digest_of(Association{.id = 1, .usage_raw = 1'000'900, .fairshare_ppm = 500'900}),
            before);
  EXPECT_NE(digest_of(Association{.id = 1, .usage_raw = 1'020'000, .fairshare_ppm = 500'100}),
            before);
  EXPECT_NE(digest_of(Association{.id = 1, .usage_raw = 1'000'000, .fairshare_ppm = 502'000}),
            before);
}

TEST(Differ, AFailedPollDropsNothing) {
  EXPECT_EQ(texts(Differ::failed_poll("down")), (Texts{"began", "ended bad"}));
}

}  // namespace
}  // namespace fairlead::slurm
