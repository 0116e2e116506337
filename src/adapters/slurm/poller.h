// One look after another: reads what the pacer says is due, and tells what changed as a poll.
//
// A part that cannot be reached makes the whole poll fail, and nothing is dropped. A part that is
// only refused (a site may hide its associations) is left out and named in poll_ended.detail.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "adapters/slurm/differ.h"
#include "adapters/slurm/facts.h"
#include "adapters/slurm/pacer.h"

namespace fairlead::slurm {

// With nothing to tell, an empty poll shows every so often that we looked.
constexpr Duration kQuietMax = seconds(5);

// Chosen: soon enough after a failure, and few enough lines while a controller is away for hours.
constexpr Duration kRetryAfter = seconds(5);

class Poller {
 public:
  struct Hooks {
    std::function<Instant()> now;                         // never goes back
    std::function<void(Part)> before_read = [](Part) {};  // a read may take long
  };
  Poller(Reader& reader, PaceLimits limits, Hooks hooks)
      : reader_(reader), pacer_(limits), hooks_(std::move(hooks)) {}

  // Reads what is due. Returns a whole poll, or nothing where there is nothing to tell.
  std::vector<What> round();

  // When round() has something to do again.
  Instant next() const { return pacer_.next(); }

 private:
  // Reads `parts`; returns what went wrong where the controller cannot be reached.
  std::optional<Diagnostic> read(const std::vector<Part>& parts);
  std::string refusals() const;

  Reader& reader_;
  Pacer pacer_;
  Hooks hooks_;
  Differ differ_;
  SlurmFacts facts_;
  std::string start_mark_;  // of the last poll that ended well
  bool full_ = true;        // the next poll is to be full
  PerPart<bool> changed_;   // read, and not yet told
  PerPart<std::string> refused_;
  std::string told_refusals_;  // said once, and in each full poll
  Instant told_;
};

}  // namespace fairlead::slurm
