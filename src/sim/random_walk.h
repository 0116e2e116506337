// A walk through everything that can happen to a site, drawn from a seed.
//
// Each step is one thing: time passes, somebody submits, cancels or requeues, a node fails, drains,
// joins or leaves, the controller crashes, the exporter lies or goes away, our clock jumps, we
// restart from a snapshot, the wire loses, doubles or delays events. After each step the books are
// recounted; every so often all is well for one full poll, and then what the engine holds must be
// what the model says is held. The same seed gives the same walk and the same digest on every
// machine.
#pragma once

#include <cstdint>
#include <string>

#include "base/digest.h"

namespace fairlead {

struct WalkOptions {
  uint64_t seed = 1;
  int64_t steps = 5000;
  bool faults = true;  // of the wire, of clocks and of exporters
  // A calm walk looks every second and has no faults, crashes or changes whose time Slurm does not
  // state: then the books must hold every device-second that was held, to the last one.
  bool calm = false;
  bool thin = false;  // samples are thinned as a live site thins them
};

struct WalkResult {
  Digest digest;        // of the engine and of every decision
  std::string problem;  // empty: all held
  int64_t step = 0;     // of the problem, or the last
  uint64_t events = 0;
  int64_t decisions = 0, comparisons = 0, submitted = 0;
};

WalkResult random_walk(const WalkOptions& options);

}  // namespace fairlead
