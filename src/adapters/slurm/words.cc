#include "adapters/slurm/words.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/time.h"

namespace fairlead::slurm {
namespace {

constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();

int32_t to_count(int64_t n) { return static_cast<int32_t>(std::clamp<int64_t>(n, 0, kInt32Max)); }

// Powers of 1024 that a suffix stands for; -1 where it is none.
int power_of(char suffix) {
  switch (suffix) {
    case 'K':
    case 'k':
      return 1;
    case 'M':
    case 'm':
      return 2;
    case 'G':
    case 'g':
      return 3;
    case 'T':
    case 't':
      return 4;
    case 'P':
    case 'p':
      return 5;
    default:
      return -1;
  }
}

// "h100:4(IDX:0-3)" -> "h100:4" and "IDX:0-3".
struct Gres {
  std::string_view head, inside;
};
Gres split_paren(std::string_view text) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos) return {text, {}};
  const size_t close = text.rfind(')');
  const size_t end = close == std::string_view::npos || close < open ? text.size() : close;
  return {text.substr(0, open), text.substr(open + 1, end - open - 1)};
}

// The model and count of "gpu", "gpu:4", "gpu:h100", "gpu:h100:4", "gpu=4", "gpu:h100=4", with or
// without "gres:" or "gres/" before; nothing where it is another GRES.
std::optional<GresRequest> parse_gpu(std::string_view text, int32_t count_default) {
  if (text.starts_with("gres:") || text.starts_with("gres/")) text.remove_prefix(5);
  if (!text.starts_with("gpu")) return std::nullopt;
  text.remove_prefix(3);
  if (!text.empty() && text[0] != ':' && text[0] != '=') return std::nullopt;  // "gpumem"
  GresRequest out{.model = {}, .count = count_default};
  if (const size_t equals = text.rfind('='); equals != std::string_view::npos) {
    const auto count = parse_amount(text.substr(equals + 1), 0);
    if (!count) return std::nullopt;
    out.count = to_count(*count);
    text = text.substr(0, equals);
    if (text.starts_with(':')) out.model = text.substr(1);
    return out;
  }
  for (const std::string_view word : split(text, ':')) {
    if (word.empty() || word == "no_consume") continue;
    if (const auto count = parse_amount(word, 0))
      out.count = to_count(*count);
    else
      out.model = word;
  }
  return out;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if ((text[i] == ')' || text[i] == ']') && depth > 0) --depth;
    if (text[i] != by || depth != 0) continue;
    parts.push_back(text.substr(from, i - from));
    from = i + 1;
  }
  parts.push_back(text.substr(from));
  return parts;
}

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view part : split(text, ',')) {
    if (!trim(part).empty()) names.emplace_back(trim(part));
  }
  return names;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t from = text.find_first_not_of(kBlank);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlank) - from + 1);
}

std::string_view or_empty(std::string_view text) {
  return text == "(null)" || text == "N/A" || text == "n/a" || text == "None" ? std::string_view{}
                                                                              : text;
}

std::optional<int64_t> parse_whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_amount(std::string_view text, char unit) {
  if (text.empty()) return std::nullopt;
  int power = power_of(text.back());
  if (power >= 0) text.remove_suffix(1);
  if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  const int base = unit == 0 ? 0 : power_of(unit);
  double value = 0;  // Slurm prints at most two digits behind the point
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  for (power = power < 0 ? base : power; power > base; --power) value *= 1024;
  for (; power < base; ++power) value /= 1024;
  if (!(value < 9e18)) return std::nullopt;
  if (const auto whole = parse_whole(text);
      whole && power == base && static_cast<double>(*whole) == value)
    return whole;
  return static_cast<int64_t>(value);
}

