#include "core/snapshot.h"

namespace fairlead {

State state_of(StateParts p) {
  State s;
  s.site = std::move(p.site);
  s.rules = p.rules;
  s.now = p.now;
  s.seq = p.seq;
  s.steps = p.steps;
  s.frozen = p.frozen;
  s.events_refused = p.events_refused;
  s.samples_unmatched = p.samples_unmatched;
  s.scheduler = std::move(p.scheduler);
  s.partitions = std::move(p.partitions);
  s.qos = std::move(p.qos);
  s.associations = std::move(p.associations);
  s.reservations = std::move(p.reservations);
  s.licences = std::move(p.licences);
  s.organisation_stated = std::move(p.organisation_stated);
  p.sources.resize(s.sources.size());
  s.sources = std::move(p.sources);
  for (const std::string& name : p.names) s.names.intern(name);
  s.fleet = Fleet(std::move(p.fleet));
  s.devices = std::move(p.devices);
  s.node_free = std::move(p.node_free);
  s.unplaced_milli = p.unplaced_milli;
  s.ledger = Ledger(std::move(p.ledger));
  s.workloads = std::move(p.workloads);
  s.past = std::move(p.past);
  s.past_dropped = p.past_dropped;
  s.next_workload = p.next_workload;
  s.suggested = std::move(p.suggested);
  s.estimates = std::move(p.estimates);
  return s;
}

}  // namespace fairlead
