#include "sim/csv_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead {
namespace {

constexpr size_t kColumnsMost = 4096;

std::string_view take_csv_field(std::string_view& line) {
  if (!line.starts_with('"')) return take_field(line, ',');
  line.remove_prefix(1);
  const size_t close = std::min(line.find('"'), line.size());
  const std::string_view field = line.substr(0, close);
  line.remove_prefix(std::min(close + 1, line.size()));
  take_field(line, ',');
  return field;
}

std::vector<std::string> names_of(std::string_view header) {
  std::vector<std::string> names;
  while (!header.empty() && names.size() < kColumnsMost)
    names.push_back(lower_case(without_blanks(take_csv_field(header))));
  return names;
}

}  // namespace

CsvTable::CsvTable(HistoryBuilder& builder, const HistoryInput& input)
    : builder_(builder), text_(input.text) {
  builder_.line = 0;
  names_ = names_of(take_header(text_, builder_.line));
}

bool CsvTable::next() {
  while (!text_.empty()) {
    ++builder_.line;
    line_ = take_line(text_);
    if (without_blanks(line_).empty()) continue;
    fields_.clear();
    std::string_view rest = line_;
    while (!rest.empty() && fields_.size() <= kColumnsMost)
      fields_.push_back(without_blanks(take_csv_field(rest)));
    return true;
  }
  return false;
}

const char* CsvTable::defect() const {
  return fields_.size() > names_.size() ? "more fields than the header has columns" : nullptr;
}

bool CsvTable::has(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

bool CsvTable::has_any(std::initializer_list<std::string_view> names) const {
  return std::ranges::any_of(names, [&](std::string_view name) { return has(name); });
}

std::string_view CsvTable::get(std::string_view name) const {
  const auto at = static_cast<size_t>(std::ranges::find(names_, name) - names_.begin());
  return at < fields_.size() && at < names_.size() ? fields_[at] : std::string_view{};
}

std::string_view CsvTable::first_of(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    if (has(name)) return get(name);
  }
  return {};
}

std::optional<int64_t> CsvTable::number(std::string_view name) const {
  const auto value = decimal_number(get(name));
  if (!value || !(*value >= 0 && *value < 1e12)) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::string CsvTable::columns() const {
  std::string out;
  for (const std::string& name : names_) out += (out.empty() ? "" : ", ") + name;
  return out;
}

bool csv_header_has(std::string_view text, std::initializer_list<std::string_view> names) {
  int64_t lines = 0;
  const std::vector<std::string> found = names_of(take_header(text, lines));
  return std::ranges::all_of(
      names, [&](std::string_view name) { return std::ranges::find(found, name) != found.end(); });
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

}  // namespace fairlead
