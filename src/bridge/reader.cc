// SPDX-License-Identifier: GPL-2.0-or-later
#include "bridge/reader.h"

#include <pwd.h>

#include <cerrno>

#include "bridge/libslurm.h"

namespace fairlead::slurm {

std::string sluid_text(uint64_t sluid) {
  if (sluid == 0) return {};
  constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";  // Crockford's base 32
  std::string text(14, 's');
  for (size_t i = 13; i > 0; --i, sluid >>= 5) text[i] = kDigits[sluid & 31];
  return text;
}

std::unexpected<Diagnostic> slurm_failure(std::string_view doing, int error) {
  const std::string what = std::string(doing) + ": " + text_of(slurm_strerror(error));
  switch (error) {
    case ESLURM_PROTOCOL_INCOMPLETE_PACKET:
    case SLURM_PROTOCOL_VERSION_ERROR:
      return fail(
          "slurm-setup", what,
          "run the fairlead-slurm built for this cluster's release (see `scontrol --version`)");
    case ESLURM_AUTH_CRED_INVALID:
    case SLURM_PROTOCOL_AUTHENTICATION_ERROR:
      return fail("slurm-setup", what,
                  "check that munged runs here (`munge -n | unmunge`), or slurm.key for "
                  "auth/slurm, and that clocks agree");
    case ESLURM_ACCESS_DENIED:
    case ESLURM_USER_ID_MISSING:
      return fail("slurm-refused", what,
                  "let this user see the data: AdminLevel=Operator, or a PrivateData without it");
    default:
      return fail("slurm-unreachable", what,
                  "check with `scontrol ping` that slurmctld runs and that SLURM_CONF names its "
                  "slurm.conf");
  }
}

LibslurmReader::LibslurmReader() {
  setenv("SLURM_BITSTR_LEN", "0", 1);  // task lists of arrays at full length
  slurm_init(nullptr);
}

const std::string& LibslurmReader::user_name(uint32_t uid) {
  const auto [at, added] = users_.try_emplace(uid);
  if (added) {
    const passwd* const entry = getpwuid(uid);
    at->second = entry != nullptr ? entry->pw_name : std::to_string(uid);
  }
  return at->second;
}

Result<bool> LibslurmReader::read(Part part, SlurmFacts& facts) {
  switch (part) {
    case Part::config:
      return read_config(facts);
    case Part::jobs:
      return read_jobs(facts);
    case Part::steps:
      return read_steps(facts);
    case Part::nodes:
      return read_nodes(facts);
    case Part::partitions:
      return read_partitions(facts);
    case Part::rules:
      return read_rules(facts);
    case Part::reservations:
      return read_reservations(facts);
    case Part::licences:
      return read_licences(facts);
    case Part::topology:
      return read_topology(facts);
    case Part::statistics:
      return read_statistics(facts);
  }
  return false;
}

}  // namespace fairlead::slurm
