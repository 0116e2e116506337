// What became of the facts about nodes: came, went, drained, got other GPUs, moved to another leaf.
//
// Load is no fact: idle, mixed and allocated are all "in service". A log begins with the first look
// it is told of and keeps the newest changes; what was before, nobody knows any more, and a diff
// says since when it knows. Cost of note(): O(nodes), one digest each.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "views/fabric_view.h"

namespace fairlead {

struct FabricChange {
  Instant at;                 // when it was seen; zero between two saved views
  std::string node, what;     // "node", or a member of NodeFacts
  std::string before, after;  // of "node": "absent" and "present"
  bool operator==(const FabricChange&) const = default;
};
BOOST_DESCRIBE_STRUCT(FabricChange, (), (at, node, what, before, after))

struct FabricDiff {
  std::string apiVersion = "fairlead/v1", kind = "FabricDiff";
  std::string site;
  Instant from, to;
  std::vector<FabricChange> changes;  // net ones, by node
  bool operator==(const FabricDiff&) const = default;
};
BOOST_DESCRIBE_STRUCT(FabricDiff, (), (apiVersion, kind, site, from, to, changes))

struct NodeFacts {
  std::string service, gpus, leaf, features, cpus, memory_mb, reason;
  bool operator==(const NodeFacts&) const = default;
};
BOOST_DESCRIBE_STRUCT(NodeFacts, (), (service, gpus, leaf, features, cpus, memory_mb, reason))

FabricDiff diff_of(const Fabric& before, const Fabric& after);

class FabricLog {
 public:
  void note(const State& state);  // after a whole poll of the scheduler

  // Fails with fabric-not-known where `from` is before the first look or what was dropped since.
  Result<FabricDiff> between(Instant from, Instant to) const;

 private:
  static constexpr size_t kChangesMax = 50'000;  // chosen: every node of a large site five times

  std::string site_;
  Instant known_since_;
  std::map<std::string, NodeFacts> nodes_;                   // as last seen
  boost::unordered_flat_map<std::string, uint64_t> stated_;  // digests of what they were made of
  std::vector<Switch> switches_;
  std::map<std::string, std::string> leaves_;  // of the nodes below the switches
  std::deque<FabricChange> changes_;           // in the order in which they were seen
};

}  // namespace fairlead
