#include "store/sqlite.h"

#include <fmt/format.h>

namespace fairlead::store {

Statement& Statement::bind(int64_t value) {
  sqlite3_bind_int64(handle_.get(), ++bound_, value);
  return *this;
}

Statement& Statement::bind_text(std::string_view text) {
  sqlite3_bind_text64(handle_.get(), ++bound_, text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  // A pointer of null would bind NULL rather than no bytes.
  const int code = sqlite3_bind_blob64(handle_.get(), ++bound_, bytes.empty() ? "" : bytes.data(),
                                       bytes.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) bound_ = -1000;  // too large: the step says so
  return *this;
}

std::string_view Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

Result<bool> Statement::step() {
  if (bound_ < 0) return std::unexpected(database_->problem(SQLITE_TOOBIG));
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Diagnostic problem = database_->problem(code);
  reset();
  return std::unexpected(std::move(problem));
}

Result<void> Statement::run() {
  while (true) {
    const auto row = step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
  }
  reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
  bound_ = 0;
}

Result<void> Database::open() {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path_.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) return std::unexpected(problem(code));
  sqlite3_busy_timeout(handle,
                       5000);  // a reader from outside (sqlite3, a backup) may hold it for a moment
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* handle = nullptr;
  const int code =
      sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  if (code != SQLITE_OK) return std::unexpected(problem(code));
  return Statement(this, handle);
}

Result<void> Database::run(std::string_view sql) const {
  const int code = sqlite3_exec(handle_.get(), std::string(sql).c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return std::unexpected(problem(code));
  return {};
}

Result<int64_t> Database::number(std::string_view sql) const {
  auto statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return std::unexpected(row.error());
  return *row ? statement->number(0) : 0;
}

Result<std::string> Database::text(std::string_view sql) const {
  auto statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return std::unexpected(row.error());
  return *row ? std::string(statement->text(0)) : std::string();
}

Diagnostic Database::problem(int code) const {
  const auto say = [&](std::string_view name, std::string_view what, std::string hint) {
    return Diagnostic{std::string(name), fmt::format("'{}' {}", path_, what), {}, std::move(hint)};
  };
  switch (code & 0xff) {
    case SQLITE_FULL:
      return say("store-full", "cannot grow: the disk or the set limit is full",
                 "make room; nothing that was confirmed is lost");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return say("store-corrupt", "is damaged",
                 fmt::format("move it away with its -wal file and start anew, or get back what can "
                             "be read: sqlite3 {} .recover | sqlite3 new.db",
                             path_));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return say("store-busy", "is locked by another program",
                 "end the program that has it open (sqlite3, a backup)");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return say("store-not-writable", "cannot be opened for writing",
                 "does its folder exist, and may this user write there?");
    case SQLITE_TOOBIG:
      return say("store-too-large", "cannot take so large a piece", "one piece may have 1 GB");
    case SQLITE_IOERR:
      return say("store-io", fmt::format("cannot be read or written: {}", sqlite3_errstr(code)),
                 "see to the disk; nothing that was confirmed is lost");
    default:
      return say(
          "store-failed",
          fmt::format("failed: {}", handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code)),
          "");
  }
}

Result<Transaction> Transaction::begin(const Database& database) {
  const auto begun = database.run("BEGIN IMMEDIATE");
  if (!begun) return std::unexpected(begun.error());
  return Transaction(database);
}

Result<void> Transaction::commit() {
  const auto done = database_->run("COMMIT");
  if (done) database_ = nullptr;
  return done;
}

Transaction::~Transaction() {
  // SQLite rolls back by itself after some errors.
  if (database_ != nullptr && database_->in_transaction()) (void)database_->run("ROLLBACK");
}

}  // namespace fairlead::store
