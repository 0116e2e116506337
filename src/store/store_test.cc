#include "store/store.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "io/testing.h"

namespace fairlead::store {
namespace {

using io::TemporaryFolder;
using Lines = std::vector<std::string>;

Lines read_journal(Store& store, uint64_t after = 0) {
  Lines lines;
  const auto done = store.events_after(after, [&](uint64_t seq, std::string_view line) {
    lines.push_back(fmt::format("{} {}", seq, line));
    return true;
  });
  EXPECT_TRUE(done) << to_text(done.error());
  return lines;
}

class StoreTest : public testing::Test {
 protected:
  std::unique_ptr<Store> open(StoreOptions options = {}) {
    auto store = Store::open(path, options);
    EXPECT_TRUE(store) << to_text(store.error());
    return std::move(*store);
  }
  std::string refusal() {
    const auto store = Store::open(path);
    EXPECT_FALSE(store);
    if (store) return "";
    EXPECT_FALSE(store.error().hint.empty());
    EXPECT_TRUE(store.error().message.contains(path)) << store.error().message;
    return store.error().code;
  }
  void write(std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  void sql(const std::string& statements) {
    Database database(path);
    ASSERT_TRUE(database.open());
    const auto done = database.run(statements);
    ASSERT_TRUE(done) << to_text(done.error());
  }

  TemporaryFolder folder;
  std::string path = folder / "fairlead.db";
};

TEST_F(StoreTest, EventsAreNumberedAndThereAgain) {
  {
    const auto store = open();
    EXPECT_EQ(store->append({}).value(), 1u);
    EXPECT_EQ(store->append(Lines{"a", "b"}).value(), 1u);
    EXPECT_EQ(store->append(Lines{std::string("c\0c", 3)}).value(), 3u);
  }
  const auto store = open();
  EXPECT_EQ(store->last_seq(), 3u);
  EXPECT_EQ(read_journal(*store), (Lines{"1 a", "2 b", std::string("3 c\0c", 5)}));
  EXPECT_EQ(read_journal(*store, 2).size(), 1u);
  EXPECT_EQ(read_journal(*store, 3).size(), 0u);
  EXPECT_EQ(store->append(Lines{"d"}).value(), 4u);
}

TEST_F(StoreTest, ReadingStopsWhenAsked) {
  const auto store = open();
  ASSERT_TRUE(store->append(Lines{"a", "b", "c"}));
  int seen = 0;
  ASSERT_TRUE(store->events_after(0, [&](uint64_t, std::string_view) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
  EXPECT_TRUE(store->append(Lines{"d"}));  // and nothing is left open
}

TEST_F(StoreTest, KeepsTheLastTwoSnapshots) {
  const auto store = open();
  EXPECT_EQ(store->load_snapshot().value(), std::nullopt);
  ASSERT_TRUE(store->append(Lines(10, "x")));
  const std::string large(3'000'000, 's');
  ASSERT_TRUE(store->save_snapshot(2, pack("")));
  EXPECT_EQ(store->load_snapshot().value()->bytes, "");
  ASSERT_TRUE(store->save_snapshot(4, pack("four")));
  ASSERT_TRUE(store->save_snapshot(6, pack(large)));
  const auto snapshot = store->load_snapshot().value();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->seq, 6u);
  EXPECT_EQ(snapshot->bytes, large);
  EXPECT_LT(store->size_bytes(), 1'000'000);  // packed
}

TEST_F(StoreTest, ADamagedSnapshotCostsReplayOnly) {
  {
    const auto store = open();
    ASSERT_TRUE(store->append(Lines(10, "x")));
    ASSERT_TRUE(store->save_snapshot(4, pack("four")));
    ASSERT_TRUE(store->save_snapshot(6, pack(std::string(100'000, 's'))));
    ASSERT_TRUE(store->prune_journal(100));
  }
  sql("UPDATE snapshot SET bytes = x'00ff' WHERE seq = 6");
  const auto store = open();
  const auto snapshot = store->load_snapshot().value();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->seq, 4u);
  EXPECT_EQ(snapshot->bytes, "four");
  EXPECT_TRUE(snapshot->newer_damaged);
  EXPECT_EQ(read_journal(*store, 4).size(), 6u);  // pruning left what this one needs
  sql("UPDATE snapshot SET bytes = x'00'");
  EXPECT_EQ(store->load_snapshot().error().code, "store-corrupt");
}

TEST_F(StoreTest, PrunesOnlyWhatNoSnapshotNeeds) {
  auto store = open();
  ASSERT_TRUE(store->append(Lines(10, "x")));
  EXPECT_EQ(store->prune_journal(100).value(), 0);
  ASSERT_TRUE(store->save_snapshot(4, pack("four")));
  ASSERT_TRUE(store->save_snapshot(8, pack("eight")));
  EXPECT_EQ(store->prune_journal(100, 3).value(), 3);
  EXPECT_EQ(store->prune_journal(100, 3).value(), 1);
  EXPECT_EQ(store->prune_journal(100, 3).value(), 0);
  EXPECT_EQ(read_journal(*store, 4).size(), 6u);
  EXPECT_EQ(store->events_after(2, [](uint64_t, std::string_view) { return true; }).error().code,
            "store-gap");
  ASSERT_TRUE(store->save_snapshot(9, pack("nine")));
  ASSERT_TRUE(store->save_snapshot(10, pack("ten")));
  EXPECT_EQ(store->prune_journal(11).value(), 5);
  store.reset();
  EXPECT_EQ(open()->append(Lines{"y"}).value(), 11u);  // numbers are never given twice
}

TEST_F(StoreTest, MetaIsKept) {
  {
    const auto store = open();
    EXPECT_EQ(store->meta("site").value(), std::nullopt);
    ASSERT_TRUE(store->set_meta("site", "alpha"));
    ASSERT_TRUE(store->set_meta("site", "beta"));
  }
  EXPECT_EQ(open()->meta("site").value(), "beta");
}

TEST_F(StoreTest, HasOneOwner) {
  const auto store = open();
  EXPECT_EQ(refusal(), "lock-held");
  sql("SELECT count(*) FROM journal");  // to read along is fine
}

TEST_F(StoreTest, RefusesWhatIsNotItsOwn) {
  write("these are no pages of a database, and somebody needs them");
  EXPECT_EQ(refusal(), "store-foreign");
  write("short");
  EXPECT_EQ(refusal(), "store-foreign");
  EXPECT_EQ(io::read_file(path, 100).value(), "short");
  std::filesystem::remove(path);
  sql("CREATE TABLE recipes (name TEXT)");
  EXPECT_EQ(refusal(), "store-foreign");
  EXPECT_FALSE(std::filesystem::exists(path + ".lock"));
  sql("DROP TABLE recipes; PRAGMA application_id=7");
  EXPECT_EQ(refusal(), "store-foreign");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(refusal(), "store-foreign");
}

TEST_F(StoreTest, RefusesANewerFormatAndADamagedFile) {
  {
    ASSERT_TRUE(open()->append(Lines(2000, std::string(100, 'x'))));
  }
  const auto size = std::filesystem::file_size(path);
  sql("PRAGMA user_version=99");
  EXPECT_EQ(refusal(), "store-newer");
  sql("PRAGMA user_version=1");
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file << std::string(8192, '\x5a');
  }
  EXPECT_EQ(refusal(), "store-corrupt");
  std::filesystem::resize_file(path, size / 2);
  EXPECT_EQ(refusal(), "store-corrupt");
  EXPECT_EQ(std::filesystem::file_size(path), size / 2);
  path = folder / "no/such/folder/db";
  EXPECT_EQ(refusal(), "store-io");
}

TEST_F(StoreTest, AFullDiskLosesNothingAndPasses) {
  const auto store = open({.bytes_max = 400'000});
  const Lines batch(10, std::string(1000, 'x'));
  Result<uint64_t> appended = 0;
  size_t batches = 0;
  while ((appended = store->append(batch))) ++batches;
  EXPECT_EQ(appended.error().code, "store-full");
  EXPECT_GT(batches, 10u);
  EXPECT_EQ(store->last_seq(), batches * 10);
  EXPECT_EQ(read_journal(*store).size(), batches * 10);
  EXPECT_EQ(store->append(batch).error().code, "store-full");
  EXPECT_EQ(store->save_snapshot(store->last_seq(), pack(std::string(60'000, 'x'))).error().code,
            "store-full");
  ASSERT_TRUE(store->save_snapshot(store->last_seq(), pack("small")));
  EXPECT_EQ(store->prune_journal(store->last_seq()).value(),
            static_cast<int64_t>(batches * 10 - 1));
  EXPECT_EQ(store->append(batch).value(), batches * 10 + 1);  // room was made
}

TEST_F(StoreTest, AWriteThatTheSystemRefusesIsAnError) {
  const auto store = open();
  ASSERT_TRUE(store->append(Lines{"before"}));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{.rlim_cur = std::filesystem::file_size(path + "-wal") + 10'000,
                     .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto refused = store->append(Lines(100, std::string(1000, 'x')));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().code == "store-io" || refused.error().code == "store-full")
      << refused.error().code;
  EXPECT_EQ(store->append(Lines{"after"}).value(), 2u);
  EXPECT_EQ(read_journal(*store), (Lines{"1 before", "2 after"}));
}

// Writes until it is killed; tells each batch that was confirmed.
[[noreturn]] void write_until_killed(const std::string& path, int64_t at, int acknowledge) {
  ::setenv("FAIRLEAD_KILL_AT", std::to_string(at).c_str(), 1);
  const auto store = Store::open(path);
  if (!store) ::_exit(1);
  for (int batch = 1;; ++batch) {
    const Lines lines(3, std::to_string(batch));
    if (!(*store)->append(lines)) ::_exit(2);
    if (::write(acknowledge, &batch, sizeof batch) != sizeof batch) ::_exit(3);
    if (batch % 3 != 0) continue;
    const uint64_t seq = (*store)->last_seq();
    if (!(*store)->save_snapshot(seq, pack(std::string(100'000, 's') + std::to_string(batch))))
      ::_exit(4);
    if (!(*store)->prune_journal(seq)) ::_exit(5);
  }
}

TEST_F(StoreTest, SurvivesBeingKilledAtEveryWritePoint) {
  for (int64_t at = 1; at <= 40; ++at) {
    SCOPED_TRACE(fmt::format("FAIRLEAD_KILL_AT={}", at));
    path = folder / fmt::format("killed-{}.db", at);
    int acknowledged[2];
    ASSERT_EQ(::pipe(acknowledged), 0);
    const pid_t pid = ::fork();
    if (pid == 0) write_until_killed(path, at, acknowledged[1]);
    ::close(acknowledged[1]);
    int batch = 0, last = 0;
    while (::read(acknowledged[0], &batch, sizeof batch) == sizeof batch) last = batch;
    ::close(acknowledged[0]);
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;

    const auto store = open();
    const auto snapshot = store->load_snapshot();
    ASSERT_TRUE(snapshot) << to_text(snapshot.error());
    const uint64_t from = *snapshot ? (*snapshot)->seq : 0;
    if (from > 0) {
      EXPECT_EQ((*snapshot)->bytes.substr(100'000), std::to_string(from / 3));
    }
    EXPECT_GE(store->last_seq(), static_cast<uint64_t>(last) * 3);  // every confirmed batch
    EXPECT_LE(store->last_seq(), static_cast<uint64_t>(last + 1) * 3);
    EXPECT_EQ(store->last_seq() % 3, 0u);  // and none by half
    const Lines rest = read_journal(*store, from);
    EXPECT_EQ(rest.size(), store->last_seq() - from);
    for (size_t i = 0; i < rest.size(); ++i) {
      const uint64_t seq = from + i + 1;
      EXPECT_EQ(rest[i], fmt::format("{} {}", seq, (seq + 2) / 3));
    }
  }
}

}  // namespace
}  // namespace fairlead::store
