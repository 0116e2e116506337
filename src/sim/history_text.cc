#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "sim/history_read.h"

namespace fairlead {

std::string_view take_header(std::string_view& text, int64_t& line_number) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    ++line_number;
    const std::string_view line = take_line(text);
    if (!without_blanks(line).empty() && !line.starts_with('#')) return line;
  }
  return {};
}

const char* settle_run(HistoryRun& run) {
  const auto odd = [](int64_t s) {
    return s != 0 && (s < kHistorySecondMin || s > kHistorySecondMax);
  };
  if (odd(run.submit) || odd(run.start) || odd(run.end)) return "a time that cannot be";
  if (run.start != 0 && run.end != 0 && run.end < run.start) return "End is before Start";
  if (run.submit == 0) run.submit = run.start;
  if (run.submit == 0) return "neither Submit nor Start";
  if (run.start != 0) run.submit = std::min(run.submit, run.start);
  if (run.end != 0) run.submit = std::min(run.submit, run.end);
  run.open = !has_ended(run.state);
  return nullptr;
}

inline namespace history_text {

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::string_view take_field(std::string_view& line, char delimiter) {
  const size_t end = std::min(line.find(delimiter), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> decimal_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool says_none(std::string_view text) {
  return text.empty() || text == "Unknown" || text == "None" || text == "N/A" || text == "0" ||
         text == "NONE" || text == "none" || text == "nan" || text == "NaT" || text == "-1";
}

// "2026-01-31T08:09:10" or with a blank: most of a dump's bytes are these.
std::optional<int64_t> parse_civil(std::string_view t) {
  if (t.size() != 19 || t[4] != '-' || t[7] != '-' || (t[10] != 'T' && t[10] != ' ') ||
      t[13] != ':' || t[16] != ':') {
    return std::nullopt;
  }
  bool digits = true;
  const auto two = [&](size_t at) {
    digits = digits && is_digit(t[at]) && is_digit(t[at + 1]);
    return (t[at] - '0') * 10 + (t[at + 1] - '0');
  };
  const int high = two(0);
  const Civil c{.year = high * 100 + two(2),
                .month = two(5),
                .day = two(8),
                .hour = two(11),
                .minute = two(14),
                .second = two(17)};
  if (!digits || c.month < 1 || c.month > 12 || c.day < 1 || c.day > 31 || c.hour > 23 ||
      c.minute > 59 || c.second > 60) {
    return std::nullopt;
  }
  return civil_to_seconds(c);
}

std::optional<int64_t> parse_any_time(std::string_view text, int64_t offset_s) {
  if (const auto civil = parse_civil(text)) return *civil - offset_s;
  if (const auto epoch = whole_number(text)) return *epoch;
  if (const auto zoned = parse_rfc3339(text)) return floor_seconds(*zoned);
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> parse_time(std::string_view text, int64_t offset_s) {
  if (says_none(text)) return 0;
  const auto second = parse_any_time(text, offset_s);
  if (!second || *second < kHistorySecondMin || *second > kHistorySecondMax) return std::nullopt;
  return second;
}

std::optional<int64_t> parse_slurm_span(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return -1;
  constexpr int64_t kDaysMax = 100'000;
  int64_t days = 0;
  const bool has_days = text.find('-') != text.npos;
  if (has_days) {
    const auto number = whole_number(take_field(text, '-'));
    if (!number || *number > kDaysMax) return std::nullopt;
    days = *number;
  }
  std::array<int64_t, 3> parts{};
  size_t count = 0;
  while (!text.empty()) {
    if (count == parts.size()) return std::nullopt;
    std::string_view part = take_field(text, ':');
    if (const size_t dot = part.find('.'); dot != part.npos)
      part = part.substr(0, dot);  // "02:03.120"
    const auto number = whole_number(part);
    if (!number || *number < 0 || *number > kDaysMax * 24) return std::nullopt;
    parts[count++] = *number;
  }
  if (count == 3) return days * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2];
  if (has_days) return days * 86400 + parts[0] * 3600 + parts[1] * 60;  // "1-02" and "1-02:03"
  if (count == 2) return parts[0] * 60 + parts[1];
  return parts[0] * 60;  // a bare number is minutes
}

namespace {

// "8", "512G", "1.50T": what stands before a suffix counts only where there is none.
std::optional<int64_t> amount_of(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  return number;
}

constexpr int64_t kDevicesMax = 10'000'000;  // chosen: a hundred times the largest cluster

}  // namespace

std::optional<TresAmounts> parse_tres(std::string_view text) {
  TresAmounts amounts;
  int64_t untyped = -1;
  int64_t typed = 0;
  int models = 0;
  while (!text.empty()) {
    const std::string_view item = take_field(text, ',');
    const size_t equals = item.find('=');
    if (equals == item.npos) continue;
    const std::string_view key = item.substr(0, equals);
    const bool wanted = key == "cpu" || key == "node" || key.starts_with("gres/");
    if (!wanted) continue;
    const auto amount = amount_of(item.substr(equals + 1));
    if (!amount || *amount > kDevicesMax) return std::nullopt;
    if (key == "cpu")
      amounts.cpus = *amount;
    else if (key == "node")
      amounts.nodes = *amount;
    else if (key == "gres/gpu")
      untyped = *amount;
    else if (key.starts_with("gres/gpu:")) {
      typed += *amount;
      amounts.model = key.substr(9);
      models += *amount > 0 ? 1 : 0;
    } else if (key.starts_with("gres/shard") || key.starts_with("gres/mps")) {
      amounts.shards = amounts.shards || *amount > 0;
    }
  }
  if (models > 1) amounts.model = {};
  // The untyped amount already holds the typed ones, but a request may name only the type.
  amounts.devices = std::max(untyped, typed);
  return amounts;
}

namespace {

struct StateWord {
  std::string_view word, brief;
  JobState state;
  RunEnd how = RunEnd::final;
};
constexpr std::array kStateWords = {
    StateWord{"COMPLETED", "CD", JobState::completed},
    StateWord{"CANCELLED", "CA", JobState::cancelled},
    StateWord{"FAILED", "F", JobState::failed},
    StateWord{"TIMEOUT", "TO", JobState::timeout},
    StateWord{"RUNNING", "R", JobState::running},
    StateWord{"PENDING", "PD", JobState::pending},
    StateWord{"OUT_OF_MEMORY", "OOM", JobState::out_of_memory},
    StateWord{"NODE_FAIL", "NF", JobState::node_fail},
    StateWord{"PREEMPTED", "PR", JobState::preempted},
    StateWord{"REQUEUED", "RQ", JobState::preempted, RunEnd::requeued},
    StateWord{"RESIZING", "RS", JobState::completed, RunEnd::resized},
    StateWord{"SUSPENDED", "S", JobState::suspended},
    StateWord{"COMPLETING", "CG", JobState::completing},
    StateWord{"CONFIGURING", "CF", JobState::running},
    StateWord{"STAGE_OUT", "SO", JobState::completing},
    StateWord{"SIGNALING", "SI", JobState::running},
    StateWord{"STOPPED", "ST", JobState::suspended},
    StateWord{"BOOT_FAIL", "BF", JobState::boot_fail},
    StateWord{"DEADLINE", "DL", JobState::deadline},
    StateWord{"LAUNCH_FAILED", "LF", JobState::failed},
    StateWord{"RECONFIG_FAIL", "RF", JobState::failed},
    StateWord{"REVOKED", "RV", JobState::cancelled},
    StateWord{"SPECIAL_EXIT", "SE", JobState::pending},
    StateWord{"REQUEUE_HOLD", "RH", JobState::pending},
    StateWord{"REQUEUE_FED", "RF", JobState::pending},
    StateWord{"RESV_DEL_HOLD", "RD", JobState::pending},
    StateWord{"EXPEDITING", "EX", JobState::pending},
};

std::optional<int64_t> take_number(std::string_view& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// How many tasks "5-9,12%2" names; a text that the scheduler cut short counts what is left of it.
int32_t tasks_of(std::string_view list) {
  int64_t count = 0;
  list = list.substr(0, std::min(list.find('%'), list.size()));
  while (!list.empty()) {
    std::string_view item = take_field(list, ',');
    const auto first = take_number(item);
    if (!first) continue;
    int64_t last = *first;
    int64_t step = 1;
    if (item.starts_with('-')) {
      item.remove_prefix(1);
      last = take_number(item).value_or(*first);
    }
    if (item.starts_with(':')) {
      item.remove_prefix(1);
      step = std::max<int64_t>(1, take_number(item).value_or(1));
    }
    if (last >= *first) count += (last - *first) / step + 1;
  }
  return static_cast<int32_t>(std::clamp<int64_t>(count, 1, 10'000'000));
}

}  // namespace

StatedState parse_state(std::string_view word) {
  word = word.substr(
      0, std::min(word.find_first_of(" +,"), word.size()));  // "CANCELLED by 1001", "CANCELLED+"
  for (const StateWord& known : kStateWords) {
    if (word == known.word || word == known.brief) return {known.state, known.how};
  }
  return {};
}

JobName parse_job_id(std::string_view text, HistoryRun& run) {
  std::string_view rest = text;
  const auto id = take_number(rest);
  if (!id || *id == 0 || *id > 0xffff'ffffLL) return JobName::neither;
  run.id = static_cast<uint32_t>(*id);
  if (rest.starts_with('_')) {
    rest.remove_prefix(1);
    if (rest.starts_with('[')) {
      const size_t close = rest.find(']');
      if (close == rest.npos) return JobName::neither;
      run.waiting_count = tasks_of(rest.substr(1, close - 1));
      rest.remove_prefix(close + 1);
    } else {
      const auto task = take_number(rest);
      if (!task || *task > 0x7fff'ffffLL) return JobName::neither;
      run.task = static_cast<int32_t>(*task);
    }
  } else if (rest.starts_with('+')) {
    rest.remove_prefix(1);
    const auto offset = take_number(rest);
    if (!offset || *offset > 100'000) return JobName::neither;
    run.het_offset = static_cast<int32_t>(*offset);
  }
  if (rest.empty()) return JobName::job;
  return rest.front() == '.' ? JobName::step : JobName::neither;
}

}  // namespace history_text
}  // namespace fairlead
