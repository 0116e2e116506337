// A walk through everything that can happen to a site, drawn from a seed.
//
// Each step is one thing: time passes, somebody submits, cancels or requeues, a node fails, drains,
// refuses to launch, joins or leaves, the controller crashes, is slow to schedule or to answer, the
// exporter lies or goes away, our clock jumps, we restart from a snapshot, the wire loses, doubles
// or delays events. After each step the books are recounted; every so often all is well for one
// full poll, and then what the engine holds must be what the model says is held.
//
// All steps are drawn before the first is made, and each brings the seed of what is drawn in it: so
// the same seed gives the same walk and the same digest on every machine, and a step stays what it
// is where others are left out (sim/shrink.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/digest.h"

namespace fairlead {

enum class StepKind : uint8_t {
  pass,          // seconds pass
  pause,         // minutes do
  submit,        // somebody does
  job,           // is cancelled, held, requeued, preempted, …
  node,          // fails, drains, joins, leaves, refuses to launch
  controller,    // crashes, stops, comes back, is slow
  organisation,  // its files change
  fault,         // of the wire, of clocks, of exporters, of ours
  compare        // all is well for one full poll, and the books must say what is
};
BOOST_DESCRIBE_ENUM(StepKind, pass, pause, submit, job, node, controller, organisation, fault,
                    compare)

struct WalkStep {
  StepKind kind{};
  uint64_t draws = 0;  // the seed of what is drawn in it
  bool operator==(const WalkStep&) const = default;
};

struct WalkOptions {
  uint64_t seed = 1;
  int64_t steps = 5000;
  bool faults = true;  // of the wire, of clocks and of exporters
  // A calm walk looks every second and has no faults, crashes or changes whose time Slurm does not
  // state: then the books must hold every device-second that was held, to the last one.
  bool calm = false;
  bool thin = false;  // samples are thinned as a live site thins them
  // One more invariant, of the steps made so far: empty, or what is wrong.
  std::function<std::string(std::span<const WalkStep>)> also = {};
};

struct WalkResult {
  Digest digest;        // of the engine and of every decision
  std::string problem;  // empty: all held
  int64_t step = 0;     // of the problem, or the last
  uint64_t events = 0;
  int64_t decisions = 0, comparisons = 0, submitted = 0;
};

std::vector<WalkStep> draw_walk(const WalkOptions& options);
// As text that can be pasted into a test, a line for each: "{StepKind::submit, 0x1f},".
std::string to_text(std::span<const WalkStep> steps);

// Of the options the seed and the number of steps are not read.
WalkResult walk(std::span<const WalkStep> steps, const WalkOptions& options);
WalkResult random_walk(const WalkOptions& options);

}  // namespace fairlead
