#include "apps/config_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/url.h"

namespace fairlead {
namespace {

using Problem = std::optional<Diagnostic>;

Problem one_of(const char* name, const std::string& text, const std::vector<std::string>& words) {
  if (std::ranges::find(words, text) != words.end()) return {};
  return Diagnostic{.code = "config-wrong-type",
                    .message = fmt::format("'{}' cannot be '{}'", name, text),
                    .place = {},
                    .hint = fmt::format("one of {}", fmt::join(words, ", "))};
}

Problem check_via(const std::string& text) {
  return one_of("via", text, {"auto", "bridge", "rest", "commands"});
}

Problem check_stage(const std::string& text) {
  if (text != "enforce") return one_of("stage", text, {"observe", "suggest", "enforce"});
  return Diagnostic{.code = "config-not-allowed",
                    .message = fmt::format("stage '{}' does not exist in this version", text),
                    .place = {},
                    .hint = "suggest"};
}

Problem check_url(const std::string& text) {
  if (text.empty()) return {};
  std::string url = text;
  if (const size_t at = url.find("{node}"); at != url.npos) url.replace(at, 6, "node");
  const auto parsed = io::parse_url(url);
  if (parsed) return {};
  return Diagnostic{.code = "config-bad-address",
                    .message = parsed.error().message,
                    .place = {},
                    .hint = parsed.error().hint};
}

Problem check_store(const std::string& text) {
  if (text.starts_with("sqlite:") && text.size() > std::string_view("sqlite:").size()) return {};
  return Diagnostic{.code = "config-not-allowed",
                    .message = fmt::format("store '{}' is not of this version", text),
                    .place = {},
                    .hint = "sqlite:/var/lib/fairlead/fairlead.db"};
}

Problem check_listen(const std::string& text) {
  constexpr const char* kHint = "127.0.0.1:7077 or unix:/run/fairlead.sock";
  if (text.empty()) return {};
  if (!is_listen_address(text))
    return Diagnostic{.code = "config-bad-address",
                      .message = fmt::format("'{}' is no address to listen on", text),
                      .place = {},
                      .hint = kHint};
  if (!beyond_loopback(text)) return {};
  return Diagnostic{
      .code = "config-not-allowed",
      .message = fmt::format(
          "'{}' is beyond this machine, and this version has neither tls nor identity", text),
      .place = {},
      .hint = kHint};
}

constexpr ConfigKey kKeys[] = {
    {"site", "name", "--name", "alpha", "how reports call it (local)",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.name; }},
    {"site", "stage", "", "suggest",
     "observe or suggest; default: suggest where an organisation is given",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.stage; }, check_stage},
    {"slurm", "via", "--via", "auto", "auto, bridge, rest or commands",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.slurm.via; }, check_via},
    {"slurm", "conf", "--conf", "/etc/slurm/slurm.conf",
     "slurm.conf to use; default: SLURM_CONF, else Slurm's own",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.slurm.conf; }},
    {"slurm", "bridge", "", "/usr/bin/fairlead-slurm", "default: beside fairlead, else in PATH",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.slurm.bridge; }},
    {"slurm", "rest", "--rest", "unix:/run/slurmrestd.sock",
     "address of slurmrestd: unix:/path or http://host:6820",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.slurm.rest; }, check_url},
    {"slurm", "rest_token_file", "--token-file", "/etc/fairlead/token",
     "file with a token for slurmrestd",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.slurm.rest_token_file; }},
    {"slurm", "rest_user", "--rest-user", "fairlead", "user the token is for",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.slurm.rest_user; }},
    {"slurm", "interval", "", "1s", "looks for changes at the soonest",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.slurm.interval; }},
    {"telemetry", "prometheus", "--prometheus", "http://127.0.0.1:9090",
     "Prometheus that has the GPUs' telemetry",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.telemetry.prometheus; }, check_url},
    {"telemetry", "exporters", "--exporter", "[\"http://{node}:9400/metrics\"]",
     "exporters' pages instead; {node} stands for each node",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.telemetry.exporters; }, check_url},
    {"telemetry", "bearer_file", "", "/etc/fairlead/prometheus-token", "file with a bearer token",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.telemetry.bearer_file; }},
    {"telemetry", "interval", "", "15s", "looks at the GPUs so often",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.telemetry.interval; }},
    {"evidence", "stale_after", "", "90s", "a look at a GPU counts for so long",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.evidence.stale_after; }},
    {"evidence", "idle_hold_after", "--idle-after", "15m",
     "an idle stretch so long is an idle hold",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.evidence.idle_hold_after; }},
    {"site", "grace", "", "60s", "a source that is silent for longer is not seen",
     [](Config&, SiteConfig& s) -> ConfigField { return &s.grace; }},
    {"", "store", "", "sqlite:/var/lib/fairlead/fairlead.db", "where the ledger is kept",
     [](Config& c, SiteConfig&) -> ConfigField { return &c.store; }, check_store},
    {"", "organisation", "--org", "/etc/fairlead/org",
     "teams, classes and reclaim: a .policy file, or a folder of them",
     [](Config& c, SiteConfig&) -> ConfigField { return &c.organisation; }},
    {"", "listen", "", "unix:/run/fairlead.sock", "the API, for the commands of this machine",
     [](Config& c, SiteConfig&) -> ConfigField { return &c.listen; }, check_listen},
    {"", "listen_http", "", "127.0.0.1:7077", "the API and the console over TCP, loopback only",
     [](Config& c, SiteConfig&) -> ConfigField { return &c.listen_http; }, check_listen},
};

