// A scenario: what happens to a modelled site, and what the engine answers, as text.
//
// Blocks of input, a line "----", and the outcome up to the next blank line. Running a scenario
// writes the outcomes anew; the test compares, `--update` keeps. The language is on one page in
// docs/howto/scenario.md; its submit lines are sbatch's own words: tests/lab/play.py plays the
// same file on a real Slurm. After every event the books are recounted; a mismatch is part of the
// outcome.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/state.h"

namespace fairlead {

struct ScenarioOptions {
  std::string source;  // the file's name, for diagnostics
  // What else to say of a waiting workload, e.g. its blockers. May be empty.
  std::function<std::string(const State&, const Workload&)> why_it_waits;
};

// Returns the scenario with the outcomes that it has now. Fails with scenario-bad.
Result<std::string> run_scenario(std::string_view text, const ScenarioOptions& options);

}  // namespace fairlead
