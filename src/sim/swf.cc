// The Standard Workload Format of the Parallel Workloads Archive: 18 columns of numbers, -1 for
// none.
#include <fmt/format.h>

#include <array>
#include <cctype>

#include "sim/history_read.h"

namespace fairlead {
namespace {

enum Field : size_t {
  kNumber,
  kSubmit,
  kWait,
  kRun,
  kProcessors,
  kAsked = 7,
  kLimit = 8,
  kStatus = 10,
  kUser,
  kGroup,
  kQueue = 14,
  kPartition,
  kFields = 18
};

std::optional<std::array<double, kFields>> numbers_of(std::string_view line) {
  std::array<double, kFields> fields{};
  size_t count = 0;
  while (true) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos) break;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, std::min(line.find_first_of(" \t"), line.size()));
    line.remove_prefix(word.size());
    const auto number = decimal_number(word);
    if (!number || !(*number > -1e15 && *number < 1e15) || count == kFields) return std::nullopt;
    fields[count++] = *number;
  }
  if (count != kFields) return std::nullopt;
  return fields;
}

JobState state_of(int64_t status) {
  if (status == 0) return JobState::failed;
  if (status == 5) return JobState::cancelled;
  return JobState::completed;
}

NameId name_of(RunTable& table, char letter, double number) {
  return number < 0
             ? 0
             : table.names().intern(fmt::format("{}{}", letter, static_cast<int64_t>(number)));
}

// "; UnixStartTime: 749458803"
int64_t start_time_of(std::string_view text) {
  const size_t at = text.substr(0, 20'000).find("UnixStartTime:");
  if (at == text.npos) return 0;
  text.remove_prefix(at + 14);
  const auto second = whole_number(without_blanks(take_line(text)));
  return second && *second > kHistorySecondMin && *second < kHistorySecondMax ? *second : 0;
}

const char* read_row(RunTable& table, std::string_view line, int64_t zero, HistoryRun& run,
                     bool& has_wait) {
  const auto fields = numbers_of(line);
  if (!fields) return "not 18 numbers";
  const auto& f = *fields;
  const auto whole = [&](size_t i) { return static_cast<int64_t>(f[i]); };
  if (f[kStatus] >= 2 && f[kStatus] <= 4) return "a part of a job whose whole is another line";
  if (f[kNumber] < 1 || f[kNumber] > 4e9) return "no job number";
  if (f[kSubmit] < 0) return "no submit time";
  const double processors = f[kProcessors] > 0 ? f[kProcessors] : f[kAsked];
  if (processors > 1e7) return "more processors than any machine has";
  run.id = static_cast<uint32_t>(f[kNumber]);
  run.label = table.put(fmt::format("{}", run.id));
  run.submit = zero + whole(kSubmit);
  run.state = state_of(whole(kStatus));
  has_wait = f[kWait] >= 0;
  if (f[kRun] >= 0) {
    run.start = run.submit + std::max<int64_t>(whole(kWait), 0);
    run.end = run.start + whole(kRun);
  } else if (run.state != JobState::cancelled) {
    return "no run time";
  } else {
    run.end = run.submit + std::max<int64_t>(whole(kWait), 0);
  }
  run.devices_asked = static_cast<int32_t>(std::max(f[kAsked] > 0 ? f[kAsked] : processors, 0.0));
  run.devices_held = static_cast<int32_t>(std::max(processors, 0.0));
  run.time_limit_s = f[kLimit] > 0 ? whole(kLimit) : -1;
  run.user = name_of(table, 'u', f[kUser]);
  run.account = name_of(table, 'g', f[kGroup]);
  run.qos = name_of(table, 'q', f[kQueue]);
  run.partition = name_of(table, 'p', f[kPartition]);
  return settle_run(run);
}

}  // namespace

bool is_swf(std::string_view text) {
  for (int i = 0; i < 200 && !text.empty(); ++i) {
    const std::string_view line = without_blanks(take_line(text));
    if (line.empty() || line.starts_with(';')) continue;
    return numbers_of(line).has_value();
  }
  return false;
}

Result<void> read_swf(HistoryBuilder& builder, HistoryInput& input) {
  std::string_view text = input.text;
  int64_t zero = start_time_of(text);
  if (zero == 0) {
    zero = floor_seconds(builder.options.base);
    builder.remark(fmt::format("the log does not say when it began: taken as {}",
                               to_rfc3339(builder.options.base)));
  }
  builder.remark("processors stand for devices: the log has no accelerators");
  HistoryNotes& notes = builder.notes();
  notes.has_ends = notes.has_devices = true;
  builder.line = 0;
  while (!text.empty()) {
    ++builder.line;
    const std::string_view line = without_blanks(take_line(text));
    if (line.empty() || line.starts_with(';')) continue;
    HistoryRun run;
    bool has_wait = false;
    if (const char* wrong = read_row(builder.table(), line, zero, run, has_wait)) {
      builder.skip(wrong, line);
      continue;
    }
    notes.has_starts = notes.has_starts || has_wait;
    notes.has_teams = notes.has_teams || run.account != 0;
    notes.has_limits = notes.has_limits || run.time_limit_s > 0;
    builder.keep(run);
  }
  return {};
}

}  // namespace fairlead
