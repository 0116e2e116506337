// What the planner would do, kept while it says so, and scored against what happened.
//
// After each look at the scheduler that ended well the planner looks, too. A suggestion stands from
// the first look that makes it until one that does not; then it begins anew. Nothing of it is
// written to a scheduler. When a workload starts for which a start stands, the card counts by how
// much sooner it would have run: from the suggestion to its start. Each look is judged by itself:
// what a scheduler did with the devices meanwhile is not undone in thought.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/workload.h"
#include "policy/patience.h"

namespace fairlead {

enum class SuggestionKind : uint8_t {
  start,      // it would start now
  take_back,  // its devices would be taken back, for a claimant
  make_room   // it would start once others were moved, for which there is room
};
BOOST_DESCRIBE_ENUM(SuggestionKind, start, take_back, make_room)

// Of work that would be put back in line and started elsewhere at once.
struct SuggestedMove {
  WorkloadId workload = 0;
  std::string from, to;  // nodes
  int64_t devices = 0;
  int64_t lost_device_seconds = 0;
  bool operator==(const SuggestedMove&) const = default;
};
BOOST_DESCRIBE_STRUCT(SuggestedMove, (), (workload, from, to, devices, lost_device_seconds))

struct Suggestion {
  SuggestionKind kind{};
  Instant since;      // the first look of an unbroken row that makes it
  int32_t tasks = 1;  // of an array, how many at once
  int64_t devices = 0;
  std::string nodes;                      // hostlist; of a start, and where room is made
  WorkloadId claimant = 0;                // of take_back
  std::string rule;                       // of take_back: own, class or idle
  int64_t lost_device_seconds = 0;        // of take_back and make_room: what would be done again
  std::vector<WorkloadId> victims;        // of a start: whose devices it would take
  std::vector<SuggestedMove> moves = {};  // of make_room
  bool operator==(const Suggestion&) const = default;
};
BOOST_DESCRIBE_STRUCT(Suggestion, (),
                      (kind, since, tasks, devices, nodes, claimant, rule, lost_device_seconds,
                       victims, moves))

// One that came true, or can no more.
struct ScoredSuggestion {
  std::string workload, team, klass;
  Instant suggested, started;  // no start: it ended or went away first
  int64_t devices = 0;
  int64_t victims = 0;
  bool operator==(const ScoredSuggestion&) const = default;
};
BOOST_DESCRIBE_STRUCT(ScoredSuggestion, (),
                      (workload, team, klass, suggested, started, devices, victims))

constexpr size_t kScoredMax = 1000;  // chosen: those of the last days

struct ScoreCard {
  int64_t looks = 0;
  int64_t started = 0;                 // starts that were suggested and came
  int64_t sooner_s = 0;                // over those
  int64_t sooner_device_s = 0;         // and times their devices
  int64_t without_victims = 0;         // of those, without taking anything back
  int64_t went_away = 0;               // ended or were cancelled before they started
  int64_t not_foreseen = 0;            // started with no start suggested
  std::vector<ScoredSuggestion> last;  // the newest at the end
  bool operator==(const ScoreCard&) const = default;
};
BOOST_DESCRIBE_STRUCT(ScoreCard, (),
                      (looks, started, sooner_s, sooner_device_s, without_victims, went_away,
                       not_foreseen, last))

struct Suggested {
  std::map<WorkloadId, Suggestion> now;
  policy::Claims claims;  // who could have taken back at the last look, and waits; since when
  ScoreCard card;
  bool operator==(const Suggested&) const = default;
};
BOOST_DESCRIBE_STRUCT(Suggested, (), (now, claims, card))

}  // namespace fairlead
