// A way for tests to end the process at the worst moments.
//
// Where FAIRLEAD_KILL_AT=N is set, the process kills itself (SIGKILL, as the kernel or a power cut
// would) when the store passes its N-th write point, counted from 1. The points, in the order in
// which a write meets them: before the commit, after the commit; of appending events, of saving a
// snapshot, of pruning, of setting a meta value. Without the variable nothing happens.
#pragma once

#include <cstdint>

namespace fairlead::store {

class KillPoints {
 public:
  static KillPoints from_environment();
  void pass();

 private:
  int64_t left_ = 0;  // 0: never
};

}  // namespace fairlead::store
