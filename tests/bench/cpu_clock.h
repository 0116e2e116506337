// Processor time of this process: others on the machine are of no account.
#pragma once

#include <time.h>

namespace fairlead {

inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace fairlead
