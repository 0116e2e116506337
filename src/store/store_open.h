// Opening a store's file, or refusing it. For store.cc alone.
#pragma once

#include "store/sqlite.h"

namespace fairlead::store {

constexpr int64_t kApplicationId = 0x464c4431;  // "FLD1"
constexpr int64_t kFormat = 1;

// Fails with store-foreign where the file is no database at all.
Result<void> check_file(const std::string& path);

// Fails with store-foreign, store-newer, store-corrupt.
Result<void> check_owner(const Database& database, const std::string& path);

// Sets the modes, and makes the tables where there are none. Fails with store-no-wal and SQLite's.
Result<void> prepare_database(const Database& database, const std::string& path, int64_t bytes_max);

}  // namespace fairlead::store
