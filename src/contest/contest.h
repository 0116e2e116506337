// Rules side by side on one match, with what chance could have made of it.
//
// Seeds. Seed 0 is the history as it is, and all that is told but the intervals is of it. Seed s
// above 0 is the same history with small changes that would have been as likely, drawn by base/rng
// from s: each submission moves by up to half an hour either way (never before the first one), each
// length by up to a tenth (never above a time limit that it kept before), both uniformly. Every
// rule plays the same seeds. An interval is the middle 95 % of the values of the seeds 1 to N: with
// fewer than forty seeds that is the least and the most.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "contest/score.h"

namespace fairlead::contest {

Match with_seed(const Match& match, uint64_t seed);

struct ContestProgress {
  std::string_view rule;
  int64_t seed = 0;
  size_t done = 0, total = 0;  // jobs
};

struct ContestOptions {
  std::vector<std::string> rules;  // of rule_names()
  int64_t seeds = 0;
  std::function<bool(const ContestProgress&)> progress;  // false stops
};

constexpr std::string_view kNative = "native";  // what the history itself did
std::vector<std::string> rule_names();          // all
std::vector<std::string> usual_rules();         // without those of papers

// In the order of the options. A rule of which the history does not tell (native, without starts)
// is left out. Requires: the rules are of rule_names().
std::vector<Score> play_contest(const Match& match, const ContestOptions& options);

// Of all scores: equal digests, equal outcomes.
Digest digest_of(const std::vector<Score>& scores);

}  // namespace fairlead::contest
