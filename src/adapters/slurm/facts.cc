#include "adapters/slurm/facts.h"

namespace fairlead::slurm {

const char* name_of(Part part) {
  constexpr std::array<const char*, kPartCount> kNames = {
      "config", "jobs",         "steps",    "nodes",    "partitions",
      "rules",  "reservations", "licences", "topology", "statistics"};
  return kNames[static_cast<size_t>(part)];
}

}  // namespace fairlead::slurm
