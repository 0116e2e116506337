// Text tables that align: names to the left, numbers to the right, one blank line nowhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/words.h"

namespace fairlead {

enum class Align { left, right };

struct TableColumn {
  std::string title;
  Align align = Align::left;
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;
};

struct TableOptions {
  bool headers = true;
  int width_max = 0;  // of a line; the last left-aligned column is cut; 0: no limit
};

std::string to_text(const Table& table, const TableOptions& options = {});
std::string to_csv(const Table& table, bool headers = true);  // RFC 4180
Table printable(Table table);                                 // every cell

// How many columns of a terminal the text takes: one for a character, two for wide ones.
size_t display_width(std::string_view text);

// Control characters become visible, so that a job's name cannot drive a terminal.
std::string printable(std::string_view text);

std::string gpu_hours(int64_t gpu_seconds);      // "12.3"
std::string share(int64_t part, int64_t whole);  // "12.3 %", "-" of nothing
std::string age(Instant then, Instant now);      // "2s", "-" where not known
std::string local_time(Instant at);              // "2026-11-30 10:59:00 UTC"

}  // namespace fairlead
