// The event stream of a poller on a file descriptor: the header line, then each poll's lines at
// once.
#pragma once

#include <functional>

#include "adapters/slurm/facts.h"
#include "adapters/slurm/pacer.h"

namespace fairlead::slurm {

struct StreamOptions {
  int out = 1;
  bool once = false;  // one full poll
  PaceLimits pace;
  bool progress =
      false;  // write a line "#<part>" before each read and "#" after all, for a supervisor
};

constexpr int kExitGood = 0, kExitUsage = 2, kExitUnreachable = 3;

// Polls until `out` is closed at its other end, or once. Returns an exit code.
int run_stream(Reader& reader, const StreamOptions& options);

// SIGTERM and SIGINT end the process at once and quietly; a closed stdout is no signal.
void end_quietly_on_signals();

// Writes all of `text`. Returns false where the other end is closed.
bool write_all(int fd, std::string_view text);

}  // namespace fairlead::slurm
