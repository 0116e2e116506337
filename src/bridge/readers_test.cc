// SPDX-License-Identifier: GPL-2.0-or-later
//
// The three readers look at one real cluster and must see the same. Runs where a lab does:
//   FAIRLEAD_LAB_CONF=…/slurm.conf [FAIRLEAD_LAB_REST=unix:…] bridge_test
// and for a lab of another release, with the bridge built for it:
//   FAIRLEAD_LAB_PREFIX=…/bin/in FAIRLEAD_LAB_BRIDGE=…/fairlead-slurm
#include <gtest/gtest.h>

#include <cstdlib>

#include "adapters/slurm/commands_reader.h"
#include "adapters/slurm/rest_reader.h"
#include "adapters/slurm/same_cluster.h"
#include "bridge/reader.h"

namespace fairlead::slurm {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

SlurmFacts read_with_libslurm(const std::string& conf) {
  setenv("SLURM_CONF", conf.c_str(), 1);
  if (const std::string bridge = environment("FAIRLEAD_LAB_BRIDGE"); !bridge.empty()) {
    const auto printed =
        run_command({.words = {environment("FAIRLEAD_LAB_PREFIX"), bridge, "--once"}});
    return printed ? facts_of_stream(printed->out) : SlurmFacts{};
  }
  LibslurmReader reader;
  return read_all(reader);
}

TEST(Readers, SeeTheSameCluster) {
  const std::string conf = environment("FAIRLEAD_LAB_CONF");
  if (conf.empty()) GTEST_SKIP() << "no lab: set FAIRLEAD_LAB_CONF";
  const bool host_release = environment("FAIRLEAD_LAB_BRIDGE").empty();
  const auto may_lack = [&](const SlurmFacts& facts) {
    return host_release ? facts : without_shares(facts);
  };
  const SlurmFacts want = read_with_libslurm(conf);
  EXPECT_GT(want.nodes.size(), 0U);

  CommandsReader commands(
      {.conf = conf, .prefix = split_names(environment("FAIRLEAD_LAB_PREFIX"))});
  expect_same(records_of(may_lack(want)), records_of(may_lack(read_all(commands))), "commands");

  const std::string rest_url = environment("FAIRLEAD_LAB_REST");
  if (rest_url.empty()) return;
  RestReader rest({.url = rest_url});
  const SlurmFacts told = read_all(rest, {Part::steps, Part::topology});
  EXPECT_EQ(told.associations.size(), want.associations.size());
  expect_same(records_of(as_rest_tells(may_lack(want))), records_of(as_rest_tells(may_lack(told))),
              "rest");
}

}  // namespace
}  // namespace fairlead::slurm
