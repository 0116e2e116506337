// Jobs, steps and nodes as the commands print them.
#pragma once

#include <string_view>
#include <vector>

#include "adapters/slurm/facts.h"
#include "adapters/slurm/text_rules.h"

namespace fairlead::slurm {

// scontrol -a -d show job, in its form with several lines. A job whose record is cut, or ambiguous
// because a text in it looks like fields, is left out and counted; so are both of two with one id.
Parsed<Job> parse_jobs(std::string_view text);

// squeue -h -a -s -o %i: the ids before the dot: "17", "2_3" (of an array). `scontrol show step`
// of 22.05 leaves out the steps of arrays.
std::vector<std::string> parse_steps(std::string_view text);

Parsed<Node> parse_nodes(std::string_view text);  // scontrol -a show node

}  // namespace fairlead::slurm
