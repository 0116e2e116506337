// The options of sbatch that the model knows, read as sbatch reads them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/slurm_model.h"

namespace fairlead {

struct SbatchContext {
  Instant now;
  std::function<std::optional<uint32_t>(std::string_view)> id_of;  // of a name, for dependencies
};

// Adds one option ("--gpus-per-node=h100:8") to the submission. Returns what is wrong, or nothing.
std::string read_sbatch_option(std::string_view option, const SbatchContext& context,
                               ModelSubmission& submission);

// What follows from several options together. Call it after the last one.
void settle_sbatch_options(ModelSubmission& submission);

// "30", "30:00", "1:00:00", "1-0" as sbatch; "90m", "2h" as people write.
std::optional<int64_t> parse_time_limit(std::string_view text);

}  // namespace fairlead
