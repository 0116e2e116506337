#include "runtime/store_journal.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace fairlead {

namespace {

constexpr int64_t kPruneRows = 10'000;  // some 20 ms

// What side processes left that were killed.
void remove_all_of(const std::string& beside) {
  namespace fs = std::filesystem;
  const fs::path path(beside);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::absolute(path).parent_path(), ignored)) {
    if (entry.path().filename().string().starts_with(path.filename().string()))
      fs::remove(entry.path(), ignored);
  }
}

}  // namespace

Result<std::unique_ptr<StoreJournal>> StoreJournal::open(const std::string& path) {
  auto store = store::Store::open(path);
  if (!store) return std::unexpected(store.error());
  const std::string beside = path + ".snapshot-being-made";
  remove_all_of(beside);
  return std::unique_ptr<StoreJournal>(new StoreJournal(std::move(*store), beside));
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
  making_.reset();  // older than this one
  prune_before_ = 0;
  if (auto saved = store_->save_snapshot(seq, store::pack(bytes)); !saved) return saved;
  while (true) {
    const auto pruned = store_->prune_journal(seq);
    if (!pruned) return std::unexpected(pruned.error());
    if (*pruned == 0) return {};
  }
}

Result<void> StoreJournal::begin_snapshot(uint64_t seq, const std::function<std::string()>& make) {
  if (making_) return {};
  auto started = io::SideProcess::start([&] {
    const auto written = store::write_packed(beside_, store::pack(make()));
    return written ? 0 : errno != 0 ? errno : EIO;
  });
  if (!started) return std::unexpected(started.error());
  making_ = std::move(*started);
  making_seq_ = seq;
  return {};
}

Result<uint64_t> StoreJournal::upkeep() {
  if (making_) {
    const auto ended = making_->ended();
    if (!ended) return 0;
    making_.reset();
    if (!*ended) return std::unexpected(ended->error());
    const auto packed = store::read_packed(beside_);
    std::remove(beside_.c_str());
    if (!packed) return std::unexpected(packed.error());
    prune_before_ = making_seq_;
    if (auto saved = store_->save_snapshot(making_seq_, *packed); !saved)
      return std::unexpected(saved.error());
    return static_cast<uint64_t>(packed->size);
  }
  if (prune_before_ == 0) return 0;
  const auto pruned = store_->prune_journal(prune_before_, kPruneRows);
  if (!pruned) return std::unexpected(pruned.error());
  if (*pruned == 0) prune_before_ = 0;
  return 0;
}

}  // namespace fairlead
