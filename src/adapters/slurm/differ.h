// From facts to events: everything once, afterwards only what changed.
//
// The differ remembers a digest of each record that it stated last, by key, and brackets what
// differs as model/event.h says. A record is not "changed" by what moves at every look and means
// nothing:
//
//   job          last_evaluated; start_planned within the same 5 minutes
//   association  usage_raw by less than about 1 %, fairshare by less than a thousandth
//
// (the rest of such a record is stated as it is now, whenever anything else of it changes).
// A part with unreadable records names nothing gone: what is missing may be what could not be read.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <string>
#include <vector>

#include "adapters/slurm/facts.h"
#include "base/digest.h"

namespace fairlead::slurm {

class Differ {
 public:
  // Returns a whole poll, poll_began to poll_ended. `changed` says which parts may differ from the
  // call before; with `full` every part is stated, whatever `changed` says. The first call is full.
  // An incremental poll in which nothing differs has the two brackets alone.
  std::vector<What> poll(const SlurmFacts& facts, const PerPart<bool>& changed, bool full);

  // A poll that could not look: two brackets, nothing is dropped.
  static std::vector<What> failed_poll(std::string detail);

 private:
  using Stated = std::map<std::string, Digest>;

  template <class Record, class Key, class Emit>
  void state_named(const std::vector<Record>& records, Stated& stated, bool may_drop, Key key,
                   Emit gone);
  void state_jobs(const SlurmFacts& facts);
  void state_rules(const SlurmFacts& facts, const PerPart<bool>& changed);
  void rule_gone(const char* kind, const std::string& name);

  bool started_ = false;
  Digest scheduler_, topology_;
  Stated nodes_, partitions_, qos_, associations_, reservations_, licences_;
  boost::unordered_flat_map<uint32_t, Digest> jobs_;
  std::vector<What> out_;
};

// The name under which an association goes in rule_gone: its id.
std::string association_name(const Association& association);

Digest digest_of(const Job& job);
Digest digest_of(const Association& association);

}  // namespace fairlead::slurm
