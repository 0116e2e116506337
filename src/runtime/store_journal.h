// The journal in a store's file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/side_process.h"
#include "runtime/ports.h"
#include "store/store.h"

namespace fairlead {

class StoreJournal final : public Journal {
 public:
  // Fails with what Store::open fails with.
  static Result<std::unique_ptr<StoreJournal>> open(const std::string& path);

  Result<uint64_t> append(std::span<const std::string> lines) override;
  Result<void> read_after(uint64_t seq,
                          const std::function<bool(uint64_t, std::string_view)>& f) override;
  Result<std::optional<Snapshot>> load_snapshot() override;

  Result<void> save_snapshot(uint64_t seq, std::string_view bytes) override;
  Result<void> begin_snapshot(uint64_t seq, const std::function<std::string()>& make) override;
  Result<uint64_t> upkeep() override;

 private:
  StoreJournal(std::unique_ptr<store::Store> store, std::string beside)
      : store_(std::move(store)), beside_(std::move(beside)) {}
  std::unique_ptr<store::Store> store_;
  std::string beside_;  // where the side process leaves a snapshot
  std::optional<io::SideProcess> making_;
  uint64_t making_seq_ = 0;
  uint64_t prune_before_ = 0;  // 0: nothing to prune
};

}  // namespace fairlead
