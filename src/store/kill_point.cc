#include "store/kill_point.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace fairlead::store {

KillPoints KillPoints::from_environment() {
  KillPoints points;
  const char* at = std::getenv("FAIRLEAD_KILL_AT");
  if (at != nullptr) points.left_ = std::strtoll(at, nullptr, 10);
  return points;
}

void KillPoints::pass() {
  if (left_ > 0 && --left_ == 0) ::kill(::getpid(), SIGKILL);
}

}  // namespace fairlead::store
