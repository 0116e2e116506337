#include "apps/policy_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ranges>

#include "adapters/slurm/words.h"
#include "io/file.h"
#include "lang/units.h"
#include "policy/catalogue.h"
#include "policy/parser.h"

namespace fairlead {

namespace fs = std::filesystem;
using policy::Checked;

fs::path zone_folder() {
  const char* named = std::getenv("TZDIR");
  return named != nullptr ? named : "/usr/share/zoneinfo";
}

Result<policy::Zones> read_zones(const policy::Organisation& organisation) {
  policy::Zones zones;
  for (const std::string& name : policy::zones_of(organisation)) {
    constexpr size_t kZoneFileMax = 1 << 20;
    const auto bytes = io::read_file((zone_folder() / name).string(), kZoneFileMax);
    if (!bytes) return std::unexpected(bytes.error());
    const auto zone = policy::Zone::read(*bytes);
    if (!zone) return std::unexpected(zone.error());
    zones.emplace(name, *zone);
  }
  return zones;
}

namespace {

// A folder stands for the .policy files in it, by name.
Result<std::vector<std::string>> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(path, error))
      if (entry.path().extension() == ".policy") inside.push_back(entry.path().string());
    if (error) return fail("file-unreadable", fmt::format("{}: {}", path, error.message()));
    if (inside.empty())
      return fail("policy-none", fmt::format("there is no organisation file in {}", path),
                  "name a folder with files that end in .policy, or the files themselves");
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

bool zone_exists(const std::string& zone) {
  const fs::path root = zone_folder();
  std::error_code error;
  if (!fs::is_directory(root, error)) return true;  // this machine knows no zones, so cannot say
  return fs::is_regular_file(root / zone, error);
}

}  // namespace

Diagnostic policy_problem(std::string code, std::string message, std::string hint) {
  return {
      .code = std::move(code), .message = std::move(message), .place = {}, .hint = std::move(hint)};
}

Result<lang::Sources> read_policy(const std::vector<std::string>& paths) {
  const auto files = files_of(paths);
  if (!files) return std::unexpected(files.error());
  lang::Sources sources;
  for (const std::string& file : *files) {
    auto text = io::read_file(file, lang::kTextMax);
    if (!text) return std::unexpected(text.error());
    sources.add(file, std::move(*text));
  }
  return sources;
}

// "256 H100"
Result<std::pair<std::string, policy::Milli>> read_amount(const std::string& text,
                                                          const std::string& option) {
  const size_t blank = text.find(' ');
  const auto count = lang::read_integer(std::string_view(text).substr(0, blank));
  if (blank == std::string::npos || !count || *count > policy::kDevicesMax)
    return fail("usage", fmt::format("'{}' is no amount of devices", text),
                fmt::format("{} \"256 H100\"", option));
  return std::pair(text.substr(blank + 1), policy::devices(*count));
}

Result<std::map<std::string, policy::Milli>> read_fleet(const std::vector<std::string>& texts) {
  std::map<std::string, policy::Milli> fleet;
  for (const std::string& text : texts) {
    for (const auto part : std::views::split(text, ',')) {
      const auto amount = read_amount(std::string(slurm::trim(std::string_view(part))), "--fleet");
      if (!amount) return std::unexpected(amount.error());
      const std::string_view known = policy::known_model(amount->first);
      const std::string name = known.empty() ? amount->first : std::string(known);
      if (!fleet.emplace(name, amount->second).second)
        return fail("usage", fmt::format("--fleet has {} twice", amount->first), "one sum of each");
    }
  }
  return fleet;
}

namespace {

// What cannot be read is left out: the check tells of it with its place.
std::map<std::string, lang::FileId> read_tables(lang::Sources& sources) {
  policy::Tree tree;
  lang::Diagnostics ignored;
  for (lang::FileId file = 0; file < sources.size(); ++file)
    policy::parse(sources, file, tree, ignored);
  std::map<std::string, lang::FileId> tables;
  for (const std::string& name : policy::tables_named(sources, tree)) {
    if (auto text = io::read_file(name, lang::kTextMax))
      tables.emplace(name, sources.add(name, std::move(*text)));
  }
  return tables;
}

}  // namespace

Result<LoadedPolicy> load_policy(const PolicyArguments& a) {
  policy::CheckOptions options{.fleet = {}, .zone_exists = zone_exists};
  auto fleet = read_fleet(a.fleet);
  if (!fleet) return std::unexpected(fleet.error());
  options.fleet = *std::move(fleet);
  auto sources = read_policy(a.paths);
  if (!sources) return std::unexpected(sources.error());
  options.tables = read_tables(*sources);
  Checked checked = policy::check_files(*sources, options);
  return LoadedPolicy{std::move(*sources), std::move(*options.tables), std::move(checked)};
}

void tell_problems(const LoadedPolicy& l) {
  std::string text;
  for (const auto& d : l.checked.problems) text += lang::to_text(d, l.sources);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// What the other subcommands do before their work: an organisation with errors is refused.
Result<LoadedPolicy> load_good_policy(const PolicyArguments& a) {
  auto loaded = load_policy(a);
  if (!loaded || loaded->checked.good()) return loaded;
  tell_problems(*loaded);
  return fail("policy-refused", "the organisation has errors", "mend what is told above");
}

}  // namespace fairlead
