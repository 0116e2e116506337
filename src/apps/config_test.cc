#include "apps/config.h"

#include <gtest/gtest.h>

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
       "known here: sites, store, listen, listen_http"},
      {"a wrong type", "sites:\n  - name: a\n    telemetry:\n      interval: [1]\n",
       "f.yaml:4:17: error: 'interval' must be a duration above zero  [config-wrong-type]\n  help: "
       "write it like 15s or 2m"},
      {"sites as a mapping", "sites: {name: a}\n",
       "f.yaml:1:8: error: 'sites' must be a list  [config-wrong-type]"},
      {"the same key twice", "store: sqlite:/a\nstore: sqlite:/b\n",
       "f.yaml:2:1: error: key 'store' stands here twice  [config-duplicate-key]"},
      {"a stage that does not exist yet", "sites:\n  - stage: enforce\n",
       "f.yaml:2:12: error: stage 'enforce' does not exist in this version  [config-not-allowed]\n "
       " help: observe"},
      {"a grace in which no poll fits", "sites:\n  - telemetry: {interval: 30s}\n    grace: 20s\n",
       "f.yaml:3:12: error: 'grace' is so short that a source that is well would count as silent  "
       "[config-not-allowed]\n  help: at least 30s"},
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
