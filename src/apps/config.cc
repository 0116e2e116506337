#include "apps/config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>
#include <set>

namespace fairlead {
namespace {

// How many letters must change to turn one word into the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// Walks one YAML mapping and tells everything that is wrong with it.
class Reader {
 public:
  Reader(std::string source, std::vector<Diagnostic>& problems)
      : source_(std::move(source)), problems_(problems) {}

  void problem(const YAML::Node& node, std::string code, std::string message,
               std::string hint = {}) {
    const YAML::Mark mark = node.Mark();
    problems_.push_back(
        {.code = std::move(code),
         .message = std::move(message),
         .place = {.source = source_, .line = mark.line + 1, .column = mark.column + 1},
         .hint = std::move(hint)});
  }

  using Take = std::function<void(const YAML::Node&)>;
  void mapping(const YAML::Node& node, const std::string& where,
               const std::vector<std::pair<std::string, Take>>& keys) {
    if (node.IsNull()) return;
    if (!node.IsMap()) {
      problem(node, "config-wrong-type", fmt::format("'{}' must be a mapping of keys", where));
      return;
    }
    std::set<std::string> seen;
    for (const auto& item : node) {
      const std::string key = item.first.IsScalar() ? item.first.Scalar() : "";
      if (!seen.insert(key).second)
        problem(item.first, "config-duplicate-key", fmt::format("key '{}' stands here twice", key));
      const auto known = std::ranges::find(keys, key, &std::pair<std::string, Take>::first);
      if (known != keys.end())
        known->second(item.second);
      else
        unknown_key(item.first, key, where, keys);
    }
  }

  void text(const YAML::Node& node, std::string& out, const char* what) {
    if (node.IsScalar())
      out = node.Scalar();
    else
      problem(node, "config-wrong-type", fmt::format("'{}' must be a text", what));
  }
  void duration(const YAML::Node& node, Duration& out, const char* what) {
    const auto value = node.IsScalar() ? parse_duration(node.Scalar()) : std::nullopt;
    if (value && value->us > 0)
      out = *value;
    else
      problem(node, "config-wrong-type", fmt::format("'{}' must be a duration above zero", what),
              "write it like 15s or 2m");
  }
  void texts(const YAML::Node& node, std::vector<std::string>& out, const char* what) {
    if (node.IsScalar()) {
      out = {node.Scalar()};
      return;
    }
    if (!node.IsSequence())
      return problem(node, "config-wrong-type", fmt::format("'{}' must be a list of texts", what));
    for (const YAML::Node& item : node) {
      if (item.IsScalar())
        out.push_back(item.Scalar());
      else
        problem(item, "config-wrong-type", fmt::format("'{}' must be a list of texts", what));
    }
  }
  void word(const YAML::Node& node, std::string& out, const char* what,
            const std::vector<std::string>& words) {
    text(node, out, what);
    if (std::ranges::find(words, out) != words.end()) return;
    problem(node, "config-wrong-type", fmt::format("'{}' cannot be '{}'", what, out),
            fmt::format("one of {}", fmt::join(words, ", ")));
  }

 private:
  void unknown_key(const YAML::Node& node, const std::string& key, const std::string& where,
                   const std::vector<std::pair<std::string, Take>>& keys) {
    const auto nearest =
        std::ranges::min_element(keys, {}, [&](const auto& k) { return distance(key, k.first); });
    std::string hint;
    if (nearest != keys.end() &&
        distance(key, nearest->first) <= std::max<size_t>(2, key.size() / 3)) {
      hint = fmt::format("did you mean '{}'?", nearest->first);
    } else {
      std::vector<std::string> names;
      for (const auto& k : keys) names.push_back(k.first);
      hint = fmt::format("known here: {}", fmt::join(names, ", "));
    }
    problem(node, "config-unknown-key", fmt::format("unknown key '{}' in {}", key, where), hint);
  }

