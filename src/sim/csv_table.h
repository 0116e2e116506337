// A comma-separated table whose columns are found by name, and what the readers of such traces
// share.
//
// Names are matched in lower case; a field may stand in quotes, with commas in it. A row with more
// fields than the header has columns is left out: nobody knows which of them is the one too many.
// What a trace does not state is said in the notes and never made up, but for two things that a
// replay cannot do without: a job without a start time starts when it is submitted, and a trace
// whose times count from zero begins at HistoryOptions::base.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/history_read.h"

namespace fairlead {

class CsvTable {
 public:
  CsvTable(HistoryBuilder& builder, const HistoryInput& input);

  bool next();                 // to the next row that is not empty
  const char* defect() const;  // of the row as a whole; nothing: it can be read
  std::string_view line() const { return line_; }

  bool has(std::string_view name) const;
  bool has_any(std::initializer_list<std::string_view> names) const;
  std::string_view get(std::string_view name) const;  // empty where there is none
  std::string_view first_of(std::initializer_list<std::string_view> names) const;
  // A number that is not negative, whole part only; nothing where it is none or too large.
  std::optional<int64_t> number(std::string_view name) const;
  std::string columns() const;  // "job, submit, duration"

 private:
  HistoryBuilder& builder_;
  std::string_view text_, line_;
  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
};

bool csv_header_has(std::string_view text, std::initializer_list<std::string_view> names);

// Reads each row with `read_row(table, run)`, which returns a reason where it cannot be read.
template <class F>
Result<void> read_csv_runs(HistoryBuilder& builder, HistoryInput& input, F&& read_row) {
  CsvTable table(builder, input);
  while (table.next()) {
    HistoryRun run;
    run.id = static_cast<uint32_t>(builder.table().runs().size() + 1);
    const char* wrong = table.defect();
    if (wrong == nullptr) wrong = read_row(table, run);
    if (wrong == nullptr) wrong = settle_run(run);
    if (wrong == nullptr && builder.table().full()) wrong = "more rows than a history may have";
    if (wrong != nullptr) {
      builder.skip(wrong, table.line());
      continue;
    }
    if (run.label.size == 0) run.label = builder.table().put(std::to_string(run.id));
    builder.keep(run);
  }
  return {};
}

constexpr int64_t kDevicesMost = 10'000'000;

// Sets what a run asked for and held; returns a reason where that is no number of devices.
const char* set_devices(HistoryRun& run, std::optional<int64_t> devices);

// The second at which a trace begins whose times count from zero.
int64_t relative_zero(HistoryBuilder& builder);

}  // namespace fairlead
