// Public traces and tables of one's own: comma-separated, columns by name.
//
// What a trace does not state is said in the notes and never made up, but for two things that a
// replay cannot do without: a job without a start time starts when it is submitted, and a trace
// whose times count from zero begins at HistoryOptions::base.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "sim/history_read.h"

namespace fairlead {
namespace {

std::string_view take_csv_field(std::string_view& line) {
  if (!line.starts_with('"')) return take_field(line, ',');
  line.remove_prefix(1);
  const size_t close = std::min(line.find('"'), line.size());
  const std::string_view field = line.substr(0, close);
  line.remove_prefix(std::min(close + 1, line.size()));
  take_field(line, ',');
  return field;
}

// A table's rows, with fields by the names of its header.
class Table {
 public:
  Table(HistoryBuilder& builder, const HistoryInput& input) : builder_(builder), text_(input.text) {
    builder_.line = 0;
    std::string_view header = take_header(text_, builder_.line);
    while (!header.empty()) names_.push_back(lower_case(without_blanks(take_csv_field(header))));
  }
  bool next() {
    while (!text_.empty()) {
      ++builder_.line;
      line_ = take_line(text_);
      if (without_blanks(line_).empty()) continue;
      fields_.clear();
      std::string_view rest = line_;
      while (!rest.empty() && fields_.size() < 256)
        fields_.push_back(without_blanks(take_csv_field(rest)));
      return true;
    }
    return false;
  }
  bool has(std::string_view name) const { return std::ranges::find(names_, name) != names_.end(); }
  std::string_view get(std::string_view name) const {
    const auto at = static_cast<size_t>(std::ranges::find(names_, name) - names_.begin());
    return at < fields_.size() && at < names_.size() ? fields_[at] : std::string_view{};
  }
  std::string_view first_of(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (has(name)) return get(name);
    }
    return {};
  }
  bool has_any(std::initializer_list<std::string_view> names) const {
    return std::ranges::any_of(names, [&](std::string_view name) { return has(name); });
  }
  // A number that is not negative, whole part only; nothing where it is none or too large.
  std::optional<int64_t> number(std::string_view name) const {
    const auto value = decimal_number(get(name));
    if (!value || !(*value >= 0 && *value < 1e12)) return std::nullopt;
    return static_cast<int64_t>(*value);
  }
  std::string_view line() const { return line_; }

