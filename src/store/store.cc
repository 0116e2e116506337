#include "store/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "store/packed.h"
#include "store/store_open.h"

namespace fairlead::store {
namespace {

constexpr int kSnapshotsKept = 2;

// The snapshot in the row that `select` stands on.
Result<std::string> read_snapshot(const Statement& select) {
  return unpack({.size = select.number(1),
                 .packed = select.number(2),
                 .digest = select.number(3),
                 .bytes = std::string(select.text(4))});
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& path, const StoreOptions& options) {
  const auto file = check_file(path);
  if (!file) return std::unexpected(file.error());
  const std::string lock_path = path + ".lock";
  std::error_code hidden;  // a folder that may not be entered says nothing of its files
  const bool lock_is_new = !std::filesystem::exists(lock_path, hidden);
  auto lock = io::FileLock::take(lock_path, path);
  if (!lock && lock.error().code == "file-not-allowed") lock.error().code = "store-not-writable";
  if (!lock && lock.error().code == "file-unwritable") lock.error().code = "store-io";
  if (!lock) return std::unexpected(lock.error());
  std::unique_ptr<Store> store(new Store(path, std::move(*lock)));
  const auto opened = store->database_.open();
  if (!opened) return std::unexpected(opened.error());
  const auto ours = check_owner(store->database_, path);
  if (!ours) {
    if (lock_is_new) std::filesystem::remove(lock_path);  // beside what is not ours nothing stays
    return std::unexpected(ours.error());
  }
  const auto ready = prepare_database(store->database_, path, options.bytes_max);
  if (!ready) return std::unexpected(ready.error());
  const auto started = store->start();
  if (!started) return std::unexpected(started.error());
  return store;
}

Result<void> Store::start() {
  // What was pruned is in a snapshot, so the two together know the last number given.
  const auto last = database_.number(
      "SELECT max(coalesce((SELECT max(seq) FROM journal), 0), coalesce((SELECT max(seq) FROM "
      "snapshot), 0))");
  if (!last) return std::unexpected(last.error());
  last_seq_ = static_cast<uint64_t>(*last);
  auto insert = database_.prepare("INSERT INTO journal (seq, line) VALUES (?, ?)");
  if (!insert) return std::unexpected(insert.error());
  insert_event_ = std::move(*insert);
  return {};
}

Result<void> Store::commit(Transaction& transaction) {
  kill_points_.pass();
  const auto done = transaction.commit();
  if (done) kill_points_.pass();
  return done;
}

Result<uint64_t> Store::append(std::span<const std::string> lines) {
  const uint64_t first = last_seq_ + 1;
  if (lines.empty()) return first;
  auto transaction = Transaction::begin(database_);
  if (!transaction) return std::unexpected(transaction.error());
  uint64_t seq = last_seq_;
  for (const std::string& line : lines) {
    const auto done = insert_event_->bind(static_cast<int64_t>(++seq)).bind_text(line).run();
    if (!done) return std::unexpected(done.error());
  }
  const auto done = commit(*transaction);
  if (!done) return std::unexpected(done.error());
  last_seq_ = seq;
  return first;
}

Result<void> Store::events_after(uint64_t seq,
                                 const std::function<bool(uint64_t, std::string_view)>& on_event) {
  auto select = database_.prepare("SELECT seq, line FROM journal WHERE seq > ? ORDER BY seq");
  if (!select) return std::unexpected(select.error());
  select->bind(static_cast<int64_t>(seq));
  for (uint64_t expected = seq + 1; expected <= last_seq_; ++expected) {
    const auto row = select->step();
    if (!row) return std::unexpected(row.error());
    if (!*row || static_cast<uint64_t>(select->number(0)) != expected) {
      return fail("store-gap", fmt::format("the journal no longer holds event {}", expected),
                  "start from a newer snapshot");
    }
    if (!on_event(expected, select->text(1))) break;
  }
  return {};
}

Result<void> Store::save_snapshot(uint64_t seq, const Packed& snapshot) {
  CHECK(seq <= last_seq_);
  auto transaction = Transaction::begin(database_);
  if (!transaction) return std::unexpected(transaction.error());
  auto insert = database_.prepare(
      "INSERT OR REPLACE INTO snapshot (seq, size, packed, digest, bytes) VALUES (?, ?, ?, ?, ?)");
  if (!insert) return std::unexpected(insert.error());
  insert->bind(static_cast<int64_t>(seq))
      .bind(snapshot.size)
      .bind(snapshot.packed)
      .bind(snapshot.digest)
      .bind_blob(snapshot.bytes);
  const auto inserted = insert->run();
  if (!inserted) return inserted;
  const auto dropped = database_.run(fmt::format(
      "DELETE FROM snapshot WHERE seq NOT IN (SELECT seq FROM snapshot ORDER BY seq DESC LIMIT {})",
      kSnapshotsKept));
  if (!dropped) return dropped;
  return commit(*transaction);
}

Result<std::optional<Snapshot>> Store::load_snapshot() {
  auto select =
      database_.prepare("SELECT seq, size, packed, digest, bytes FROM snapshot ORDER BY seq DESC");
  if (!select) return std::unexpected(select.error());
  bool damaged = false;
  while (true) {
    const auto row = select->step();
    if (!row) return std::unexpected(row.error());
    if (!*row && damaged) return std::unexpected(database_.problem(SQLITE_CORRUPT));
    if (!*row) return std::optional<Snapshot>{};
    auto bytes = read_snapshot(*select);
    if (bytes) {
      return Snapshot{.seq = static_cast<uint64_t>(select->number(0)),
                      .bytes = std::move(*bytes),
                      .newer_damaged = damaged};
    }
    damaged = true;
  }
}

Result<int64_t> Store::prune_journal(uint64_t before, int64_t rows_max) {
  const auto oldest = database_.number("SELECT coalesce(min(seq), 0) FROM snapshot");
  if (!oldest) return std::unexpected(oldest.error());
  const int64_t limit = static_cast<int64_t>(std::min(before, static_cast<uint64_t>(*oldest) + 1));
  auto transaction = Transaction::begin(database_);
  if (!transaction) return std::unexpected(transaction.error());
  auto remove = database_.prepare(
      "DELETE FROM journal WHERE seq IN (SELECT seq FROM journal WHERE seq < ? ORDER BY seq LIMIT "
      "?)");
  if (!remove) return std::unexpected(remove.error());
  const auto removed = remove->bind(limit).bind(rows_max).run();
  if (!removed) return std::unexpected(removed.error());
  const int64_t count = database_.changes();
  const auto done = commit(*transaction);
  if (!done) return std::unexpected(done.error());
  return count;
}

Result<void> Store::set_meta(std::string_view key, std::string_view value) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return std::unexpected(transaction.error());
  auto insert = database_.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)");
  if (!insert) return std::unexpected(insert.error());
  const auto inserted = insert->bind_text(key).bind_text(value).run();
  if (!inserted) return inserted;
  return commit(*transaction);
}

Result<std::optional<std::string>> Store::meta(std::string_view key) {
  auto select = database_.prepare("SELECT value FROM meta WHERE key = ?");
  if (!select) return std::unexpected(select.error());
  const auto row = select->bind_text(key).step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::optional<std::string>{};
  return std::string(select->text(0));
}

int64_t Store::size_bytes() {
  const auto pages = database_.number("PRAGMA page_count");
  const auto page_size = database_.number("PRAGMA page_size");
  return pages && page_size ? *pages * *page_size : -1;
}

}  // namespace fairlead::store