  std::string source_;
  std::vector<Diagnostic>& problems_;
};

void read_slurm(Reader& r, const YAML::Node& node, SlurmConfig& c) {
  r.mapping(node, "slurm",
            {
                {"via",
                 [&](const YAML::Node& n) {
                   r.word(n, c.via, "via", {"auto", "bridge", "rest", "commands"});
                 }},
                {"conf", [&](const YAML::Node& n) { r.text(n, c.conf, "conf"); }},
                {"bridge", [&](const YAML::Node& n) { r.text(n, c.bridge, "bridge"); }},
                {"rest", [&](const YAML::Node& n) { r.text(n, c.rest, "rest"); }},
                {"rest_token_file",
                 [&](const YAML::Node& n) { r.text(n, c.rest_token_file, "rest_token_file"); }},
                {"rest_user", [&](const YAML::Node& n) { r.text(n, c.rest_user, "rest_user"); }},
                {"interval", [&](const YAML::Node& n) { r.duration(n, c.interval, "interval"); }},
            });
}

void read_telemetry(Reader& r, const YAML::Node& node, TelemetryConfig& c) {
  r.mapping(
      node, "telemetry",
      {
          {"prometheus", [&](const YAML::Node& n) { r.text(n, c.prometheus, "prometheus"); }},
          {"exporters", [&](const YAML::Node& n) { r.texts(n, c.exporters, "exporters"); }},
          {"bearer_file", [&](const YAML::Node& n) { r.text(n, c.bearer_file, "bearer_file"); }},
          {"interval", [&](const YAML::Node& n) { r.duration(n, c.interval, "interval"); }},
      });
}

void read_evidence(Reader& r, const YAML::Node& node, EvidenceRules& c) {
  r.mapping(node, "evidence",
            {
                {"stale_after",
                 [&](const YAML::Node& n) { r.duration(n, c.stale_after, "stale_after"); }},
                {"idle_hold_after",
                 [&](const YAML::Node& n) { r.duration(n, c.idle_hold_after, "idle_hold_after"); }},
            });
}

void read_site(Reader& r, const YAML::Node& node, SiteConfig& c) {
  std::string stage = "observe";
  r.mapping(node, "a site",
            {
                {"name", [&](const YAML::Node& n) { r.text(n, c.name, "name"); }},
                {"slurm", [&](const YAML::Node& n) { read_slurm(r, n, c.slurm); }},
                {"telemetry", [&](const YAML::Node& n) { read_telemetry(r, n, c.telemetry); }},
                {"evidence", [&](const YAML::Node& n) { read_evidence(r, n, c.evidence); }},
                {"grace", [&](const YAML::Node& n) { r.duration(n, c.grace, "grace"); }},
                {"stage",
                 [&](const YAML::Node& n) {
                   r.word(n, stage, "stage", {"observe", "suggest", "enforce"});
                   if (stage == "suggest" || stage == "enforce") {
                     r.problem(n, "config-not-allowed",
                               fmt::format("stage '{}' does not exist in this version", stage),
                               "observe");
                   }
                 }},
            });
  constexpr Duration kGraceMin = seconds(10);  // Slurm with nothing new is told of every 5 s
  const Duration least = std::max({kGraceMin, c.slurm.interval, c.telemetry.interval});
  if (node.IsMap() && node["grace"] && c.grace < least) {
    r.problem(node["grace"], "config-not-allowed",
              "'grace' is so short that a source that is well would count as silent",
              fmt::format("at least {}s", whole_seconds(least)));
  }
}

}  // namespace

bool beyond_loopback(const std::string& listen) {
  return !listen.empty() && !listen.starts_with("unix:") && !listen.starts_with("127.") &&
         !listen.starts_with("localhost:") && !listen.starts_with("[::1]:");
}

ConfigResult read_config(const std::string& text, const std::string& source) {
  ConfigResult result;
  Reader r(source, result.problems);
  Config& c = result.config;
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception& e) {
    result.problems.push_back(
        {.code = "config-bad",
         .message = "not YAML: " + e.msg,
         .place = {.source = source, .line = e.mark.line + 1, .column = e.mark.column + 1},
         .hint = {}});
    return result;
  }
  const auto listen = [&](const YAML::Node& n, std::string& out, const char* what) {
    r.text(n, out, what);
    if (beyond_loopback(out)) {
      r.problem(
          n, "config-not-allowed",
          fmt::format("'{}' is beyond this machine, and this version has neither tls nor identity",
                      out),
          "127.0.0.1:7077 or unix:/run/fairlead.sock");
    }
  };
  r.mapping(
      root, "fairlead.yaml",
      {
          {"sites",
           [&](const YAML::Node& n) {
             if (!n.IsSequence())
               return r.problem(n, "config-wrong-type", "'sites' must be a list");
             for (const YAML::Node& item : n) read_site(r, item, c.sites.emplace_back());
           }},
          {"store",
           [&](const YAML::Node& n) {
             r.text(n, c.store, "store");
             if (!c.store.starts_with("sqlite:")) {
               r.problem(n, "config-not-allowed",
                         fmt::format("store '{}' is not of this version", c.store),
                         "sqlite:/var/lib/fairlead/fairlead.db");
             }
           }},
          {"listen", [&](const YAML::Node& n) { listen(n, c.listen, "listen"); }},
          {"listen_http", [&](const YAML::Node& n) { listen(n, c.listen_http, "listen_http"); }},
      });
  std::set<std::string> names;
  for (const SiteConfig& site : c.sites) {
    if (!names.insert(site.name).second)
      r.problem(root, "config-duplicate-key", fmt::format("two sites are named '{}'", site.name));
  }
  if (c.sites.empty()) c.sites.emplace_back();
  return result;
}

std::string config_keys() {
  return R"(sites:                          # a list; without it: the Slurm of this machine
  - name: alpha                 # how reports call it (local)
    stage: observe              # the only one of this version
    slurm:
      via: auto                 # auto | bridge | rest | commands
      conf: /etc/slurm/slurm.conf   # default: SLURM_CONF, else Slurm's own
      bridge: /usr/bin/fairlead-slurm   # default: beside fairlead, else in PATH
      rest: unix:/run/slurmrestd.sock   # or http://host:6820
      rest_token_file: /etc/fairlead/token
      rest_user: fairlead
      interval: 1s              # looks for changes at the soonest
    telemetry:
      prometheus: http://127.0.0.1:9090
      exporters: ["http://{node}:9400/metrics"]   # instead of prometheus
      bearer_file: /etc/fairlead/prometheus-token
      interval: 15s
    evidence:
      stale_after: 90s          # a look at a GPU counts for so long
      idle_hold_after: 15m      # an idle stretch so long is an idle hold
    grace: 60s                  # a source that is silent for longer is not seen
store: sqlite:/var/lib/fairlead/fairlead.db
listen: unix:/run/fairlead.sock # the API, for the commands of this machine
listen_http: 127.0.0.1:7077     # the API and the console over TCP, loopback only
)";
}

}  // namespace fairlead
