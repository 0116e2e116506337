#include "apps/config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "apps/config_keys.h"
#include "base/words.h"

namespace fairlead {
namespace {

// Walks one YAML document and tells everything that is wrong with it.
class Reader {
 public:
  Reader(std::string source, ConfigResult& result) : source_(std::move(source)), result_(result) {}

  void document(const YAML::Node& root) {
    mapping(root, "fairlead.yaml", "", no_site_, {"sites"});
    const YAML::Node sites = root.IsMap() ? root["sites"] : YAML::Node();
    std::set<std::string> names;
    for (size_t i = 0; i < result_.config.sites.size(); ++i) {
      const std::string& name = result_.config.sites[i].name;
      if (!names.insert(name).second)
        problem(sites[i], "config-duplicate-key", fmt::format("two sites are named '{}'", name));
    }
  }

 private:
  // The keys of `section` that the table has, and mappings in it.
  void mapping(const YAML::Node& node, const std::string& where, std::string_view section,
               SiteConfig& site, const std::vector<std::string>& parts) {
    if (node.IsNull()) return;
    if (!node.IsMap())
      return problem(node, "config-wrong-type",
                     fmt::format("'{}' must be a mapping of keys", where));
    std::vector<std::string> known = parts;
    for (const ConfigKey& key : config_key_table()) {
      if (key.section == section) known.emplace_back(key.name);
    }
    std::set<std::string> seen;
    for (const auto& item : node) {
      const std::string name = item.first.IsScalar() ? item.first.Scalar() : "";
      if (!seen.insert(name).second)
        problem(item.first, "config-duplicate-key",
                fmt::format("key '{}' stands here twice", name));
      if (std::ranges::find(parts, name) != parts.end())
        part(item.second, name, site);
      else if (std::ranges::find(known, name) != known.end())
        value(item.second, section, name, site);
      else
        problem(item.first, "config-unknown-key",
                fmt::format("unknown key '{}' in {}", name, where), hint_for_unknown(name, known));
    }
  }

  void part(const YAML::Node& node, const std::string& name, SiteConfig& site) {
    if (name != "sites") return mapping(node, name, name, site, {});
    if (!node.IsSequence()) return problem(node, "config-wrong-type", "'sites' must be a list");
    for (const YAML::Node& item : node) {
      SiteConfig& own = result_.config.sites.emplace_back();
      mapping(item, "a site", "site", own, {"slurm", "telemetry", "evidence"});
      if (!item.IsMap() || !item["grace"]) continue;
      if (const auto wrong = grace_problem(own))
        problem(item["grace"], wrong->code, wrong->message, wrong->hint);
    }
  }

  void value(const YAML::Node& node, std::string_view section, const std::string& name,
             SiteConfig& site) {
    const auto key = std::ranges::find_if(config_key_table(), [&](const ConfigKey& k) {
      return k.section == section && k.name == name;
    });
    std::vector<std::string> texts;
    bool good = node.IsScalar();
    if (good) texts = {node.Scalar()};
    if (node.IsSequence() && key->is_list()) {
      good = std::ranges::all_of(node, [](const YAML::Node& item) { return item.IsScalar(); });
      for (const YAML::Node& item : node) texts.push_back(item.IsScalar() ? item.Scalar() : "");
    }
    if (!good) texts.clear();
    if (!good && key->is_list())
      return problem(node, "config-wrong-type", fmt::format("'{}' must be a list of texts", name));
    if (const auto wrong = set_key(*key, result_.config, site, texts))
      problem(node, wrong->code, wrong->message, wrong->hint);
  }

  void problem(const YAML::Node& node, std::string code, std::string message,
               std::string hint = {}) {
    const YAML::Mark mark = node.Mark();
    result_.problems.push_back(
        {.code = std::move(code),
         .message = std::move(message),
         .place = {.source = source_, .line = mark.line + 1, .column = mark.column + 1},
         .hint = std::move(hint)});
  }

  std::string source_;
  ConfigResult& result_;
  SiteConfig no_site_;  // of keys that are the file's
};

// Lines of one section, as YAML.
std::string keys_of(std::string_view section, std::string_view indent, bool in_list = false) {
  std::string text;
  for (const ConfigKey& key : config_key_table()) {
    if (key.section != section) continue;
    const std::string dash = in_list && text.empty() ? "- " : in_list ? "  " : "";
    const std::string line = fmt::format("{}{}{}: {}", indent, dash, key.name, key.example);
    text += fmt::format("{:<58} # {} ({})\n", line, key.meaning, key.variable());
  }
  return text;
}

}  // namespace

bool is_listen_address(const std::string& text) {
  if (text.starts_with("unix:")) return text.size() > 6 && text[5] == '/';
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0 || colon + 1 == text.size()) return false;
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data() + colon + 1, end, port);
  const bool several = text.find(':') != colon;
  return error == std::errc{} && read == end && (!several || text.starts_with('['));
}

bool beyond_loopback(const std::string& listen) {
  return !listen.empty() && !listen.starts_with("unix:") && !listen.starts_with("127.") &&
         !listen.starts_with("localhost:") && !listen.starts_with("[::1]:");
}

ConfigResult read_config(const std::string& text, const std::string& source) {
  ConfigResult result;
  try {
    Reader(source, result).document(YAML::Load(text));
  } catch (const YAML::Exception& e) {
    result.problems.push_back(
        {.code = "config-bad",
         .message = "not YAML: " + e.msg,
         .place = {.source = source, .line = e.mark.line + 1, .column = e.mark.column + 1},
         .hint = {}});
  }
  if (result.config.sites.empty()) result.config.sites.emplace_back();
  return result;
}

Stage stage_of(const Config& config, const SiteConfig& site) {
  if (site.stage.empty()) return config.organisation.empty() ? Stage::observe : Stage::suggest;
  return enum_of_name<Stage>(site.stage).value_or(Stage::observe);
}

std::string config_keys() {
  return "# An option of the command line wins over a variable, and a variable over this file.\n"
         "sites:   # a list; without it: the Slurm of this machine\n" +
         keys_of("site", "  ", true) + "    slurm:\n" + keys_of("slurm", "      ") +
         "    telemetry:\n" + keys_of("telemetry", "      ") + "    evidence:\n" +
         keys_of("evidence", "      ") + keys_of("", "");
}

}  // namespace fairlead
