// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs the reader in a child process, so that nothing it does can hang or end the stream.
//
// libslurm waits for minutes for a controller that is away, and ends the process on a broken
// slurm.conf. The child writes its stream into a pipe, with a line "#<part>" before each read and
// "#" when it rests. The parent passes each poll on once it is whole; a child that reads for
// `stall_max` without a word, or ends, is replaced, and the stream says so with a failed poll. The
// new child begins with a full poll.
#pragma once

#include <functional>
#include <string>

#include "base/time.h"

namespace fairlead::slurm {

struct SuperviseOptions {
  int out = 1;
  bool once = false;
  Duration stall_max = seconds(8);      // chosen: a failed poll is told within 10 s
  Duration restart_after = seconds(2);  // between children
  std::function<int(int out)> child;    // what the child does: write the stream to `out`
};

// Runs until `out` is closed, or once. Returns an exit code.
int supervise(const SuperviseOptions& options);

}  // namespace fairlead::slurm
