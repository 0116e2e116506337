#include "store/store_open.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace fairlead::store {
namespace {

constexpr int64_t kCheckedBytesMax = 64 << 20;  // a check of what is larger would hold the start up

constexpr std::string_view kTables = R"(
  CREATE TABLE journal (seq INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT;
  CREATE TABLE snapshot (seq INTEGER PRIMARY KEY, size INTEGER NOT NULL, packed INTEGER NOT NULL,
                         digest INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
)";

std::unexpected<Diagnostic> foreign(const std::string& path, std::string_view what) {
  return fail("store-foreign", fmt::format("'{}' is {}, and is left as it is", path, what),
              "give the store a path of its own");
}

Result<void> make_tables(const Database& database) {
  // Ours from the first byte on: the mark and the tables come into being together.
  auto transaction = Transaction::begin(database);
  if (!transaction) return std::unexpected(transaction.error());
  const auto made = database.run(fmt::format("{} PRAGMA application_id={}; PRAGMA user_version={};",
                                             kTables, kApplicationId, kFormat));
  if (!made) return made;
  return transaction->commit();
}

}  // namespace

Result<void> check_file(const std::string& path) {
  static constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  std::error_code no_file, hidden;  // a folder that may not be entered hides its files
  const auto size = std::filesystem::file_size(path, no_file);
  if (no_file && std::filesystem::exists(path, hidden)) return foreign(path, "no regular file");
  if (no_file || size == 0) return {};
  std::ifstream file(path, std::ios::binary);
  char head[16] = {};
  if (!file.read(head,
                 std::min<std::streamsize>(sizeof head, static_cast<std::streamsize>(size)))) {
    return fail("store-not-writable", fmt::format("'{}' cannot be read", path),
                "may this user read and write it?");
  }
  if (std::string_view(head, sizeof head) != kMagic) return foreign(path, "no database");
  return {};
}

Result<void> check_owner(const Database& database, const std::string& path) {
  const auto id = database.number("PRAGMA application_id");
  if (!id) return std::unexpected(id.error());
  const auto format = database.number("PRAGMA user_version");
  if (!format) return std::unexpected(format.error());
  const auto tables = database.number("SELECT count(*) FROM sqlite_master");
  if (!tables) return std::unexpected(tables.error());
  if (*id == 0 && *format == 0 && *tables == 0) return {};  // new
  if (*id != kApplicationId) return foreign(path, "the database of another program");
  if (*format > kFormat) {
    return fail("store-newer",
                fmt::format("'{}' was written by a newer fairlead (format {}, this one reads {})",
                            path, *format, kFormat),
                "start the newer fairlead, or restore the copy made before it was");
  }
  const auto pages = database.number("PRAGMA page_count");
  const auto page_size = database.number("PRAGMA page_size");
  if (!pages || !page_size || *pages * *page_size > kCheckedBytesMax) return {};
  const auto verdict = database.text("PRAGMA quick_check(1)");
  if (!verdict || *verdict != "ok") return std::unexpected(database.problem(SQLITE_CORRUPT));
  return {};
}

Result<void> prepare_database(const Database& database, const std::string& path,
                              int64_t bytes_max) {
  const auto tables = database.number("SELECT count(*) FROM sqlite_master");
  if (!tables) return std::unexpected(tables.error());
  if (*tables == 0) {
    const auto made = make_tables(database);
    if (!made) return made;
  }
  const auto mode = database.text("PRAGMA journal_mode=WAL");
  if (!mode) return std::unexpected(mode.error());
  if (*mode != "wal") {
    return fail(
        "store-no-wal",
        fmt::format("'{}' lies on a file system that cannot share memory between processes", path),
        "put the store on a local disk, not on a network file system");
  }
  const auto modes = database.run(
      "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA cache_size=-65536;"
      "PRAGMA wal_autocheckpoint=4000; PRAGMA journal_size_limit=16777216;");
  if (!modes || bytes_max == 0) return modes;
  const auto page_size = database.number("PRAGMA page_size");
  if (!page_size) return std::unexpected(page_size.error());
  const auto limit = database.number(
      fmt::format("PRAGMA max_page_count={}", std::max<int64_t>(1, bytes_max / *page_size)));
  if (!limit) return std::unexpected(limit.error());
  return {};
}

}  // namespace fairlead::store
