// sacct -P: a header line names the columns, one row a run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "sim/history_read.h"

namespace fairlead {
namespace {

enum Column_ : uint8_t {
  kJobId,
  kUser,
  kAccount,
  kQos,
  kPartition,
  kState,
  kSubmit,
  kEligible,
  kStart,
  kEnd,
  kElapsed,
  kElapsedRaw,
  kTimelimit,
  kTimelimitRaw,
  kNNodes,
  kReqTres,
  kAllocTres,
  kReqGres,
  kAllocGres,
  kNodeList,
  kCluster,
  kExitCode,
  kCpus,
  kReservation,
  kColumnCount
};
constexpr std::array<std::string_view, kColumnCount> kColumnNames = {
    "jobid",     "user",         "account", "qos",      "partition", "state",
    "submit",    "eligible",     "start",   "end",      "elapsed",   "elapsedraw",
    "timelimit", "timelimitraw", "nnodes",  "reqtres",  "alloctres", "reqgres",
    "allocgres", "nodelist",     "cluster", "exitcode", "alloccpus", "reservation"};
// Texts of people: the only columns in which the delimiter may stand unescaped.
constexpr std::array<std::string_view, 9> kFreeTexts = {"jobname",       "comment", "admincomment",
                                                        "systemcomment", "extra",   "workdir",
                                                        "submitline",    "wckey",   "reason"};

constexpr size_t kColumnsMax = 256;

struct Header {
  char delimiter = '|';
  std::vector<int> column_at;  // by position; -1: not ours
  std::array<bool, kColumnCount> has{};
  int free_text = -1;  // the position that surplus delimiters belong to; -1 none, -2 several
};

int column_of_name(std::string_view name) {
  const std::string lower = lower_case(without_blanks(name));
  if (lower == "ncpus") return kCpus;
  const auto found = std::ranges::find(kColumnNames, lower);
  return found == kColumnNames.end() ? -1 : static_cast<int>(found - kColumnNames.begin());
}

char delimiter_of(std::string_view line) {
  for (const char c : {'|', '\t', ';', ','}) {
    if (line.find(c) != line.npos) return c;
  }
  return '|';
}

Header read_header(std::string_view line) {
  Header header{.delimiter = delimiter_of(line), .column_at = {}, .has = {}, .free_text = -1};
  while (!line.empty() && header.column_at.size() < kColumnsMax) {
    const std::string_view name = take_field(line, header.delimiter);
    const int column = column_of_name(name);
    if (std::ranges::find(kFreeTexts, lower_case(without_blanks(name))) != kFreeTexts.end()) {
      header.free_text = header.free_text == -1 ? static_cast<int>(header.column_at.size()) : -2;
    }
    header.column_at.push_back(column);
    if (column >= 0) header.has[static_cast<size_t>(column)] = true;
  }
  return header;
}

using Fields = std::array<std::string_view, kColumnCount>;

// Cuts a row into our columns. Returns a reason where it does not fit the header.
const char* cut_row(const Header& header, std::string_view line, Fields& fields) {
  const size_t want = header.column_at.size();
  size_t surplus = 0;
  const size_t delimiters = static_cast<size_t>(std::ranges::count(line, header.delimiter));
  if (delimiters + 1 < want)
    return "fewer columns than the header (a cut line, or a line end in a value)";
  surplus = delimiters + 1 - want;
  if (surplus == 1 && line.back() == header.delimiter)
    surplus = 0;  // sacct -p ends each line with one
  if (surplus > 0 && header.free_text < 0)
    return "more columns than the header (the delimiter stands in a value)";
  for (size_t i = 0; i < want; ++i) {
    std::string_view field = take_field(line, header.delimiter);
    if (surplus > 0 && static_cast<int>(i) == header.free_text) {
      for (size_t k = 0; k < surplus; ++k) take_field(line, header.delimiter);
    }
    if (header.column_at[i] >= 0) fields[static_cast<size_t>(header.column_at[i])] = field;
  }
  return nullptr;
}

// "gpu:8", "gpu:h100:4,shard:2" (releases before 20.11 had no TRES columns for it).
int64_t devices_of_gres(std::string_view text, std::string_view& model) {
  int64_t sum = 0;
  while (!text.empty()) {
    std::string_view item = take_field(text, ',');
    if (item.starts_with("gres:")) item.remove_prefix(5);
    if (!item.starts_with("gpu")) continue;
    item = item.substr(0, std::min(item.find('('), item.size()));
    take_field(item, ':');
    std::string_view count = take_field(item, ':');
    const auto plain = whole_number(count);
    if (!plain) {
      model = count;
      count = item;
    }
    sum += std::clamp<int64_t>(whole_number(count).value_or(count.empty() ? 1 : 0), 0, 10'000'000);
  }
  return sum;
}

class Reader {
 public:
  Reader(HistoryBuilder& builder, Header header)
      : builder_(builder),
        header_(std::move(header)),
        offset_s_(whole_seconds(builder.options.utc_offset)) {}

