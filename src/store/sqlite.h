// SQLite with owners for its handles and diagnostics for its errors.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::store {

class Database;

// One prepared statement. What bind() is given has to live until the step.
class Statement {
 public:
  Statement& bind(int64_t value);
  Statement& bind_text(std::string_view text);
  Statement& bind_blob(std::string_view bytes);

  // Returns whether there is a row. Fails as Database::problem says.
  Result<bool> step();
  Result<void> run();  // steps to the end, then is ready to be bound again
  void reset();

  int64_t number(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  std::string_view text(int column) const;  // or a blob's bytes; until the next step

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  Statement(const Database* database, sqlite3_stmt* handle)
      : database_(database), handle_(handle) {}
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int bound_ = 0;
};

// Not movable: statements point to it.
class Database {
 public:
  explicit Database(std::string path) : path_(std::move(path)) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Result<void> open();  // makes the file where there is none
  Result<Statement> prepare(std::string_view sql) const;
  Result<void> run(std::string_view sql) const;  // one or several statements without rows
  Result<int64_t> number(
      std::string_view sql) const;  // the first column of the first row; 0 where there is none
  Result<std::string> text(std::string_view sql) const;
  bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }
  int64_t changes() const { return sqlite3_changes64(handle_.get()); }

  // store-full, store-io, store-corrupt, store-busy, store-not-writable, store-too-large,
  // store-failed.
  Diagnostic problem(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// Rolls back unless it was committed.
class Transaction {
 public:
  static Result<Transaction> begin(const Database& database);
  Result<void> commit();
  Transaction(Transaction&& other) noexcept : database_(other.database_) {
    other.database_ = nullptr;
  }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

 private:
  explicit Transaction(const Database& database) : database_(&database) {}
  const Database* database_;
};

}  // namespace fairlead::store
