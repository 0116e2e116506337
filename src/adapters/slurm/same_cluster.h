// For tests: whether two readers saw the same cluster, and where they may differ.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "adapters/slurm/differ.h"
#include "adapters/slurm/facts.h"
#include "adapters/slurm/words.h"
#include "codec/event_json.h"
#include "codec/json.h"

namespace fairlead::slurm {

using Records = std::map<std::string, std::string>;  // "job 4242" -> its line

// What the readers may tell apart: text has one reason for a job's two, two digits of fairshare,
// and a look later sees other usage.
inline void level(Job& job) {
  job.reason.clear();
  job.reason_text.clear();
  job.last_evaluated = job.start_planned = {};
}
inline void level(Association& association) {
  association.usage_raw = 0;
  association.fairshare_ppm =
      association.fairshare_ppm < 0 ? -1 : (association.fairshare_ppm + 5000) / 10000;
}
inline void level(Scheduler& scheduler) { scheduler.statistics.clear(); }
template <class T>
void level(T&) {}

// What slurmrestd tells: no steps, before 24.11 no switches, after 22.05 no default partition, no
// topology, nothing of the configuration, and associations under names of its own; the lists of
// tasks cut short, unless it was started with SLURM_BITSTR_LEN=0.
inline SlurmFacts as_rest_tells(SlurmFacts facts) {
  facts.topology.reset();
  facts.scheduler = {};
  facts.associations.clear();
  for (Qos& qos : facts.qos) qos.used = {};
  for (Partition& partition : facts.partitions) partition.is_default = false;  // after 22.05
  for (Job& job : facts.jobs) {
    job.steps = job.request.switches = 0;
    job.request.switches_wait_s = 0;
    if (has_ended(job.state)) job.request.cpus = 0;
    if (job.array.waiting.size() < 60) continue;
    job.array.waiting.clear();
    job.array.waiting_count = 0;
    job.label.clear();
  }
  return facts;
}

// After 22.05 libslurm tells no CPUs and memory for each node of a job on several.
inline SlurmFacts without_shares(SlurmFacts facts) {
  for (Job& job : facts.jobs) {
    for (NodeShare& share : job.held) share.cpus = 0, share.memory_mb = 0;
  }
  return facts;
}

inline Records records_of(const SlurmFacts& facts) {
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

inline SlurmFacts read_all(Reader& reader, const std::set<Part>& leave_out = {}) {
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

// What a bridge printed, as facts again.
inline SlurmFacts facts_of_stream(std::string_view text) {
  SlurmFacts facts;
  for (const std::string_view line : split(text, '\n')) {
    const auto event = read_event(line);
    if (!event) continue;
    const What& what = event->what;
    if (const auto* r = std::get_if<Scheduler>(&what)) facts.scheduler = *r;
    if (const auto* r = std::get_if<Topology>(&what)) facts.topology = *r;
    if (const auto* r = std::get_if<Job>(&what)) facts.jobs.push_back(*r);
    if (const auto* r = std::get_if<Node>(&what)) facts.nodes.push_back(*r);
    if (const auto* r = std::get_if<Partition>(&what)) facts.partitions.push_back(*r);
    if (const auto* r = std::get_if<Qos>(&what)) facts.qos.push_back(*r);
    if (const auto* r = std::get_if<Association>(&what)) facts.associations.push_back(*r);
    if (const auto* r = std::get_if<Reservation>(&what)) facts.reservations.push_back(*r);
    if (const auto* r = std::get_if<Licence>(&what)) facts.licences.push_back(*r);
    if (const auto* r = std::get_if<PollEnded>(&what)) EXPECT_TRUE(r->ok) << r->detail;
  }
  return facts;
}

inline void expect_same(const Records& want, const Records& got, const char* who) {
  for (const auto& [key, line] : want) {
    SCOPED_TRACE(std::string(who) + ": " + key);
    if (line.find("\\n") != std::string::npos) continue;  // text leaves out what could be forged
    EXPECT_TRUE(got.contains(key));
    if (got.contains(key)) EXPECT_EQ(got.at(key), line);
  }
}

}  // namespace fairlead::slurm