 private:
  HistoryBuilder& builder_;
  std::string_view text_, line_;
  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
};

bool header_has(std::string_view text, std::initializer_list<std::string_view> names) {
  int64_t lines = 0;
  std::string_view header = take_header(text, lines);
  std::vector<std::string> found;
  while (!header.empty() && found.size() < 256)
    found.push_back(lower_case(without_blanks(take_csv_field(header))));
  return std::ranges::all_of(
      names, [&](std::string_view name) { return std::ranges::find(found, name) != found.end(); });
}

constexpr int64_t kDevicesMost = 10'000'000;

// Reads each row with `read_row(table, run)`, which returns a reason where it cannot be read.
template <class F>
Result<void> read_rows(HistoryBuilder& builder, HistoryInput& input, F&& read_row) {
  Table table(builder, input);
  while (table.next()) {
    HistoryRun run;
    run.id = static_cast<uint32_t>(builder.table().runs().size() + 1);
    const char* wrong = read_row(table, run);
    if (wrong == nullptr) wrong = settle_run(run);
    if (wrong == nullptr && builder.table().full()) wrong = "more rows than a history may have";
    if (wrong != nullptr) {
      builder.skip(wrong, table.line());
      continue;
    }
    if (run.label.size == 0) run.label = builder.table().put(fmt::format("{}", run.id));
    builder.keep(run);
  }
  return {};
}

const char* set_devices(HistoryRun& run, std::optional<int64_t> devices) {
  if (!devices || *devices > kDevicesMost) return "a number of devices that is none or too large";
  run.devices_asked = run.devices_held = static_cast<int32_t>(*devices);
  return nullptr;
}

int64_t relative_zero(HistoryBuilder& builder) {
  builder.remark(fmt::format("the trace does not say when it began: taken as {}",
                             to_rfc3339(builder.options.base)));
  return floor_seconds(builder.options.base);
}

// --- Philly
// ----------------------------------------------------------------------------------------

bool is_philly(std::string_view text) {
  return header_has(text, {"timestamp", "duration", "num_gpus", "cluster"});
}

Result<void> read_philly(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_ends = notes.has_devices = notes.has_teams = true;
  builder.remark(
      "the trace states no outcome: each job counts as completed; teams are its virtual clusters");
  return read_rows(builder, input, [&](const Table& t, HistoryRun& run) -> const char* {
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

// --- openb: pods and nodes
// ---------------------------------------------------------------------------

bool is_openb_pods(std::string_view text) {
  return header_has(text, {"name", "num_gpu", "gpu_milli", "creation_time"});
}
bool is_openb_nodes(std::string_view text) {
  return header_has(text, {"sn", "cpu_milli", "memory_mib", "gpu", "model"});
}

Result<void> read_openb_pods(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_starts = notes.has_ends = notes.has_devices = true;
  const int64_t zero = relative_zero(builder);
  return read_rows(builder, input, [&](const Table& t, HistoryRun& run) -> const char* {
    RunTable& table = builder.table();
    const auto created = t.number("creation_time");
    if (!created) return "creation_time is no number of seconds";
    const auto scheduled = t.number("scheduled_time");
    const auto deleted = t.number("deletion_time");
    run.submit = zero + *created;
    run.start = scheduled ? zero + *scheduled : 0;
    run.end = deleted ? zero + *deleted : 0;
    const std::string_view phase = t.get("pod_phase");
    if (deleted)
      run.state = phase == "Failed" ? JobState::failed : JobState::completed;
    else
      run.state = run.start != 0 ? JobState::running : JobState::pending;
    run.label = table.put(t.get("name"));
    run.qos = table.names().intern(t.get("qos"));
    const std::string_view spec = t.get("gpu_spec");
    run.models_allowed = table.names().intern(spec);
    if (spec.find('|') == spec.npos) run.model = run.models_allowed;
    run.cpus = static_cast<int32_t>(
        std::min<int64_t>(t.number("cpu_milli").value_or(0) / 1000, 1'000'000));
    const auto milli = t.number("gpu_milli");
    if (milli && *milli > 0 && *milli < 1000) run.share_milli = static_cast<int32_t>(*milli);
    return set_devices(run, t.number("num_gpu"));
  });
}

Result<void> read_openb_nodes(HistoryBuilder& builder, HistoryInput& input) {
  Table table(builder, input);
  while (table.next()) {
    const auto devices = table.number("gpu");
    const std::string_view name = table.get("sn");
    if (name.empty() || !devices || *devices > 1024) {
      builder.skip("a node without a name or a number of devices", table.line());
      continue;
    }
    ++builder.notes().rows;
    Node node{.name = std::string(name), .state = NodeState::idle};
    if (*devices > 0)
      node.devices = {
          {.model = std::string(table.get("model")), .count = static_cast<int32_t>(*devices)}};
    node.cpus = static_cast<int32_t>(
        std::min<int64_t>(table.number("cpu_milli").value_or(0) / 1000, 1'000'000));
    node.memory_mb = table.number("memory_mib").value_or(0);
    builder.fleet().push_back(std::move(node));
  }
  builder.notes().has_fleet = !builder.fleet().empty();
  return {};
}

// --- Helios: demand by minute, no jobs
// --------------------------------------------------------------------

bool is_helios(std::string_view text) {
  return header_has(text, {"time", "total_gpu_num", "running_gpu_num", "pending_gpu_num"});
}

// "dir/Earth_vc6YE_gpu_sequence.csv" -> "vc6YE"
std::string_view pool_of(std::string_view source) {
  source = source.substr(source.find_last_of('/') + 1);
  const size_t at = source.find("vc");
  if (at == source.npos) return source.substr(0, source.find('.'));
  return source.substr(at, source.find_first_of("_.", at) - at);
}

Result<void> read_helios(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_devices = notes.has_fleet = notes.has_teams = true;
  builder.remark(
      "the trace has demand by minute and no jobs: in each virtual cluster one holder stands for "
      "all that ran, "
      "and one request for all that waited; waits of jobs are not known");
  Table table(builder, input);
  std::vector<AggregateRow>& rows = builder.aggregate();
  const NameId pool = builder.table().names().intern(pool_of(input.source));
  AggregateRow last;
  while (table.next()) {
    const auto second = parse_time(table.get("time"), 0);
    const auto total = table.number("total_gpu_num");
    const auto running = table.number("running_gpu_num");
    const auto waiting = table.number("pending_gpu_num");
    if (!second || *second == 0 || !total || !running || !waiting || *total > 1024 ||
        *waiting > kDevicesMost) {
      builder.skip("a minute without its time or its numbers", table.line());
      continue;
    }
    ++notes.rows;
    const AggregateRow row{.second = *second,
                           .pool = pool,
                           .total = static_cast<int32_t>(*total),
                           .running = static_cast<int32_t>(std::min(*running, *total)),
                           .waiting = static_cast<int32_t>(*waiting)};
    if (*running > *total)
      builder.remark("in some minutes more devices run than there are: cut to the total");
    const bool same = last.second != 0 && std::tie(last.total, last.running, last.waiting) ==
                                              std::tie(row.total, row.running, row.waiting);
    last = row;
    if (!same) rows.push_back(row);
  }
  if (last.second != 0 && rows.back().second != last.second)
    rows.push_back(last);  // until here it was so
  std::ranges::sort(rows, [](const AggregateRow& a, const AggregateRow& b) {
    return std::tie(a.second, a.pool) < std::tie(b.second, b.pool);
  });
  return {};
}

// --- Muri, Gavel, Alibaba's disaggregated inference
// -----------------------------------------------------------

bool is_muri(std::string_view text) {
  return header_has(text, {"job_id", "num_gpu", "submit_time", "iterations", "duration"});
}

Result<void> read_muri(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_ends = notes.has_devices = true;
  const int64_t zero = relative_zero(builder);
  builder.remark("an end is the submission and the time that the job would run alone");
  return read_rows(builder, input, [&](const Table& t, HistoryRun& run) -> const char* {
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

bool is_gavel(std::string_view text) {
  return header_has(text, {"job_id", "job_type", "scale_factor", "unit_interarrival"});
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
  return read_rows(builder, input, [&](const Table& t, HistoryRun& run) -> const char* {
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
  return header_has(text,
                    {"instance_sn", "app_name", "gpu_request", "creation_time", "deletion_time"});
}

Result<void> read_dlrm(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_starts = notes.has_ends = notes.has_devices = notes.has_teams = true;
  const int64_t zero = relative_zero(builder);
  builder.remark(
      "instances from before the trace count from its beginning; teams are its applications");
  return read_rows(builder, input, [&](const Table& t, HistoryRun& run) -> const char* {
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

// --- a table of one's own
// ---------------------------------------------------------------------------------------

bool is_generic(std::string_view text) {
  for (const std::string_view submit : {"submit", "submit_time", "submitted"}) {
    for (const std::string_view job : {"job", "job_id", "jobid", "id"}) {
      if (header_has(text, {job, submit}) && text.substr(0, text.find('\n')).find('|') == text.npos)
        return true;
    }
  }
  return false;
}

class GenericReader {
 public:
  explicit GenericReader(HistoryBuilder& builder) : builder_(builder) {}

  const char* row(const Table& t, HistoryRun& run) {
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

  const char* read_rest(const Table& t, HistoryRun& run) {
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
    const std::string_view devices = t.first_of({"gpus", "num_gpus", "num_gpu", "devices"});
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

Result<void> read_generic(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  const Table header(builder, input);
  notes.has_starts = notes.has_starts || header.has_any({"start", "start_time", "started"});
  notes.has_ends = true;
  notes.has_devices =
      notes.has_devices || header.has_any({"gpus", "num_gpus", "num_gpu", "devices"});
  notes.has_teams = notes.has_teams || header.has_any({"team", "account", "project", "group"});
  notes.has_limits = notes.has_limits || header.has("time_limit");
  GenericReader reader(builder);
  return read_rows(builder, input,
                   [&](const Table& t, HistoryRun& run) { return reader.row(t, run); });
}

}  // namespace

std::span<const HistoryFormat> csv_formats() {
  static constexpr std::array kFormats = {
      HistoryFormat{"philly", is_philly, read_philly},
      HistoryFormat{"openb", is_openb_pods, read_openb_pods},
      HistoryFormat{"openb nodes", is_openb_nodes, read_openb_nodes},
      HistoryFormat{"helios", is_helios, read_helios},
      HistoryFormat{"muri", is_muri, read_muri},
      HistoryFormat{"gavel", is_gavel, read_gavel},
      HistoryFormat{"alibaba dlrm", is_dlrm, read_dlrm},
      HistoryFormat{"csv", is_generic, read_generic},
  };
  return kFormats;
}

}  // namespace fairlead
