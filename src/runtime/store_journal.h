// The journal in a store's file.
#pragma once

#include <memory>
#include <string>

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

  // Also drops what no kept snapshot needs any more.
  Result<void> save_snapshot(uint64_t seq, std::string_view bytes) override;

 private:
  explicit StoreJournal(std::unique_ptr<store::Store> store) : store_(std::move(store)) {}
  std::unique_ptr<store::Store> store_;
};

}  // namespace fairlead
