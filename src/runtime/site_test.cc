#include "runtime/site.h"

#include <gtest/gtest.h>

#include "codec/event_json.h"

namespace fairlead {
namespace {

Instant at(int64_t s) { return instant_of_seconds(7200 + s); }

// A journal in memory that can be full.
class MemoryJournal final : public Journal {
 public:
  Result<uint64_t> append(std::span<const std::string> more) override {
    if (full) return fail("store-full", "the disk is full");
    lines.insert(lines.end(), more.begin(), more.end());
    return lines.size() - more.size() + 1;
  }
  Result<void> read_after(uint64_t seq,
                          const std::function<bool(uint64_t, std::string_view)>& f) override {
    for (uint64_t i = seq; i < lines.size(); ++i) {
      if (!f(i + 1, lines[i])) break;
    }
    return {};
  }
  Result<std::optional<Snapshot>> load_snapshot() override { return kept; }
  Result<void> save_snapshot(uint64_t seq, std::string_view bytes) override {
    kept = Snapshot{seq, std::string(bytes)};
    return {};
  }
  std::vector<std::string> lines;
  std::optional<Snapshot> kept;
  bool full = false;
};

std::vector<Event> poll(int64_t second, std::vector<What> records, bool full = false) {
  std::vector<Event> events = {{.at = at(second), .what = PollBegan{.full = full}}};
  for (What& what : records) events.push_back({.at = at(second), .what = std::move(what)});
  events.push_back({.at = at(second), .what = PollEnded{}});
  return events;
}

Node node(std::string name) {
  return {.name = std::move(name), .state = NodeState::idle, .devices = {{"h100", 8}}};
}

std::unique_ptr<Site> open(MemoryJournal& journal) {
  auto site = Site::open({.name = "alpha"}, journal);
  EXPECT_TRUE(site.has_value());
  return std::move(*site);
}

TEST(Site, APollIsTakenInWhenItIsWhole) {
  MemoryJournal journal;
  auto site = open(journal);
  const auto events = poll(0, {node("n1")}, true);
  for (size_t i = 0; i + 1 < events.size(); ++i) site->take_line(to_json(events[i]));
  EXPECT_TRUE(journal.lines.empty());
  EXPECT_EQ(site->state().fleet.present_devices(), 0);
  site->take_line(to_json(events.back()));
  EXPECT_EQ(journal.lines.size(), 3u);
  EXPECT_EQ(site->state().fleet.present_devices(), 8);
  EXPECT_EQ(site->polls_ended(Source::scheduler), 1u);
}

TEST(Site, AHalfPollIsDroppedAndItsEndIsTold) {
  MemoryJournal journal;
  auto site = open(journal);
  site->take_poll(poll(0, {node("n1"), node("n2")}, true));
  site->take_line(to_json(Event{.at = at(5), .what = PollBegan{.full = true}}));
  site->take_line(to_json(Event{.at = at(5), .what = node("n1")}));
  site->source_failed(Source::scheduler, at(6), "the bridge ended");
  EXPECT_EQ(site->state().fleet.present_devices(), 16);
  EXPECT_FALSE(site->state().source(Source::scheduler).ok);
}

TEST(Site, ALineThatCannotBeReadDropsNothing) {
  MemoryJournal journal;
  auto site = open(journal);
  site->take_poll(poll(0, {node("n1"), node("n2")}, true));
  site->take_line(to_json(Event{.at = at(5), .what = PollBegan{.full = true}}));
  site->take_line(to_json(Event{.at = at(5), .what = node("n1")}));
  site->take_line(R"({"at":7205000000,"node":{"name":"n2","cp)");
  site->take_line(to_json(Event{.at = at(5), .what = PollEnded{}}));
  EXPECT_EQ(site->state().fleet.present_devices(), 16);
  EXPECT_EQ(site->state().source(Source::scheduler).unreadable, 1);
}

TEST(Site, ARestartHasTheSameStateFromSnapshotAndJournal) {
  MemoryJournal journal;
  auto site = open(journal);
  site->take_poll(poll(0, {node("n1")}, true));
  ASSERT_TRUE(site->snapshot().has_value());
  site->take_poll(poll(10, {node("n2")}));
  const Digest want = site->engine().digest();
  site.reset();
  auto again = open(journal);
  EXPECT_EQ(again->replayed(), 3u);
  EXPECT_EQ(again->engine().digest(), want);
  journal.kept.reset();  // without a snapshot the journal alone gives the same
  EXPECT_EQ(open(journal)->engine().digest(), want);
}

TEST(Site, WhatCannotBeJournaledIsNotTakenIn) {
  MemoryJournal journal;
  auto site = open(journal);
  site->take_poll(poll(0, {node("n1")}, true));
  journal.full = true;
  site->take_poll(poll(10, {node("n2")}));
  EXPECT_EQ(site->state().fleet.present_devices(), 8);
  EXPECT_NE(site->journal_problem().find("disk is full"), std::string::npos);
  EXPECT_TRUE(site->wants_full_poll());
  journal.full = false;
  site->take_poll(poll(20, {node("n1"), node("n2")}, true));
  EXPECT_EQ(site->state().fleet.present_devices(), 16);
  EXPECT_TRUE(site->journal_problem().empty());
}

TEST(Site, ASnapshotOfAnotherVersionIsRefused) {
  MemoryJournal journal;
  journal.kept = Journal::Snapshot{1, R"({"fairlead_state":99})"};
  EXPECT_EQ(Site::open({}, journal).error().code, "state-version");
}

TEST(Site, ALookThatSaysTheSameCostsTheJournalLittle) {
  MemoryJournal journal;
  auto site = open(journal);
  site->take_poll(poll(0, {node("n1")}, true));
  const auto look = [&](int64_t second) {
    Samples samples;
    for (int32_t i = 0; i < 8; ++i) {
      for (const int64_t earlier : {5, 0}) {
        samples.samples.push_back({.node = "n1",
                                   .index = i,
                                   .at = at(second - earlier),
                                   .utilisation_ppm = 900'000 + second,
                                   .memory_used_mib = 60'000});
      }
    }
    site->take_poll({{.at = at(second), .what = PollBegan{.source = Source::telemetry}},
                     {.at = at(second), .what = std::move(samples)},
                     {.at = at(second), .what = PollEnded{.source = Source::telemetry}}});
    return journal.lines[journal.lines.size() - 2].size();
  };
  const size_t first = look(10);
  EXPECT_LT(look(20) * 8, first);
  EXPECT_EQ(site->state().devices[7].activity.at, at(20));
  EXPECT_EQ(open(journal)->engine().digest(), site->engine().digest());
}

TEST(Site, TelemetryBetweenTheLinesOfAPollStandsForItself) {
  MemoryJournal journal;
  auto site = open(journal);
  const auto events = poll(0, {node("n1")}, true);
  site->take_line(to_json(events[0]));
  site->take_poll({{.at = at(0), .what = PollBegan{.source = Source::telemetry}},
                   {.at = at(0), .what = PollEnded{.source = Source::telemetry}}});
  site->take_line(to_json(events[1]));
  site->take_line(to_json(events[2]));
  EXPECT_EQ(site->polls_ended(Source::scheduler), 1u);
  EXPECT_EQ(site->polls_ended(Source::telemetry), 1u);
  EXPECT_EQ(site->state().fleet.present_devices(), 8);
}

}  // namespace
}  // namespace fairlead
