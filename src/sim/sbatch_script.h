// The #SBATCH lines of a script, as sbatch reads them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/job.h"

namespace fairlead {

// Options stand on lines that begin with #SBATCH, before the first command. Those that say nothing
// of where a job may run (names of files, mail, …) are passed over.
// Fails with sbatch-bad, at the line.
Result<Job> read_sbatch_script(std::string_view source, std::string_view text);

}  // namespace fairlead
