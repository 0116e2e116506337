// What we suggest now, and how what we suggested compares with what happened without us.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"
#include "explain/moves_told.h"
#include "views/estimates_view.h"

namespace fairlead {

struct SuggestionRow {
  std::string workload, team, klass;
  SuggestionKind kind{};
  Instant since;  // without a break
  int64_t tasks = 1;
  int64_t gpus = 0;
  std::string nodes;                    // of a start, and where room is made
  std::vector<std::string> takes_back;  // of a start: from whom
  std::string claimant, rule;           // of take_back
  int64_t lost_gpu_seconds = 0;         // of take_back and make_room: what would be done again
  std::vector<MoveTold> moves;          // of make_room
  bool operator==(const SuggestionRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(SuggestionRow, (),
                      (workload, team, klass, kind, since, tasks, gpus, nodes, takes_back, claimant,
                       rule, lost_gpu_seconds, moves))

// Of one team, or of all: starts that were suggested before they came.
struct ComparisonRow {
  std::string team;  // "(all)"
  int64_t started = 0;
  int64_t sooner_us = 0;  // the mean
  int64_t sooner_most_us = 0;
  int64_t sooner_gpu_seconds = 0;  // GPUs times the time, over all
  int64_t with_victims = 0;
  int64_t went_away = 0;  // ended or were cancelled before they started
  bool operator==(const ComparisonRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(ComparisonRow, (),
                      (team, started, sooner_us, sooner_most_us, sooner_gpu_seconds, with_victims,
                       went_away))

struct Comparison {
  std::string apiVersion = "fairlead/v1", kind = "Comparison";
  std::string site;
  Instant as_of, from;
  std::string organisation;          // "acme v7"; empty: none is known, and nothing is suggested
  int64_t looks = 0;                 // of the planner, since it keeps the score
  int64_t not_foreseen = 0;          // started without a start being suggested, in all
  std::vector<ComparisonRow> teams;  // all first; of those that are kept, the newest 1,000
  std::vector<SuggestionRow> now;    // starts first, the longest standing first: one page of them
  int64_t next_cursor = 0;           // 0: this was the last page
  EstimatesTold estimates;           // of starts, and how they were kept
  std::string note;
  bool operator==(const Comparison&) const = default;
};
BOOST_DESCRIBE_STRUCT(Comparison, (),
                      (apiVersion, kind, site, as_of, from, organisation, looks, not_foreseen,
                       teams, now, next_cursor, estimates, note))

struct ComparisonFilter {
  Instant from;            // scores of starts since then; zero: all that are kept
  std::string kind, team;  // of suggestions; empty: any
  size_t most = 500;
  size_t after = 0;  // next_cursor of the page before
};

// Cost: O(suggestions) and the rows of the page.
Comparison comparison_of(const State& state, const ComparisonFilter& filter = {});

}  // namespace fairlead
