// When to read which part, so that the controller hardly notices and nothing is seen late.
//
// Each part has a shortest and a longest interval. After a read that cost the controller `cost` the
// next one waits cost / share, within those bounds: a big job table is read less often than a small
// one, and a look that finds nothing changed costs next to nothing, so it is soon repeated. `share`
// is the part of one core that all reads together may take; jobs get most of it.
//
// Given: a change shows within 5 s (p99), at 10,000 jobs. Measured there: a full read of the jobs
// takes 60 to 130 ms, of which 36 ms are slurmctld's, an unchanged one about 1 ms. So jobs wait at
// most 4.5 s, which is 0.8 % of a core; tests/bench/slurmctld_cost.py. Above that size a change is
// still told in time, and the share is what gives.
//
// Pure: time comes in as an argument.
#pragma once

#include <vector>

#include "adapters/slurm/facts.h"
#include "base/time.h"

namespace fairlead::slurm {

struct PaceLimits {
  Duration shortest = seconds(1);  // of the parts that change most
  Duration jobs_longest = {4'500'000};
  int64_t share_ppm = 10'000;  // 1 % of a core
};

class Pacer {
 public:
  explicit Pacer(PaceLimits limits) : limits_(limits) {}

  // The parts that are to be read at `now`, in the order of kParts.
  std::vector<Part> due(Instant now) const;

  // When the next part will be due.
  Instant next() const;

  // `part` was asked for at `at` and the answer took `cost`; `ok`: it came.
  void was_read(Part part, Instant at, Duration cost, bool ok);

  // Nothing is due before `until`: the controller is away.
  void hold_off(Instant until);

 private:
  Duration interval(Part part, Duration cost) const;

  PaceLimits limits_;
  PerPart<Instant> due_;
};

}  // namespace fairlead::slurm
