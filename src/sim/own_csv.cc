// A table of one's own: the columns that docs/howto/replay.md lists, by name.
#include <fmt/format.h>

#include <algorithm>

#include "sim/csv_table.h"

namespace fairlead {

bool is_own_csv(std::string_view text) {
  for (const std::string_view submit : {"submit", "submit_time", "submitted"}) {
    for (const std::string_view job : {"job", "job_id", "jobid", "id"}) {
      if (csv_header_has(text, {job, submit}) &&
          text.substr(0, text.find('\n')).find('|') == text.npos)
        return true;
    }
  }
  return false;
}

namespace {

const std::initializer_list<std::string_view> kDevices = {"gpus", "num_gpus", "num_gpu", "devices"};

class OwnReader {
 public:
  explicit OwnReader(HistoryBuilder& builder) : builder_(builder) {}

  const char* row(const CsvTable& t, HistoryRun& run) {
    const auto submit = time(t.first_of({"submit", "submit_time", "submitted"}));
    const auto start = time(t.first_of({"start", "start_time", "started"}));
    const auto end = time(t.first_of({"end", "end_time", "ended"}));
    if (!submit || *submit == 0) return "submit is no time";
    if (!start) return "start is no time";
    if (!end) return "end is no time";
    run.submit = *submit;
    run.end = *end;
    run.start = *start;
    const bool has_start = t.has_any({"start", "start_time", "started"});
    if (!has_start) run.start = run.submit;
    if (const auto length = t.number("duration"); length && run.end == 0 && run.start != 0)
      run.end = run.start + *length;
    if (const char* wrong = read_state(t.first_of({"state", "status"}), run)) return wrong;
    return read_rest(t, run);
  }

 private:
  static const char* read_state(std::string_view word, HistoryRun& run) {
    if (word.empty()) {
      run.state = run.end != 0     ? JobState::completed
                  : run.start != 0 ? JobState::running
                                   : JobState::pending;
      return nullptr;
    }
    std::string upper(word);
    std::ranges::transform(upper, upper.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    const StatedState stated = parse_state(upper);
    if (stated.state == JobState::unknown) return "state is none that we know";
    run.state = stated.state;
    run.how = stated.how;
    if (has_ended(run.state) && run.end == 0) return "ended and has no end";
    if (!has_ended(run.state)) run.end = 0;
    if (run.state == JobState::pending) run.start = 0;
    return nullptr;
  }

  const char* read_rest(const CsvTable& t, HistoryRun& run) {
    RunTable& table = builder_.table();
    const auto name = [&](std::initializer_list<std::string_view> columns) {
      return table.names().intern(t.first_of(columns));
    };
    run.label = table.put(t.first_of({"job", "job_id", "jobid", "id"}));
    run.user = name({"user"});
    run.account = name({"team", "account", "project", "group"});
    run.qos = name({"class", "qos"});
    run.partition = name({"partition", "queue"});
    run.model = name({"model", "gpu_model", "accelerator"});
    if (const auto nodes = t.number("nodes"))
      run.nodes_count = static_cast<int32_t>(std::clamp<int64_t>(*nodes, 1, 1'000'000));
    if (const auto limit = t.number("time_limit")) run.time_limit_s = *limit;
    const std::string_view devices = t.first_of(kDevices);
    if (devices.empty()) return nullptr;
    const auto number = decimal_number(devices);
    if (!number || !(*number >= 0)) return "gpus is no number";
    return set_devices(run, static_cast<int64_t>(std::min(*number, 1e12)));
  }

  // Seconds that are too small to be a date count from the beginning of the trace.
  std::optional<int64_t> time(std::string_view text) {
    if (const auto number = decimal_number(text);
        number && *number >= 0 && *number < static_cast<double>(kHistorySecondMin)) {
      return relative_zero(builder_) + static_cast<int64_t>(*number);
    }
    return parse_time(text, whole_seconds(builder_.options.utc_offset));
  }

  HistoryBuilder& builder_;
};

}  // namespace

Result<void> read_own_csv(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  const CsvTable header(builder, input);
  notes.has_starts = notes.has_starts || header.has_any({"start", "start_time", "started"});
  notes.has_ends = true;
  notes.has_devices = notes.has_devices || header.has_any(kDevices);
  if (!header.has_any(kDevices)) {
    builder.remark(fmt::format(
        "no column says how many GPUs a job asked for ({}): all count as none; the columns are {}",
        fmt::join(kDevices, ", "), header.columns()));
  }
  notes.has_teams = notes.has_teams || header.has_any({"team", "account", "project", "group"});
  notes.has_limits = notes.has_limits || header.has("time_limit");
  OwnReader reader(builder);
  return read_csv_runs(builder, input,
                       [&](const CsvTable& t, HistoryRun& run) { return reader.row(t, run); });
}

}  // namespace fairlead