// The words of a list in a variable: blanks or commas part them.
std::vector<std::string> list_of(std::string text) {
  std::ranges::replace(text, ',', ' ');
  std::vector<std::string> words;
  for (size_t at = 0; (at = text.find_first_not_of(' ', at)) != text.npos;) {
    const size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace

bool ConfigKey::is_list() const {
  Config config;
  SiteConfig site;
  return std::holds_alternative<std::vector<std::string>*>(field(config, site));
}

std::string ConfigKey::variable() const {
  std::string text = fmt::format("FAIRLEAD_{}{}{}", section, section.empty() ? "" : "_", name);
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return text;
}

std::span<const ConfigKey> config_key_table() { return kKeys; }

std::optional<Diagnostic> set_key(const ConfigKey& key, Config& config, SiteConfig& site,
                                  const std::vector<std::string>& texts) {
  const ConfigField field = key.field(config, site);
  if (auto* list = std::get_if<std::vector<std::string>*>(&field)) {
    **list = texts;
  } else if (auto* text = std::get_if<std::string*>(&field)) {
    if (texts.size() != 1)
      return Diagnostic{.code = "config-wrong-type",
                        .message = fmt::format("'{}' must be a text", key.name),
                        .place = {},
                        .hint = {}};
    **text = texts[0];
  } else {
    const auto value = texts.size() == 1 ? parse_duration(texts[0]) : std::nullopt;
    if (!value || value->us <= 0)
      return Diagnostic{.code = "config-wrong-type",
                        .message = fmt::format("'{}' must be a duration above zero", key.name),
                        .place = {},
                        .hint = "write it like 15s or 2m"};
    *std::get<Duration*>(field) = *value;
  }
  for (const std::string& text : texts) {
    if (key.check == nullptr) break;
    if (auto problem = key.check(text)) return problem;
  }
  return {};
}

std::optional<Diagnostic> grace_problem(const SiteConfig& site) {
  constexpr Duration kGraceMin = seconds(10);  // Slurm with nothing new is told of every 5 s
  const Duration least = std::max({kGraceMin, site.slurm.interval, site.telemetry.interval});
  if (site.grace >= least) return {};
  return Diagnostic{
      .code = "config-not-allowed",
      .message = "'grace' is so short that a source that is well would count as silent",
      .place = {},
      .hint = fmt::format("at least {}s", whole_seconds(least))};
}

void overlay(ConfigResult& result, const Environment& environment,
             const std::vector<Setting>& settings) {
  const auto set = [&](const ConfigKey& key, const std::vector<std::string>& texts,
                       const std::string& source) {
    if (key.section == "site" && key.name == "name" && result.config.sites.size() > 1) {
      result.problems.push_back({.code = "config-duplicate-key",
                                 .message = "several sites would have one name",
                                 .place = {.source = source},
                                 .hint = "name them in fairlead.yaml"});
      return;
    }
    for (SiteConfig& site : result.config.sites) {
      auto problem = set_key(key, result.config, site, texts);
      if (!problem && key.name == "grace") problem = grace_problem(site);
      if (!problem) continue;
      problem->place.source = source;
      result.problems.push_back(std::move(*problem));
      return;
    }
  };
  for (const ConfigKey& key : kKeys) {
    const std::string variable = key.variable();
    const char* value = environment(variable.c_str());
    if (value != nullptr && *value != '\0')
      set(key, key.is_list() ? list_of(value) : std::vector<std::string>{value}, variable);
  }
  for (const Setting& s : settings) set(*s.key, s.texts, std::string(s.key->option));
}

}  // namespace fairlead
