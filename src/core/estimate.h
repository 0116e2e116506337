// When what waits will start: what is told, and what came of it.
//
// After a look of the planner kFutures futures are played (policy/foresee.h), in each of which runs
// end after lengths drawn from those that are over (core/run_lengths.h). The truth is one more of
// their kind, so it comes after the fifth of nine starts in one case of two, and after the ninth in
// one of ten: these two are the P50 and the P90. What starts in fewer futures has none: it is not
// known.
//
// That holds as far as lengths alone decide. What is submitted later, and a scheduler that goes by
// another order than ours, are no part of a future; so once kCorrectionLeast first promises were
// scored, the wait that is foreseen is corrected by how those waits came out: P50 and P90 are the
// median and the ninth decile of waits over what was foreseen for them. What was foreseen for now
// is corrected by its waits themselves.
//
// Told are the first kEstimatesMax of the planner's order. A change of estimates costs what it
// costs, so after each the next waits a hundred times as long, by steps counted: some seconds on a
// large site, nothing on a small one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/workload.h"

namespace fairlead {

constexpr int kFutures = 9;
constexpr size_t kEstimatesMax = 512;      // chosen with estimate_bench
constexpr int kFutureLooksMax = 64;        // chosen: looks of one future
constexpr size_t kEstimatesScored = 1000;  // chosen: those of the last days

constexpr size_t kCorrectionLeast = 50;  // chosen: five of them are beyond the P90

// A start within this of the instant that was told is not later: that is how fine a look of ours
// and a turn of a scheduler see it.
constexpr Duration kEstimateResolution = seconds(60);

struct Promise {
  Instant made;
  Instant p50, p90;  // unknown: later than is foreseen, or never
  Instant foreseen;  // the fifth start of nine, before it was corrected
  bool is_for_a_wait() const { return p50.known() && p50 > made + kEstimateResolution; }
  bool operator==(const Promise&) const = default;
};
BOOST_DESCRIBE_STRUCT(Promise, (), (made, p50, p90, foreseen))

struct StartEstimate {
  Promise first, latest;
  bool by_history = false;  // else by time limits alone: nothing is known of runs like these
  bool operator==(const StartEstimate&) const = default;
};
BOOST_DESCRIBE_STRUCT(StartEstimate, (), (first, latest, by_history))

struct ScoredEstimate {
  std::string workload, team, klass;
  Instant started;
  Promise first, latest;  // a start that was told for at once has no wait to be wrong about
  bool operator==(const ScoredEstimate&) const = default;
};
BOOST_DESCRIBE_STRUCT(ScoredEstimate, (), (workload, team, klass, started, first, latest))

// Of first promises, since the score is kept.
struct EstimateCard {
  int64_t started = 0;                    // with a wait that was promised
  int64_t by_p50 = 0;                     // of these, not later than the P50
  int64_t with_p90 = 0, by_p90 = 0;       // and where there was a P90
  int64_t at_once = 0, at_once_came = 0;  // promised for now, and came within the resolution
  int64_t not_told = 0;                   // started, and nothing had been told
  std::vector<ScoredEstimate> last;       // of all that were told something; the newest at the end
  bool operator==(const EstimateCard&) const = default;
};
BOOST_DESCRIBE_STRUCT(EstimateCard, (),
                      (started, by_p50, with_p90, by_p90, at_once, at_once_came, not_told, last))

struct Estimates {
  std::map<WorkloadId, StartEstimate> now;
  Instant made;        // of the last; none yet
  uint64_t steps = 0;  // what it cost
  int64_t asked = 0;   // so many were looked at
  int64_t behind = 0;  // and so many stand behind them
  EstimateCard card;
  bool operator==(const Estimates&) const = default;
};
BOOST_DESCRIBE_STRUCT(Estimates, (), (now, made, steps, asked, behind, card))

}  // namespace fairlead
