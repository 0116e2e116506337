#include "runtime/store_journal.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>
#include <fstream>

#include "codec/event_json.h"
#include "io/testing.h"
#include "runtime/site.h"

namespace fairlead {
namespace {

Instant at(int64_t s) { return instant_of_seconds(7200 + s); }

std::vector<Event> poll_of(int64_t second, int nodes) {
  std::vector<Event> events = {{.at = at(second), .what = PollBegan{}}};
  for (int i = 0; i < nodes; ++i) {
    events.push_back({.at = at(second),
                      .what = Node{.name = "n" + std::to_string(i),
                                   .state = NodeState::idle,
                                   .reason = std::to_string(second),
                                   .devices = {{"h100", 8}}}});
  }
  events.push_back({.at = at(second), .what = PollEnded{}});
  return events;
}

class StoreJournalTest : public testing::Test {
 protected:
  std::unique_ptr<StoreJournal> open() {
    auto journal = StoreJournal::open(path);
    EXPECT_TRUE(journal) << to_text(journal.error());
    return std::move(*journal);
  }
  // The snapshot's number once it is there.
  uint64_t snapshot_seq(StoreJournal& journal, Site& site) {
    for (int i = 0; i < 5000; ++i) {
      site.upkeep();
      const auto kept = journal.load_snapshot();
      if (kept && *kept) return (*kept)->seq;
      ::poll(nullptr, 0, 2);
    }
    return 0;
  }
  io::TemporaryFolder folder;
  std::string path = folder / "fairlead.db";
};

TEST_F(StoreJournalTest, ASnapshotIsWrittenBesideTheWork) {
  Digest want;
  {
    const auto journal = open();
    auto site = Site::open({.snapshot_every_bytes = 2000}, *journal).value();
    site->take_poll(poll_of(0, 50));  // the snapshot is due, and begun
    const uint64_t begun = site->state().seq;
    site->take_poll(poll_of(10, 1));  // goes on while it is made
    EXPECT_EQ(snapshot_seq(*journal, *site), begun);
    EXPECT_EQ(site->journal_problem(), "");
    want = site->engine().digest();
  }
  const auto journal = open();
  const auto site = Site::open({.snapshot_every_bytes = 2000}, *journal).value();
  EXPECT_EQ(site->engine().digest(), want);
  EXPECT_EQ(site->replayed(), 3u);  // what came after the snapshot
  for (const auto& entry : std::filesystem::directory_iterator(folder / ""))
    EXPECT_FALSE(entry.path().string().contains("being-made")) << entry.path();
}

TEST_F(StoreJournalTest, WhatAKilledProcessLeftIsRemovedAndNothingElse) {
  std::ofstream(path + ".snapshot-being-made.Xa3kZq") << "half";
  std::ofstream(path + ".snapshot.bak") << "somebody's";
  open();
  EXPECT_FALSE(std::filesystem::exists(path + ".snapshot-being-made.Xa3kZq"));
  EXPECT_TRUE(std::filesystem::exists(path + ".snapshot.bak"));
}

TEST_F(StoreJournalTest, ASnapshotThatFailsIsSaidAndLosesNothing) {
  const auto journal = open();
  auto site = Site::open({.snapshot_every_bytes = 2000}, *journal).value();
  std::filesystem::create_directory(path + ".snapshot-being-made");  // a file cannot take its place
  site->take_poll(poll_of(0, 50));
  for (int i = 0; i < 5000 && site->journal_problem().empty(); ++i) {
    site->upkeep();
    ::poll(nullptr, 0, 2);
  }
  EXPECT_TRUE(site->journal_problem().contains("Is a directory")) << site->journal_problem();
  EXPECT_FALSE(journal->load_snapshot().value());
  EXPECT_EQ(Site::open({}, *journal).value()->engine().digest(), site->engine().digest());
}

}  // namespace
}  // namespace fairlead
