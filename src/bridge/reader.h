// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads Slurm through libslurm: the cheapest way, and the only one with every field.
//
// Each read asks with the time of the last answer; "nothing changed" costs the controller about 1
// ms. Only calls that load are used. A call may block for long while the controller is away, and
// libslurm ends the process on a broken slurm.conf: run it under the supervisor (supervisor.h).
#pragma once

#include <ctime>
#include <map>
#include <string>

#include "adapters/slurm/facts.h"

namespace fairlead::slurm {

class LibslurmReader : public Reader {
 public:
  LibslurmReader();  // calls slurm_init(): may end the process

  Result<bool> read(Part part, SlurmFacts& facts) override;
  void forget() override { updated_ = {}; }

 private:
  Result<bool> read_config(SlurmFacts& facts);
  Result<bool> read_jobs(SlurmFacts& facts);
  Result<bool> read_steps(SlurmFacts& facts);
  Result<bool> read_nodes(SlurmFacts& facts);
  Result<bool> read_partitions(SlurmFacts& facts);
  Result<bool> read_rules(SlurmFacts& facts);
  Result<bool> read_reservations(SlurmFacts& facts);
  Result<bool> read_licences(SlurmFacts& facts);
  Result<bool> read_topology(SlurmFacts& facts);
  Result<bool> read_statistics(SlurmFacts& facts);

  const std::string& user_name(uint32_t uid);

  PerPart<time_t> updated_;  // as the controller stated it; 0: not read yet
  std::map<uint32_t, std::string> users_;
};

// What errno of libslurm means for a person. `doing` is e.g. "loading jobs".
std::unexpected<Diagnostic> slurm_failure(std::string_view doing, int error);

}  // namespace fairlead::slurm
