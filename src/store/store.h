// What has to outlive the process: the journal of events, the newest snapshots, a few facts.
//
// One SQLite file (write-ahead log, flushed with every commit). Events are numbered from 1 without
// gaps; an append returns once the disk has them, and after a crash a batch is there whole or not
// at all. Of snapshots the last two are kept, so that a damaged one costs replay and not the state.
//
// The process that opened it owns it (a lock beside it, which goes with the process); others may
// read it with sqlite3. One thread at a time. An error leaves the store as it was before the call,
// and usable: what failed for want of room works once there is room.
//
//   recovery:  load_snapshot(), then events_after(its seq)
//   upkeep:    save_snapshot(seq, pack(bytes)), then prune_journal(seq) until it returns 0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/file.h"
#include "store/kill_point.h"
#include "store/packed.h"
#include "store/sqlite.h"

namespace fairlead::store {

struct StoreOptions {
  int64_t bytes_max = 0;  // how far the file may grow; 0: as far as the disk goes
};

struct Snapshot {
  uint64_t seq = 0;  // the last event that is in it
  std::string bytes;
  bool newer_damaged = false;  // a newer one was there and cannot be read
};

class Store {
 public:
  // Makes the file where there is none; never touches a file that is not ours.
  // Fails with lock-held, store-foreign, store-newer, store-corrupt, store-not-writable,
  // store-io, store-no-wal.
  static Result<std::unique_ptr<Store>> open(const std::string& path,
                                             const StoreOptions& options = {});

  // Writes all lines or none. Returns the number of the first; that of the next one where there is
  // none.
  Result<uint64_t> append(std::span<const std::string> lines);

  uint64_t last_seq() const { return last_seq_; }  // 0: nothing was ever appended

  // Calls on_event(seq, line) for each event above `seq`, in order, until it returns false.
  // Requires: on_event does not write to the store.
  // Fails with store-gap where an event after `seq` was pruned: replay from there would be wrong.
  Result<void> events_after(uint64_t seq,
                            const std::function<bool(uint64_t, std::string_view)>& on_event);

  // Requires: seq <= last_seq().
  Result<void> save_snapshot(uint64_t seq, const Packed& snapshot);

  // The newest that can be read. Fails with store-corrupt where none of those that are there can
  // be.
  Result<std::optional<Snapshot>> load_snapshot();

  // Drops events below `before`, but none that replay from the older kept snapshot needs, and at
  // most `rows_max`, so that appends need not wait long. Returns how many.
  Result<int64_t> prune_journal(uint64_t before, int64_t rows_max = 100'000);

  Result<void> set_meta(std::string_view key, std::string_view value);
  Result<std::optional<std::string>> meta(std::string_view key);

  int64_t size_bytes();  // of the file, without its log; -1 where it cannot be told

 private:
  Store(const std::string& path, io::FileLock lock) : lock_(std::move(lock)), database_(path) {}
  Result<void> start();
  Result<void> commit(Transaction& transaction);

  io::FileLock lock_;
  Database database_;
  KillPoints kill_points_ = KillPoints::from_environment();
  std::optional<Statement> insert_event_;
  uint64_t last_seq_ = 0;
};

}  // namespace fairlead::store