  void row(std::string_view line) {
    Fields fields{};
    if (const char* wrong = cut_row(header_, line, fields)) return builder_.skip(wrong, line);
    HistoryRun run;
    const JobName name = parse_job_id(fields[kJobId], run);
    if (name == JobName::step) return;
    const char* wrong = name == JobName::neither ? "JobID is no job's id" : read_run(fields, run);
    if (wrong != nullptr) return builder_.skip(wrong, line);
    builder_.keep(run);
  }

 private:
  const char* read_run(const Fields& f, HistoryRun& run) {
    const StatedState stated = parse_state(f[kState]);
    if (stated.state == JobState::unknown) return "State is none that we know";
    run.state = stated.state;
    run.how = stated.how;
    if (const char* wrong = read_times(f, run)) return wrong;
    if (const char* wrong = read_amounts(f, run)) return wrong;
    RunTable& table = builder_.table();
    run.label = table.put(f[kJobId]);
    run.user = table.names().intern(f[kUser]);
    run.account = table.names().intern(f[kAccount]);
    run.qos = table.names().intern(f[kQos]);
    run.partition = table.names().intern(f[kPartition]);
    run.reservation = table.names().intern(f[kReservation]);
    run.cluster = table.names().intern(f[kCluster]);
    if (!f[kNodeList].starts_with("None")) run.nodes = table.put(f[kNodeList]);
    std::string_view exit_code = f[kExitCode];
    run.exit_code = static_cast<int32_t>(
        std::clamp<int64_t>(whole_number(take_field(exit_code, ':')).value_or(0), 0, 255));
    return nullptr;
  }

  const char* read_times(const Fields& f, HistoryRun& run) {
    const auto submit = parse_time(f[kSubmit], offset_s_);
    const auto eligible = parse_time(f[kEligible], offset_s_);
    const auto start = parse_time(f[kStart], offset_s_);
    const auto end = parse_time(f[kEnd], offset_s_);
    if (!submit) return "Submit is no time";
    if (!start) return "Start is no time";
    if (!end) return "End is no time";
    run.submit = *submit;
    run.eligible = eligible.value_or(0);
    run.start = *start;
    run.end = *end;
    return settle_times(f, run);
  }

  // sacct states a start for jobs that never ran, and an end for jobs that still do.
  static const char* settle_times(const Fields& f, HistoryRun& run) {
    run.open = !has_ended(run.state);
    if (run.state == JobState::pending) run.start = 0;
    if (run.open) run.end = 0;
    if (run.open && run.state != JobState::pending && run.start == 0)
      return "runs and has no Start";
    if (!run.open && run.end == 0) {
      const auto elapsed =
          f[kElapsedRaw].empty() ? parse_slurm_span(f[kElapsed]) : whole_number(f[kElapsedRaw]);
      if (run.start == 0 || !elapsed || *elapsed < 0 || *elapsed > kHistorySecondMax - run.start)
        return "ended and has no End";
      run.end = run.start + *elapsed;
    }
    if (run.start != 0 && run.end != 0 && run.end < run.start) return "End is before Start";
    const bool never_ran = run.start == run.end &&
                           (f[kNodeList].starts_with("None") || run.state == JobState::cancelled);
    if (!run.open && never_ran) run.start = 0;
    if (run.submit == 0) run.submit = run.start;
    if (run.submit == 0) return "neither Submit nor Start";
    if (run.start != 0) run.submit = std::min(run.submit, run.start);
    if (run.end != 0) run.submit = std::min(run.submit, run.end);
    return nullptr;
  }

