// From Kueue's queues and cohorts to an organisation.
//
//   ClusterQueue           team; a queue of no cohort neither lends nor borrows
//   Cohort                 team that owns what its members own and its own quota
//   nominalQuota, borrowingLimit, lendingLimit of GPUs    own, borrow, lend
//   fairSharing.weight     weight
//   ResourceFlavor         device class, of the product that its node labels name
//   WorkloadPriorityClass  class: value is rank
//   LocalQueue             members kubernetes namespace, where the namespace has one queue alone
//
// Everything else is told in comments.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "imports/draft.h"

namespace fairlead::imports {

struct KueueQuota {
  std::string flavor, resource;             // h100, nvidia.com/gpu
  std::string nominal, borrowing, lending;  // as written; empty: not stated
};

struct KueueQueue {  // a ClusterQueue or a Cohort
  std::string name;
  std::string cohort;  // that it is in; empty: none
  std::vector<KueueQuota> quotas;
  std::string weight;
  std::string within_queue, reclaim_within_cohort, borrow_within_cohort;  // preemption policies
  std::vector<std::string> others;  // fields that are set and have no counterpart
};

struct KueueLocalQueue {
  std::string name, name_space, queue;
};

struct KueueSays {
  std::vector<KueueQueue> queues, cohorts;
  std::vector<KueueLocalQueue> local_queues;
  std::map<std::string, std::string> products;  // GPU product by flavor; empty: not named
  std::map<std::string, int64_t> priorities;    // values by WorkloadPriorityClass
};

Draft draft_of(const KueueSays& says);

}  // namespace fairlead::imports
