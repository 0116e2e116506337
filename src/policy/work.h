// Work as the planner sees it: so many devices of one class, at once or not at all.
#pragma once

#include "policy/organisation.h"

namespace fairlead::policy {

using WorkId = uint64_t;

struct Work {
  WorkId id = 0;
  TeamId team = 0;
  ClassId klass = 0;
  DeviceId device = 0;
  Milli size;              // all of it at once, or nothing
  Instant since;           // submitted; kept when it is requeued
  Duration time_max;       // how long it may run; zero: not known
  uint32_t shape = 0;      // how it wants to stand: a number that only a Room knows; 0: anyhow
  bool has_forms = false;  // it accepts others (form.h), so it is not refused with what is alike
};

struct RunningWork {
  Work work;
  Instant started;
  Instant ends;              // as predicted; unknown: never, as far as a plan goes
  Instant kept_till;         // what it did until then would survive: its last verified checkpoint
  bool idle = false;         // `reclaim idle` has found it, and its ladder allows to take it
  Instant ends_likely = {};  // as runs like it have gone; unknown: nothing is known but `ends`
  Instant quiet_since =
      {};  // nothing was done since then that would be done again; unknown: it works
  Instant spared_till = {};  // taken back before: until it has done again what was lost then
};

}  // namespace fairlead::policy
