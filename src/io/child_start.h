// fork and exec, with nothing between them that a forked process may not do. For child.cc alone.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::io {

struct StartedChild {
  pid_t pid = -1;
  int pid_fd = -1;     // readable once it has ended
  int output_fd = -1;  // our ends, non-blocking
  int error_fd = -1;
};

// Fails with child-start.
Result<StartedChild> start_child(const std::vector<std::string>& argv,
                                 const std::vector<std::string>& env);

}  // namespace fairlead::io
