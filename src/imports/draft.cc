#include "imports/draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "policy/amount.h"
#include "policy/catalogue.h"
#include "policy/layout.h"

namespace fairlead::imports {
namespace {

// A comment ends with its line, and the language takes no control characters.
std::string harmless(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte >= 0x7f ? '?' : c;
  }
  return out;
}

void write_remarks(std::string& out, const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) out += fmt::format("# {}\n", harmless(remark));
}

void write_team(std::string& out, const DraftTeam& team) {
  out += "\n";
  write_remarks(out, team.remarks);
  if (team.lines.empty() && team.teams.empty()) {
    out += fmt::format("team {} {{ }}\n", team.name);
    return;
  }
  out += fmt::format("team {} {{\n", team.name);
  for (const DraftLine& line : team.lines)
    out += line.remark.empty() ? line.text + "\n"
                               : fmt::format("{}  # {}\n", line.text, harmless(line.remark));
  for (const DraftTeam& child : team.teams) write_team(out, child);
  out += "}\n";
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// v7 is a version, and a name begins with a letter.
bool begins_a_name(std::string_view text) {
  const bool version =
      text.size() > 1 && text[0] == 'v' && std::ranges::all_of(text.substr(1), is_digit);
  return !text.empty() && is_letter(text[0]) && !version;
}

std::string near_name(std::string_view foreign) {
  std::string name;
  for (const char c : foreign) {
    if (is_letter(c) || is_digit(c))
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return begins_a_name(name) ? name : "n-" + (name.empty() ? "1" : name);
}

}  // namespace

std::string to_policy(const Draft& draft) {
  std::string out;
  write_remarks(out, draft.remarks);
  out += fmt::format("org {} v1\nlang 1\n", draft.name);
  if (!draft.devices.empty()) out += "\n";
  for (const std::string& device : draft.devices) out += fmt::format("devices {}\n", device);
  if (!draft.classes.empty()) out += "\n";
  for (const DraftClass& klass : draft.classes) {
    write_remarks(out, klass.remarks);
    out += fmt::format("class {} {{ {} }}\n", klass.name, fmt::join(klass.keys, "  "));
  }
  write_team(out, draft.root);
  lang::Sources sources;
  return lang::format(sources, sources.add("import.policy", std::move(out)),
                      policy::format_rules());
}

std::string Names::take(std::string_view foreign) {
  const std::string near = near_name(foreign);
  std::string name = near;
  for (int n = 2; !taken_.insert(name).second; ++n) name = fmt::format("{}-{}", near, n);
  return name;
}

bool can_be_quoted(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c >= ' ' && c != '"' && c != '*' && static_cast<unsigned char>(c) < 0x7f;
  });
}

std::string amount_text(int64_t count, std::string_view device) {
  return fmt::format("{} {}", std::clamp<int64_t>(count, 0, policy::kDevicesMax), device);
}

std::string model_name(std::string_view model) {
  const std::string_view known = policy::known_model(model);
  return known.empty() ? near_name(model) : std::string(known);
}

}  // namespace fairlead::imports