  const char* read_amounts(const Fields& f, HistoryRun& run) {
    const auto asked = parse_tres(f[kReqTres]);
    const auto given = parse_tres(f[kAllocTres]);
    if (!asked) return "ReqTRES has a number that is too large or none";
    if (!given) return "AllocTRES has a number that is too large or none";
    int64_t nodes = given->nodes > 0 ? given->nodes : asked->nodes;
    if (!f[kNNodes].empty()) {
      const auto stated = whole_number(f[kNNodes]);
      if (!stated || *stated < 0 || *stated > 10'000'000) return "NNodes is no number of nodes";
      if (*stated > 0) nodes = *stated;
    }
    run.nodes_count = static_cast<int32_t>(std::max<int64_t>(nodes, 1));
    std::string_view model = given->model.empty() ? asked->model : given->model;
    int64_t devices_asked = asked->devices;
    int64_t devices_held = f[kAllocTres].empty() ? devices_asked : given->devices;
    if (f[kReqTres].empty()) devices_asked = devices_held;
    if (devices_asked == 0 && devices_held == 0 &&
        (header_.has[kReqGres] || header_.has[kAllocGres])) {
      devices_asked = devices_of_gres(f[kReqGres], model) * run.nodes_count;
      devices_held = devices_of_gres(f[kAllocGres], model);
      if (devices_held == 0) devices_held = devices_asked;
    }
    if (asked->shards || given->shards) {
      builder_.remark(
          "some jobs hold shares of devices (gres/shard, gres/mps): their size is not stated, they "
          "count as without devices");
    }
    run.devices_asked = static_cast<int32_t>(std::clamp<int64_t>(devices_asked, 0, 10'000'000));
    run.devices_held = static_cast<int32_t>(std::clamp<int64_t>(devices_held, 0, 10'000'000));
    run.model = builder_.table().names().intern(model);
    run.cpus = static_cast<int32_t>(given->cpus > 0 ? given->cpus : asked->cpus);
    std::optional<int64_t> limit;
    if (!f[kTimelimitRaw].empty()) {
      limit = whole_number(f[kTimelimitRaw]);
      limit = limit && *limit >= 0 && *limit < 1'000'000'000 ? std::optional(*limit * 60)
                                                             : std::optional<int64_t>(-1);
    } else {
      limit = parse_slurm_span(f[kTimelimit]);
    }
    if (!limit) return "Timelimit is no span of time";
    run.time_limit_s = *limit;
    return nullptr;
  }

  HistoryBuilder& builder_;
  Header header_;
  int64_t offset_s_;
};

Result<void> check_header(const Header& header, const HistoryInput& input, std::string_view line,
                          int line_number) {
  for (const int column : {kJobId, kSubmit, kStart, kEnd, kState}) {
    if (header.has[static_cast<size_t>(column)]) continue;
    if (column == kEnd && header.has[kStart] && (header.has[kElapsed] || header.has[kElapsedRaw]))
      continue;
    constexpr std::array<std::string_view, kEnd + 1> kProper = {
        "JobID", "User",   "Account",  "QOS",   "Partition",
        "State", "Submit", "Eligible", "Start", "End"};
    return fail("history-column-missing",
                fmt::format("the dump has no column {} (its header is '{}')",
                            kProper[static_cast<size_t>(column)], line.substr(0, 200)),
                fmt::format("dump with: {}", kSacctCommand),
                {.source = input.source, .line = line_number, .column = 1});
  }
  return {};
}

void note_columns(HistoryBuilder& builder, const Header& header) {
  HistoryNotes& notes = builder.notes();
  notes.has_starts = notes.has_ends = true;
  notes.has_devices = notes.has_devices || header.has[kReqTres] || header.has[kAllocTres] ||
                      header.has[kReqGres] || header.has[kAllocGres];
  notes.has_teams = notes.has_teams || header.has[kAccount];
  notes.has_limits = notes.has_limits || header.has[kTimelimit] || header.has[kTimelimitRaw];
  if (!header.has[kReqTres] && !header.has[kAllocTres] && !header.has[kReqGres] &&
      !header.has[kAllocGres]) {
    builder.remark(fmt::format("no column tells of devices; dump with: {}", kSacctCommand));
  }
}

}  // namespace

bool is_sacct_text(std::string_view text) {
  int64_t line_number = 0;
  const std::string_view line = take_header(text, line_number);
  if (lower_case(line).find("jobid") == std::string::npos) return false;
  const Header header = read_header(line);
  return header.has[kJobId] && (header.has[kState] || header.has[kSubmit] || header.has[kStart]) &&
         lower_case(line).find("num_gpu") == std::string::npos;
}

Result<void> read_sacct_text(HistoryBuilder& builder, HistoryInput& input) {
  std::string_view text = input.text;
  builder.line = 0;
  const std::string_view header_line = take_header(text, builder.line);
  Header header = read_header(header_line);
  if (const auto ok = check_header(header, input, header_line, static_cast<int>(builder.line)); !ok)
    return ok;
  note_columns(builder, header);
  if (builder.options.utc_offset.us == 0) {
    builder.remark(
        "times without a zone are taken as UTC (the site's own zone may be another: give its "
        "offset)");
  }
  Reader reader(builder, std::move(header));
  builder.table().runs().reserve(builder.table().runs().size() +
                                 static_cast<size_t>(std::ranges::count(text, '\n')) + 1);
  while (!text.empty()) {
    ++builder.line;
    const std::string_view line = take_line(text);
    if (line.empty() || line == header_line) continue;  // dumps joined end to end repeat it
    reader.row(line);
    if (builder.table().full()) {
      return fail("history-too-large", fmt::format("more than {} rows", kHistoryRowsMax),
                  "replay it a year at a time",
                  {.source = input.source, .line = static_cast<int>(builder.line)});
    }
  }
  return {};
}

}  // namespace fairlead