Amounts parse_tres(std::string_view text) {
  Amounts out;
  for (const std::string_view item : split(or_empty(text), ',')) {
    const size_t equals = item.rfind('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::string_view name = item.substr(0, equals);
    const bool memory = name == "mem" || name == "vmem";
    if (const auto amount = parse_amount(item.substr(equals + 1), memory ? 'M' : '\0')) {
      out[std::string(name)] = *amount;
    }
  }
  return out;
}

std::vector<DeviceGroup> parse_node_gres(std::string_view text) {
  std::vector<DeviceGroup> groups;
  for (const std::string_view item : split(or_empty(text), ',')) {
    if (auto gpu = parse_gpu(split_paren(item).head, 0); gpu && gpu->count > 0) {
      groups.push_back({.model = std::move(gpu->model), .count = gpu->count});
    }
  }
  return groups;
}

GresRequest parse_gres_request(std::string_view text) {
  GresRequest out;
  bool first = true;
  for (const std::string_view item : split(or_empty(text), ',')) {
    const auto gpu = parse_gpu(split_paren(item).head, 1);
    if (!gpu) continue;
    out.count = to_count(int64_t{out.count} + gpu->count);
    if (first)
      out.model = gpu->model;
    else if (out.model != gpu->model)
      out.model.clear();
    first = false;
  }
  return out;
}

GresHeld parse_gres_held(std::string_view text) {
  GresHeld out;
  for (const std::string_view item : split(or_empty(text), ',')) {
    const auto [head, inside] = split_paren(item);
    const auto gpu = parse_gpu(head, 0);
    if (!gpu) continue;
    out.count = to_count(int64_t{out.count} + gpu->count);
    if (!inside.starts_with("IDX:")) continue;
    for (const std::string_view range : split(inside.substr(4), ',')) {
      const size_t dash = range.find('-');
      const auto from = parse_whole(range.substr(0, dash));
      const auto to = dash == std::string_view::npos ? from : parse_whole(range.substr(dash + 1));
      if (!from || !to || *from < 0 || *to < *from || *to > kDeviceIndexMax) continue;
      for (int64_t i = *from; i <= *to; ++i) out.devices.push_back(static_cast<int32_t>(i));
    }
  }
  std::ranges::sort(out.devices);
  out.devices.erase(std::ranges::unique(out.devices).begin(), out.devices.end());
  if (static_cast<int64_t>(out.devices.size()) != out.count)
    out.devices.clear();  // cut, or contradictory
  return out;
}

TaskList parse_tasks(std::string_view text) {
  TaskList out;
  if (const size_t percent = text.find('%'); percent != std::string_view::npos) {
    out.running_max = to_count(parse_whole(text.substr(percent + 1)).value_or(0));
    text = text.substr(0, percent);
  }
  int64_t count = 0;
  for (const std::string_view item : split(text, ',')) {
    if (item.find("...") != std::string_view::npos) {
      out.cut = true;
      continue;
    }
    const size_t colon = item.find(':');
    const std::string_view range = item.substr(0, colon);
    const int64_t step =
        colon == std::string_view::npos ? 1 : parse_whole(item.substr(colon + 1)).value_or(1);
    const size_t dash = range.find('-');
    const auto from = parse_whole(range.substr(0, dash));
    const auto to = dash == std::string_view::npos ? from : parse_whole(range.substr(dash + 1));
    if (!from || !to || *from < 0 || *to < *from || *to > kInt32Max || step < 1) continue;
    count += (*to - *from) / step + 1;
  }
  out.count = to_count(count);
  return out;
}

Instant parse_time(std::string_view text) {
  // "2026-11-30T07:59:29": anything else is not known.
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':')
    return {};
  Civil civil;
  const struct {
    size_t from, size;
    int& to;
  } fields[] = {{0, 4, civil.year},  {5, 2, civil.month},   {8, 2, civil.day},
                {11, 2, civil.hour}, {14, 2, civil.minute}, {17, 2, civil.second}};
  for (const auto& field : fields) {
    const auto number = parse_whole(text.substr(field.from, field.size));
    if (!number || *number < 0) return {};
    field.to = static_cast<int>(*number);
  }
  if (civil.month < 1 || civil.month > 12 || civil.day < 1 || civil.day > 31 || civil.hour > 23)
    return {};
  if (civil.year < 1971 || civil.minute > 59 || civil.second > 60) return {};
  return instant_of_seconds(civil_to_seconds(civil));
}

std::optional<int64_t> parse_span_s(std::string_view text) {
  if (text == "UNLIMITED" || text == "INFINITE" || text == "NONE" || text == "Partition_Limit")
    return -1;
  int64_t days = 0;
  if (const size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto number = parse_whole(text.substr(0, dash));
    if (!number || *number < 0 || *number > 1'000'000) return std::nullopt;
    days = *number;
    text = text.substr(dash + 1);
  }
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  int64_t total = 0;
  for (const std::string_view part : parts) {
    const auto number = parse_whole(part);
    if (!number || *number < 0 || *number > 1'000'000) return std::nullopt;
    total = total * 60 + *number;
  }
  return days * 86'400 + total;
}

}  // namespace fairlead::slurm
