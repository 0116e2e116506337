// What is told of an outcome, and how it is reckoned.
//
//   wait          end - submission - the length of the run: all that a job spent on anything but
//                 its own work, runs that were taken back included. Where jobs run on several
//                 classes of devices, the length is that on the class where it ran last
//   slowdown      bounded (Feitelson and others 1997): (wait + length) / max(length, 10 s), at
//   least
//                 one
//   completion    end - submission ("JCT"); makespan: first submission to last end
//   utilisation   devices held, of the fleet, from the first submission to the last (of work that
//                 comes all at once: to the last end); useful: without runs that were taken back
//   fragmentation of what is free while work waits for its device class, the part on nodes with too
//                 little for even the smallest part of a waiting gang: device-seconds over
//                 device-seconds
//   finish-time fairness (Themis, NSDI '20): completion over completion on a fleet of its own that
//                 is what the team is entitled to, where the team's work alone runs under EASY
//                 backfill; above one is worse than alone. Unfair: above 1.05. What is larger than
//                 the entitlement cannot run there and is left out
//   share error   half of what teams hold too much and too little against what they are entitled
//                 to and can use (contest/entitlement.h), of the fleet; mean over 2,000 instants of
//                 those at which somebody waits
//   lost          GPU-seconds of runs that were taken back
//
// All whole numbers; means and parts are rounded down.
#pragma once

#include <string>
#include <vector>

#include "contest/arena.h"

namespace fairlead::contest {

struct Quantiles {
  int64_t mean = 0, p50 = 0, p90 = 0, p99 = 0;
  bool operator==(const Quantiles&) const = default;
};
BOOST_DESCRIBE_STRUCT(Quantiles, (), (mean, p50, p90, p99))

struct Group {
  std::string name;
  int64_t workloads = 0, never_started = 0;
  Quantiles wait_us, completion_us, slowdown_milli;
  int64_t evictions = 0, lost_gpu_seconds = 0;
  bool operator==(const Group&) const = default;
};
BOOST_DESCRIBE_STRUCT(Group, (),
                      (name, workloads, never_started, wait_us, completion_us, slowdown_milli,
                       evictions, lost_gpu_seconds))

struct Fairness {
  int64_t workloads = 0;  // that are told of
  int64_t mean_milli = 0, worst_milli = 0, unfair_ppm = 0;
  bool operator==(const Fairness&) const = default;
};
BOOST_DESCRIBE_STRUCT(Fairness, (), (workloads, mean_milli, worst_milli, unfair_ppm))

// The middle 95 % of the seeds' values.
struct Interval {
  std::string metric;
  int64_t mean = 0, low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};
BOOST_DESCRIBE_STRUCT(Interval, (), (metric, mean, low, high))

struct Score {
  std::string rule, about;
  Group all;
  int64_t makespan_us = 0, utilisation_ppm = 0, useful_ppm = 0;
  std::optional<int64_t> fragmentation_ppm, share_error_ppm;
  std::optional<Fairness> finish_time_fairness;
  std::vector<Group> classes, teams;
  std::vector<int64_t> wait_quantiles_us;  // 0 %, 5 %, … 100 %
  std::vector<int64_t> held_ppm;           // of the fleet, in a hundred equal parts of the time
  std::vector<Interval> seeds;             // where several were played
  std::string digest;
  bool operator==(const Score&) const = default;
};
BOOST_DESCRIBE_STRUCT(Score, (),
                      (rule, about, all, makespan_us, utilisation_ppm, useful_ppm,
                       fragmentation_ppm, share_error_ppm, finish_time_fairness, classes, teams,
                       wait_quantiles_us, held_ppm, seeds, digest))

// When each job would have ended on a fleet of its team's own, after its submission; 0: it cannot.
// Nothing where nobody is entitled to anything that work could run on.
std::vector<int64_t> completions_alone(const Match& match);

Score score_of(const Match& match, const Outcome& outcome, const std::vector<int64_t>& alone);

// What the history itself did: starts and ends as stated. Requires: match.native.
Outcome native_outcome(const Match& match);

}  // namespace fairlead::contest
