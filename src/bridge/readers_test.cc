// SPDX-License-Identifier: GPL-2.0-or-later
//
// The three readers look at one real cluster and must see the same. Runs where a lab does:
//   FAIRLEAD_LAB_CONF=…/slurm.conf [FAIRLEAD_LAB_REST=unix:…] [FAIRLEAD_LAB_PREFIX=…] bridge_test
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "adapters/slurm/commands_reader.h"
#include "adapters/slurm/differ.h"
#include "adapters/slurm/rest_reader.h"
#include "adapters/slurm/words.h"
#include "bridge/reader.h"
#include "codec/event_json.h"
#include "codec/json.h"

namespace fairlead::slurm {
namespace {

using Records = std::map<std::string, std::string>;  // "job 4242" -> its line

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// What the readers may tell apart: text has one reason for a job's two, two digits of fairshare, and a
// look later sees other usage.
void level(Job& job) {
  job.reason.clear();
  job.reason_text.clear();
  job.last_evaluated = job.start_planned = {};
}
void level(Association& association) {
  association.usage_raw = 0;
  association.fairshare_ppm = association.fairshare_ppm < 0 ? -1 : (association.fairshare_ppm + 5000) / 10000;
}
void level(Scheduler& scheduler) { scheduler.statistics.clear(); }
template <class T>
void level(T&) {}

// What slurmrestd tells: no steps, before 24.11 no switches, no topology, nothing of the configuration,
// and associations under names of its own.
SlurmFacts as_rest_tells(SlurmFacts facts) {
  facts.topology.reset();
  facts.scheduler = {};
  facts.associations.clear();
  for (Job& job : facts.jobs) {
    job.steps = job.request.switches = 0;
    job.request.switches_wait_s = 0;
  }
  return facts;
}

Records records_of(const SlurmFacts& facts) {
  Records out;
  const auto add = [&](const std::string& key, auto record) {
    level(record);
    out[key] = json::to_json(record);
  };
  add("scheduler", facts.scheduler);
  if (facts.topology) add("topology", *facts.topology);
  for (const Job& r : facts.jobs) add("job " + std::to_string(r.id), r);
  for (const Node& r : facts.nodes) add("node " + r.name, r);
  for (const Partition& r : facts.partitions) add("partition " + r.name, r);
  for (const Qos& r : facts.qos) add("qos " + r.name, r);
  for (const Association& r : facts.associations) add("association " + association_name(r), r);
  for (const Reservation& r : facts.reservations) add("reservation " + r.name, r);
  for (const Licence& r : facts.licences) add("licence " + r.name, r);
  return out;
}

SlurmFacts read_all(Reader& reader, const std::set<Part>& leave_out = {}) {
  SlurmFacts facts;
  for (const Part part : kParts) {
    if (leave_out.contains(part)) continue;
    const auto got = reader.read(part, facts);
    EXPECT_TRUE(got.has_value()) << name_of(part) << ": " << (got ? "" : to_text(got.error()));
    if (part != Part::jobs) EXPECT_EQ(facts.unreadable[part], 0) << name_of(part);
  }
  for (Job& job : facts.jobs) job.steps = facts.steps.contains(job.id) ? facts.steps.at(job.id) : 0;
  return facts;
}

void expect_same(const Records& want, const Records& got, const char* who) {
  for (const auto& [key, line] : want) {
    SCOPED_TRACE(std::string(who) + ": " + key);
    if (line.find("\\n") != std::string::npos) continue;  // text leaves out what could be forged
    EXPECT_TRUE(got.contains(key));
    if (got.contains(key)) EXPECT_EQ(got.at(key), line);
  }
}

TEST(Readers, SeeTheSameCluster) {
  const std::string conf = environment("FAIRLEAD_LAB_CONF");
  if (conf.empty()) GTEST_SKIP() << "no lab: set FAIRLEAD_LAB_CONF";
  setenv("SLURM_CONF", conf.c_str(), 1);
  LibslurmReader libslurm;
  const SlurmFacts want = read_all(libslurm);
  EXPECT_GT(want.nodes.size(), 0U);

  CommandsReader commands({.conf = conf, .prefix = split_names(environment("FAIRLEAD_LAB_PREFIX"))});
  expect_same(records_of(want), records_of(read_all(commands)), "commands");

  const std::string rest_url = environment("FAIRLEAD_LAB_REST");
  if (rest_url.empty()) return;
  RestReader rest({.url = rest_url});
  const SlurmFacts told = read_all(rest, {Part::steps, Part::topology});
  EXPECT_EQ(told.associations.size(), want.associations.size());
  expect_same(records_of(as_rest_tells(want)), records_of(as_rest_tells(told)), "rest");
}

}  // namespace
}  // namespace fairlead::slurm
