// What the runtime needs of the world, as ports.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace fairlead {

// Where events are kept before they are decided. One owner.
class Journal {
 public:
  virtual ~Journal() = default;

  // Keeps the lines, all or none, and returns the number of the first; they follow one another.
  virtual Result<uint64_t> append(std::span<const std::string> lines) = 0;

  // Calls f(seq, line) for each line after `seq`, in order, until f returns false.
  virtual Result<void> read_after(uint64_t seq,
                                  const std::function<bool(uint64_t, std::string_view)>& f) = 0;

  // The newest snapshot that can be read, with the number of the last event in it.
  struct Snapshot {
    uint64_t seq = 0;
    std::string bytes;
  };
  virtual Result<std::optional<Snapshot>> load_snapshot() = 0;
  // Also drops what no kept snapshot needs any more.
  virtual Result<void> save_snapshot(uint64_t seq, std::string_view bytes) = 0;

  // The same without keeping the caller waiting: `make` runs on memory as it is now, and upkeep()
  // takes the result in. Here: at once.
  virtual Result<void> begin_snapshot(uint64_t seq, const std::function<std::string()>& make) {
    return save_snapshot(seq, make());
  }
  // A small piece of what was put off. Call it every second. Returns the size of the snapshot that
  // this completed, or 0; fails with what a begun snapshot failed with.
  virtual Result<uint64_t> upkeep() { return 0; }
};

// Keeps nothing: for a look without a daemon.
class NoJournal final : public Journal {
 public:
  Result<uint64_t> append(std::span<const std::string> lines) override {
    const uint64_t first = next_;
    next_ += lines.size();
    return first;
  }
  Result<void> read_after(uint64_t,
                          const std::function<bool(uint64_t, std::string_view)>&) override {
    return {};
  }
  Result<std::optional<Snapshot>> load_snapshot() override { return std::optional<Snapshot>{}; }
  Result<void> save_snapshot(uint64_t, std::string_view) override { return {}; }

 private:
  uint64_t next_ = 1;
};

}  // namespace fairlead
