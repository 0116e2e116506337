// From Slurm's accounts and QOS to an organisation.
//
//   account              team, and `members slurm account`
//   Fairshare            weight
//   GrpTRES gres/gpu     borrow: Slurm's limit is all that a team may hold, and nothing is owned
//   QOS                  class: Priority is rank, Preempt is preempts (anywhere, as Slurm does),
//                        MaxTRESPJ is most, MaxWall is most-time
//   QOS of its users     classes; the DefaultQOS of most is default class
//   PriorityDecayHalfLife  half-life
//
// Everything else is told in comments, and so is what a user has for himself.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "imports/draft.h"
#include "model/rules.h"

namespace fairlead::imports {

struct SlurmSays {
  std::string cluster;
  std::vector<Association> associations;
  std::vector<Qos> qos;
  std::map<std::string, int64_t> models;  // devices of the fleet by Slurm's word; empty: not known
  int64_t half_life_s = -1;               // 0: usage does not fade; -1: not known
  Amounts priority_weights;
};

Draft draft_of(const SlurmSays& says);

}  // namespace fairlead::imports
