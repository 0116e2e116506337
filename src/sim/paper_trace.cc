// Traces of papers that submit work and do not say when it began: ElasticFlow,
// Pollux and Sia, Gavel and Shockwave in Gavel's format.
#include <fmt/format.h>

#include <array>

#include "sim/csv_table.h"

namespace fairlead {

// Its tables come in three spellings: of the traces that were published with the paper, and of two
// that its simulator reads.
bool is_elasticflow(std::string_view text) {
  return csv_header_has(text, {"job_id", "submission_time", "model_name", "deadline", "num_gpu",
                               "duration"}) ||
         csv_header_has(text,
                        {"job_id", "submit_time", "model_name", "ddl", "num_gpu", "duration"});
}

Result<void> read_elasticflow(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_ends = notes.has_devices = true;
  const int64_t zero = relative_zero(builder);
  builder.remark(
      "an end is the submission and the time alone on the devices that were asked for; deadlines "
      "are "
      "left out");
  return read_csv_runs(builder, input, [&](const CsvTable& t, HistoryRun& run) -> const char* {
    const auto submit = decimal_number(t.first_of({"submission_time", "submit_time"}));
    const auto length = t.number("duration");
    if (!submit || !(*submit >= 0 && *submit < 1e9) || !length)
      return "the submission or the duration is no number of seconds";
    run.submit = run.start = zero + static_cast<int64_t>(*submit);
    run.end = run.start + *length;
    run.state = JobState::completed;
    run.label = builder.table().put(t.get("job_id"));
    run.qos = builder.table().names().intern(t.get("model_name"));
    return set_devices(run, t.number("num_gpu"));
  });
}

bool is_pollux(std::string_view text) {
  return csv_header_has(text, {"name", "time", "application", "num_replicas", "batch_size"});
}

Result<void> read_pollux(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_devices = true;
  const int64_t zero = relative_zero(builder);
  builder.remark(
      "the trace does not say how long a job runs (it depends on how many devices it gets): jobs "
      "arrive, and wait");
  return read_csv_runs(builder, input, [&](const CsvTable& t, HistoryRun& run) -> const char* {
    const auto submit = t.number("time");
    if (!submit) return "time is no number of seconds";
    run.submit = zero + *submit;
    run.state = JobState::pending;
    run.label = builder.table().put(t.get("name"));
    run.qos = builder.table().names().intern(t.get("application"));
    return set_devices(run, t.number("num_replicas"));
  });
}

namespace {

// job type, command, directory, flag, needs data, steps, devices, priority, SLO, arrival; Shockwave
// has the mode behind the devices, and the length before the arrival.
constexpr size_t kGavelFields = 10, kShockwaveFields = 12;

size_t split(std::string_view line, std::array<std::string_view, kShockwaveFields>& fields) {
  size_t n = 0;
  while (!line.empty() && n < fields.size()) fields[n++] = without_blanks(take_field(line, '\t'));
  return line.empty() ? n : n + 1;
}

size_t fields_of_first_line(std::string_view text) {
  std::array<std::string_view, kShockwaveFields> fields;
  const size_t n = split(take_line(text), fields);
  const bool sized = n >= kGavelFields && fields[0].find("(batch size ") != std::string_view::npos;
  return sized ? n : 0;
}

}  // namespace

bool is_shockwave(std::string_view text) { return fields_of_first_line(text) == kShockwaveFields; }
bool is_gavel_trace(std::string_view text) { return fields_of_first_line(text) == kGavelFields; }

namespace {

Result<void> read_gavel_lines(HistoryBuilder& builder, HistoryInput& input, size_t want) {
  const bool has_length = want == kShockwaveFields;
  const int64_t zero = relative_zero(builder);
  builder.notes().has_devices = true;
  std::string_view text = input.text;
  while (!text.empty()) {
    ++builder.line;
    const std::string_view line = take_line(text);
    if (without_blanks(line).empty()) continue;
    std::array<std::string_view, kShockwaveFields> fields;
    HistoryRun run;
    run.id = static_cast<uint32_t>(builder.table().runs().size() + 1);
    const char* wrong = nullptr;
    if (split(line, fields) != want) wrong = "another number of fields than the first line has";
    const auto arrival = decimal_number(fields[want - 1]);
    const auto length = has_length ? decimal_number(fields[want - 2]) : 0.0;
    if (wrong == nullptr && (!arrival || !(*arrival >= 0 && *arrival < 1e9)))
      wrong = "the arrival is no number of seconds";
    if (wrong == nullptr && (!length || !(*length >= 0 && *length < 1e9)))
      wrong = "the length is no number of seconds";
    if (wrong == nullptr) {
      run.submit = zero + static_cast<int64_t>(*arrival);
      run.start = has_length ? run.submit : 0;
      run.end = has_length ? run.submit + static_cast<int64_t>(*length) : 0;
      run.state = has_length ? JobState::completed : JobState::pending;
      run.label = builder.table().put(std::to_string(run.id));
      run.qos = builder.table().names().intern(fields[0]);
      const auto devices = whole_number(fields[6]);
      wrong = set_devices(run, devices);
    }
    if (wrong == nullptr) wrong = settle_run(run);
    if (wrong == nullptr && builder.table().full()) wrong = "more rows than a history may have";
    if (wrong != nullptr)
      builder.skip(wrong, line);
    else
      builder.keep(run);
  }
  return {};
}

}  // namespace

Result<void> read_gavel_trace(HistoryBuilder& builder, HistoryInput& input) {
  builder.remark(
      "the trace states steps and not how long they take (it depends on the device): jobs arrive, "
      "and wait");
  return read_gavel_lines(builder, input, kGavelFields);
}

Result<void> read_shockwave(HistoryBuilder& builder, HistoryInput& input) {
  builder.notes().has_ends = true;
  builder.remark(
      "an end is the submission and the length that the trace states; that batches grow while a "
      "job "
      "runs is left out");
  return read_gavel_lines(builder, input, kShockwaveFields);
}

}  // namespace fairlead
