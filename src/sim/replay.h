// Runs a history through an Engine, as fast as it goes.
//
// The engine is the one that watches a live site. What differs: nobody polls, so no source grows
// silent, and where the fleet is known its free devices are judged (stranded or not) every
// `judge_every` of the history's own time. Our own journal has its polls and is replayed as it was.
// The same history gives the same engine, byte for byte. Memory: the history, the engine's state,
// and the jobs that wait or run at one time.
#pragma once

#include <functional>
#include <map>

#include "core/engine.h"
#include "sim/history.h"

namespace fairlead {

struct ReplayProgress {
  uint64_t events = 0;
  int64_t workloads_done = 0, workloads_total = 0;
  Instant at;  // in the history
};

struct ReplayOptions {
  std::string site = "history";
  EngineRules rules;
  Duration judge_every = seconds(3600);
  uint64_t progress_every = 50'000;                     // events
  std::function<bool(const ReplayProgress&)> progress;  // false stops the replay there
  std::function<void(const Decision&)> decision;        // called with each
};

struct ReplayResult {
  Engine engine;
  ReplayProgress progress;  // at the end
  std::map<DecisionKind, int64_t> decisions;
  bool stopped = false;
};

ReplayResult replay(const History& history, ReplayOptions options = {});

}  // namespace fairlead
