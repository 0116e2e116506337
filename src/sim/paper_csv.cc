// Traces that come with papers: Philly, Muri, Chronus, Gavel, and Alibaba's disaggregated
// inference.
#include <fmt/format.h>

#include <algorithm>

#include "sim/csv_table.h"

namespace fairlead {

bool is_philly(std::string_view text) {
  return csv_header_has(text, {"timestamp", "duration", "num_gpus", "cluster"});
}

Result<void> read_philly(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_ends = notes.has_devices = notes.has_teams = true;
  builder.remark(
      "the trace states no outcome: each job counts as completed; teams are its virtual clusters");
  return read_csv_runs(builder, input, [&](const CsvTable& t, HistoryRun& run) -> const char* {
    const auto submit = parse_time(t.get("timestamp"), 0);
    const auto length = t.number("duration");
    if (!submit || *submit == 0) return "timestamp is no time";
    if (!length) return "duration is no number of seconds";
    run.submit = run.start = *submit;
    run.end = run.start + *length;
    run.state = JobState::completed;
    run.account = builder.table().names().intern(t.get("cluster"));
    return set_devices(run, t.number("num_gpus"));
  });
}

// Muri's times are milliseconds, as the length of an iteration is, by which it is known.
bool is_muri(std::string_view text) {
  return csv_header_has(text, {"job_id", "num_gpu", "submit_time", "duration", "iteration_time"});
}

Result<void> read_muri(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_ends = notes.has_devices = true;
  const int64_t zero = relative_zero(builder);
  builder.remark("an end is the submission and the time that the job would run alone");
  return read_csv_runs(builder, input, [&](const CsvTable& t, HistoryRun& run) -> const char* {
    const auto submit = t.number("submit_time");
    const auto length = t.number("duration");
    if (!submit || !length) return "submit_time or duration is no number of milliseconds";
    run.submit = run.start = zero + *submit / 1000;
    run.end = run.start + *length / 1000;
    run.state = JobState::completed;
    run.label = builder.table().put(t.get("job_id"));
    run.qos = builder.table().names().intern(t.get("model_name"));
    return set_devices(run, t.number("num_gpu"));
  });
}

// Chronus has Muri's columns and counts seconds.
bool is_chronus(std::string_view text) {
  return csv_header_has(
      text, {"job_id", "num_gpu", "submit_time", "duration", "expect_time_list", "best_effort"});
}

Result<void> read_chronus(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_ends = notes.has_devices = notes.has_teams = true;
  const int64_t zero = relative_zero(builder);
  builder.remark(
      "an end is the submission and the time that the job would run alone; deadlines are left out; "
      "teams are its virtual clusters");
  return read_csv_runs(builder, input, [&](const CsvTable& t, HistoryRun& run) -> const char* {
    const auto submit = t.number("submit_time");
    const auto length = t.number("duration");
    if (!submit || !length) return "submit_time or duration is no number of seconds";
    run.submit = run.start = zero + *submit;
    run.end = run.start + *length;
    run.state = JobState::completed;
    run.label = builder.table().put(t.get("job_id"));
    run.account = builder.table().names().intern(t.get("user"));
    run.qos = builder.table().names().intern(t.get("job_type"));
    return set_devices(run, t.number("num_gpu"));
  });
}

bool is_gavel(std::string_view text) {
  return csv_header_has(text, {"job_id", "job_type", "scale_factor", "unit_interarrival"});
}

Result<void> read_gavel(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_ends = notes.has_devices = true;
  const int64_t zero = relative_zero(builder);
  builder.remark(
      fmt::format("arrivals are relative: taken at {} jobs an hour; an end is the submission and "
                  "the time alone on V100",
                  builder.options.arrivals_per_hour));
  double arrival_s = 0;
  return read_csv_runs(builder, input, [&](const CsvTable& t, HistoryRun& run) -> const char* {
    const auto gap = decimal_number(t.get("unit_interarrival"));
    const auto length = t.number("duration_s_on_v100");
    if (!gap || !(*gap >= 0 && *gap < 1e6) || !length)
      return "unit_interarrival or duration_s_on_v100 is no number";
    if (run.id > 1) arrival_s += *gap * 3600 / std::max(builder.options.arrivals_per_hour, 1e-3);
    run.submit = run.start = zero + static_cast<int64_t>(arrival_s);
    run.end = run.start + *length;
    run.state = JobState::completed;
    run.label = builder.table().put(t.get("job_id"));
    run.qos = builder.table().names().intern(t.get("job_type"));
    return set_devices(run, t.number("scale_factor"));
  });
}

bool is_dlrm(std::string_view text) {
  return csv_header_has(
      text, {"instance_sn", "app_name", "gpu_request", "creation_time", "deletion_time"});
}

Result<void> read_dlrm(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_starts = notes.has_ends = notes.has_devices = notes.has_teams = true;
  const int64_t zero = relative_zero(builder);
  builder.remark(
      "instances from before the trace count from its beginning; teams are its applications");
  return read_csv_runs(builder, input, [&](const CsvTable& t, HistoryRun& run) -> const char* {
    run.submit = zero + t.number("creation_time").value_or(0);
    const auto scheduled = t.number("scheduled_time");
    run.start = scheduled ? zero + *scheduled : t.get("creation_time").empty() ? run.submit : 0;
    const auto deleted = t.number("deletion_time");
    run.end = deleted ? zero + *deleted : 0;
    run.state = deleted          ? JobState::completed
                : run.start != 0 ? JobState::running
                                 : JobState::pending;
    run.label = builder.table().put(t.get("instance_sn"));
    run.account = builder.table().names().intern(t.get("app_name"));
    run.qos = builder.table().names().intern(t.get("role"));
    return set_devices(run, t.number("gpu_request"));
  });
}

}  // namespace fairlead
