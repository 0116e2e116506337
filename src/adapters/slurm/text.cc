#include "adapters/slurm/text.h"

#include <algorithm>
#include <cctype>

#include "adapters/slurm/words.h"

namespace fairlead::slurm {
namespace {

using Fields = std::vector<std::pair<std::string_view, std::string_view>>;

// Keys whose value is the rest of their line.
constexpr std::string_view kFree[] = {
    "JobName", "Command", "WorkDir", "Comment", "AdminComment", "Extra",        "SubmitLine",
    "StdErr",  "StdIn",   "StdOut",  "OS",      "Reason",       "SystemComment"};

bool is_key_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == ':' || c == '_' ||
         c == '-';
}

// The length of the key at the start of `text`, 0 where none stands there.
size_t key_size(std::string_view text) {
  if (text.empty() || std::isupper(static_cast<unsigned char>(text[0])) == 0) return 0;
  size_t n = 0;
  while (n < text.size() && is_key_char(text[n])) ++n;
  return n < text.size() && text[n] == '=' ? n : 0;
}

std::string_view find(const Fields& fields, std::string_view key) {
  for (const auto& [name, value] : fields) {
    if (name == key) return or_empty(value);
  }
  return {};
}

bool is_free(std::string_view key, bool first) {
  if (key == "JobName") return true;
  return first && std::ranges::find(kFree, key) != std::end(kFree);
}

}  // namespace

Fields parse_fields(std::string_view line) {
  Fields out;
  line = trim(line);
  while (const size_t key = key_size(line)) {
    const std::string_view name = line.substr(0, key);
    size_t end = key + 1;
    if (is_free(name, out.empty())) {
      out.emplace_back(name, trim(line.substr(end)));
      break;
    }
    while (end < line.size() && !(line[end] == ' ' && key_size(line.substr(end + 1)) != 0)) ++end;
    out.emplace_back(name, trim(line.substr(key + 1, end - key - 1)));
    line = trim(line.substr(std::min(end, line.size())));
  }
  return out;
}

std::string_view TextRecord::get(std::string_view key) const { return find(fields_, key); }

bool TextRecord::has(std::string_view key) const {
  return std::ranges::any_of(fields_, [&](const auto& field) { return field.first == key; });
}

std::string_view TextRecord::Group::get(std::string_view key) const { return find(fields, key); }

void TextRecord::add_line(std::string_view line) {
  Fields fields = parse_fields(line);
  if (!fields.empty() && fields[0].first == "Nodes" && fields.size() > 1 &&
      fields[1].first == "CPU_IDs") {
    groups.push_back({std::move(fields)});
    return;
  }
  for (const auto& field : fields) {
    if (has(field.first)) doubtful_ = true;
    fields_.push_back(field);
  }
}

std::vector<TextRecord> parse_records(std::string_view text, std::string_view first_key) {
  std::vector<TextRecord> records;
  bool blank_before = true;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    const bool starts = line.size() > first_key.size() && line.starts_with(first_key) &&
                        line[first_key.size()] == '=';
    if (starts) {
      if (!records.empty() && !blank_before && first_key == "JobId")
        records.back().doubtful_ = true;
      records.emplace_back();
    }
    if (!records.empty() && (starts || line.starts_with(' '))) records.back().add_line(line);
    blank_before = trim(line).empty();
  }
  return records;
}

}  // namespace fairlead::slurm
