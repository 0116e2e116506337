// QOS and associations as the commands print them.
//
// `scontrol show assoc_mgr` is what slurmctld itself holds: limits with live usage, shares and
// fairshare (to a hundredth). It shows no QOS lists and limits per user only of users with usage;
// those come from `sacctmgr`, where a slurmdbd runs.
#pragma once

#include <string_view>
#include <vector>

#include "adapters/slurm/text_rules.h"

namespace fairlead::slurm {

struct AssocText {
  Parsed<Qos> qos;
  Parsed<Association> associations;
};
AssocText parse_assoc_mgr(std::string_view text);

// The arguments of sacctmgr whose outputs the two calls below read.
inline constexpr const char* kQosFormat =
    "format=Name,Preempt,Flags,MaxJobsPU,MaxJobsPA,MaxSubmitPU,MaxSubmitPA,MaxTRESPU,MaxTRESPA,"
    "MinTRES";
inline constexpr const char* kAssociationFormat = "format=ID,QOS,DefaultQOS";

void add_from_sacctmgr_qos(std::vector<Qos>& qos, std::string_view text);  // -nP show qos
void add_from_sacctmgr_assoc(std::vector<Association>& associations,
                             std::string_view text);  // -nP show assoc

}  // namespace fairlead::slurm
