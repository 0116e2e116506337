#include "apps/config.h"

#include <gtest/gtest.h>

#include <set>

#include "apps/config_keys.h"

namespace fairlead {
namespace {

TEST(Config, ItsOwnDocumentationIsValid) {
  const ConfigResult got = read_config(config_keys(), "keys");
  for (const Diagnostic& d : got.problems) ADD_FAILURE() << to_text(d);
  EXPECT_EQ(got.config.sites[0].name, "alpha");
  EXPECT_EQ(got.config.sites[0].telemetry.interval, seconds(15));
}

TEST(Config, NothingIsTheLocalSlurm) {
  const ConfigResult got = read_config("", "x");
  EXPECT_TRUE(got.problems.empty());
  ASSERT_EQ(got.config.sites.size(), 1u);
  EXPECT_EQ(got.config.sites[0].name, "local");
}

struct Row {
  std::string_view name;
  std::string text;
  std::string want;  // the whole first diagnostic
};

TEST(Config, RefusesWithPlaceAndHint) {
  const Row rows[] = {
      {"a key one letter off", "listn: unix:/x\n",
       "f.yaml:1:1: error: unknown key 'listn' in fairlead.yaml  [config-unknown-key]\n  help: did "
       "you mean 'listen'?"},
      {"a key far off", "colour: red\n",
       "f.yaml:1:1: error: unknown key 'colour' in fairlead.yaml  [config-unknown-key]\n  help: "
       "known: sites, store, organisation, listen, listen_http"},
      {"a wrong type", "sites:\n  - name: a\n    telemetry:\n      interval: [1]\n",
       "f.yaml:4:17: error: 'interval' must be a duration above zero  [config-wrong-type]\n  help: "
       "write it like 15s or 2m"},
      {"sites as a mapping", "sites: {name: a}\n",
       "f.yaml:1:8: error: 'sites' must be a list  [config-wrong-type]"},
      {"the same key twice", "store: sqlite:/a\nstore: sqlite:/b\n",
       "f.yaml:2:1: error: key 'store' stands here twice  [config-duplicate-key]"},
      {"two sites of one name", "sites:\n  - name: a\n  - name: b\n  - name: a\n",
       "f.yaml:4:5: error: two sites are named 'a'  [config-duplicate-key]"},
      {"a stage that does not exist yet", "sites:\n  - stage: enforce\n",
       "f.yaml:2:12: error: stage 'enforce' does not exist in this version  [config-not-allowed]\n "
       " help: suggest"},
      {"a grace in which no poll fits", "sites:\n  - telemetry: {interval: 30s}\n    grace: 20s\n",
       "f.yaml:3:12: error: 'grace' is so short that a source that is well would count as silent  "
       "[config-not-allowed]\n  help: at least 30s"},
      {"an address that is none", "listen: foo\n",
       "f.yaml:1:9: error: 'foo' is no address to listen on  [config-bad-address]\n  help: "
       "127.0.0.1:7077 or unix:/run/fairlead.sock"},
      {"a URL that is none", "sites:\n  - telemetry: {prometheus: prom:9090}\n",
       "f.yaml:2:29: error: 'prom:9090' is no address: it begins with none of http://, https://, "
       "unix:  [config-bad-address]\n  help: write it as http://host:9090, https://host or "
       "unix:/run/some.sock"},
      {"beyond loopback", "listen: 0.0.0.0:80\n",
       "f.yaml:1:9: error: '0.0.0.0:80' is beyond this machine, and this version has neither tls "
       "nor identity  [config-not-allowed]\n"
       "  help: 127.0.0.1:7077 or unix:/run/fairlead.sock"},
      {"not YAML", "sites: [\n",
       "f.yaml:2:1: error: not YAML: end of sequence flow not found  [config-bad]"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const ConfigResult got = read_config(row.text, "f.yaml");
    ASSERT_FALSE(got.problems.empty());
    EXPECT_EQ(to_text(got.problems[0]), row.want);
  }
}

// Three layers, each over the one before it.
struct LayerRow {
  std::string_view name;
  const char* variable = nullptr;
  std::vector<std::string> option;
  std::string_view want;
};

const ConfigKey& key_named(std::string_view section, std::string_view name) {
  return *std::ranges::find_if(config_key_table(), [&](const ConfigKey& k) {
    return k.section == section && k.name == name;
  });
}

TEST(Config, OptionsWinOverVariablesAndVariablesOverTheFile) {
  const LayerRow rows[] = {
      {"the file", nullptr, {}, "rest"},
      {"a variable", "commands", {}, "commands"},
      {"an empty variable is none", "", {}, "rest"},
      {"an option", nullptr, {"bridge"}, "bridge"},
      {"an option over a variable", "commands", {"bridge"}, "bridge"},
  };
  const ConfigKey& via = key_named("slurm", "via");
  for (const LayerRow& row : rows) {
    SCOPED_TRACE(row.name);
    ConfigResult got = read_config("sites: [{slurm: {via: rest}}, {name: b}]\n", "f.yaml");
    std::vector<Setting> settings;
    if (!row.option.empty()) settings.push_back({&via, row.option});
    overlay(
        got, [&](const char* v) { return via.variable() == v ? row.variable : nullptr; }, settings);
    EXPECT_TRUE(got.problems.empty());
    EXPECT_EQ(got.config.sites[0].slurm.via, row.want);
  }
}

TEST(Config, EveryKeyHasAVariableThatIsChecked) {
  std::set<std::string> names;
  for (const ConfigKey& key : config_key_table()) {
    SCOPED_TRACE(key.variable());
    EXPECT_TRUE(names.insert(key.variable()).second);
    ConfigResult set = read_config("", "f.yaml");
    overlay(set, [&](const char* v) { return key.variable() == v ? "\x7f bad" : nullptr; }, {});
    Config config;
    SiteConfig site;
    const bool checked =
        key.check != nullptr || std::holds_alternative<Duration*>(key.field(config, site));
    ASSERT_EQ(set.problems.size(), checked ? 1u : 0u);
    if (checked) EXPECT_EQ(set.problems[0].place.source, key.variable());
  }
}

TEST(Config, SeveralSitesDoNotGetOneName) {
  ConfigResult got = read_config("sites: [{name: a}, {name: b}]\n", "f.yaml");
  overlay(got,
          [](const char* v) { return std::string_view(v) == "FAIRLEAD_SITE_NAME" ? "c" : nullptr; },
          {});
  ASSERT_EQ(got.problems.size(), 1u);
  EXPECT_EQ(got.config.sites[1].name, "b");
}

TEST(Config, AVariableOfAListHoldsItsWords) {
  ConfigResult got = read_config("", "f.yaml");
  overlay(got,
          [](const char* v) {
            return std::string_view(v) == "FAIRLEAD_TELEMETRY_EXPORTERS"
                       ? "http://a:1/m, http://{node}:2/m"
                       : nullptr;
          },
          {});
  EXPECT_EQ(got.config.sites[0].telemetry.exporters,
            (std::vector<std::string>{"http://a:1/m", "http://{node}:2/m"}));
}

TEST(Config, KnowsWhatCanBeListenedOn) {
  for (const char* good : {"unix:/x", "127.0.0.1:0", "localhost:65535", "[::1]:80"})
    EXPECT_TRUE(is_listen_address(good)) << good;
  for (const char* bad : {"", "foo", "unix:", "unix:x", "unix:/", "127.0.0.1", "127.0.0.1:",
                          "127.0.0.1:x", "127.0.0.1:65536", "::1:80", ":80", "127.0.0.1:-1"})
    EXPECT_FALSE(is_listen_address(bad)) << bad;
}

TEST(Config, KnowsWhatOthersCanReach) {
  for (const char* here : {"", "unix:/x", "127.0.0.1:0", "localhost:7077", "[::1]:7077"}) {
    EXPECT_FALSE(beyond_loopback(here)) << here;
  }
  for (const char* beyond : {"0.0.0.0:80", "10.0.0.1:80", "[::]:80", "host:80", ":80"}) {
    EXPECT_TRUE(beyond_loopback(beyond)) << beyond;
  }
}

TEST(Config, TellsAllThatIsWrong) {
  EXPECT_EQ(read_config("listn: a\nstoer: b\n", "f").problems.size(), 2u);
}

}  // namespace
}  // namespace fairlead
