#include "runtime/store_journal.h"

namespace fairlead {

Result<std::unique_ptr<StoreJournal>> StoreJournal::open(const std::string& path) {
  auto store = store::Store::open(path);
  if (!store) return std::unexpected(store.error());
  return std::unique_ptr<StoreJournal>(new StoreJournal(std::move(*store)));
}

Result<uint64_t> StoreJournal::append(std::span<const std::string> lines) {
  return store_->append(lines);
}

Result<void> StoreJournal::read_after(uint64_t seq,
                                      const std::function<bool(uint64_t, std::string_view)>& f) {
  return store_->events_after(seq, f);
}

Result<std::optional<Journal::Snapshot>> StoreJournal::load_snapshot() {
  auto kept = store_->load_snapshot();
  if (!kept) return std::unexpected(kept.error());
  if (!*kept) return std::optional<Snapshot>{};
  return Snapshot{.seq = (*kept)->seq, .bytes = std::move((*kept)->bytes)};
}

Result<void> StoreJournal::save_snapshot(uint64_t seq, std::string_view bytes) {
  if (auto saved = store_->save_snapshot(seq, bytes); !saved) return saved;
  while (true) {
    const auto pruned = store_->prune_journal(seq);
    if (!pruned) return std::unexpected(pruned.error());
    if (*pruned == 0) return {};
  }
}

}  // namespace fairlead
