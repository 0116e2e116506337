// From the state to what the planner would do now: who would start and where, what would be taken
// back for whom, and what keeps the others.
//
// Only work that its scheduler would let start takes part: what is held, depends on something or
// has reached a limit of the scheduler's own waits for that first (competes(), core/queues.h). Of
// an array's tasks that wait together kTasksMax take part in one look. What a job says it accepts
// beside what it asks for (core/job_forms.h) may start in that form. What nobody's team owns is
// the root's, and work without a class comes after all others.
//
// The same state gives the same allocation, whatever was looked at before: what is kept from look
// to look follows from the state. Cost beside the planner's own: O(nodes + devices + what runs +
// rows of the ledger in ten half-lives).
#pragma once

#include <array>
#include <optional>
#include <set>
#include <vector>

#include "core/budgets.h"
#include "core/run_lengths.h"
#include "core/site_room.h"
#include "core/team_books.h"
#include "policy/plan.h"

namespace fairlead {

constexpr int32_t kTasksMax = 256;  // chosen
// Chosen: of those that room is not together for, so many are asked about moves in one look, the
// holders of reservations first; each answer is one more look of the planner.
constexpr int kRoomsAsked = 2;

// Chosen: of so many looks one counts the capacity index anew, which costs O(nodes).
constexpr int64_t kRecountEvery = 64;

// Counts of the capacity index from scratch, since the start.
struct IndexChecks {
  int64_t done = 0, failed = 0;
  std::string last;  // what did not agree; empty: it always did
};

struct Allocation {
  std::map<Shape, uint32_t> shapes;  // their numbers
  std::map<policy::GroupKey, policy::Decision> refused;
  policy::Plan plan;                          // ids: core/site_room.h
  std::vector<std::vector<NodeIndex>> nodes;  // of each act that admits; else empty
  std::vector<MadeRoom> rooms;                // that others would make by moving
  IndexChecks checks;
};

// What the planner says to a question.
struct Answer {
  policy::Decision verdict;
  std::vector<NodeIndex> nodes;      // of admit, and where others would make room
  std::vector<WorkloadId> victims;   // whose devices it would be given
  std::vector<SuggestedMove> moves;  // of others, that would make room for it
};

// The starts of each workload that was looked at, by future; unknown: not in that one.
struct Foreseen {
  std::map<WorkloadId, std::array<Instant, kFutures>> starts;
  int64_t behind = 0;  // waiting, and not looked at
  uint64_t steps = 0;  // what it cost, counted
};

// What the last look said of a workload that waits, of an array of its first task; nothing where
// none was made, or it took no part.
std::optional<policy::Decision> verdict_on(const State& state, const Workload& workload);

class Allocator {
 public:
  // Since the last look it began to wait, ceased to, or says something else.
  void changed(WorkloadId workload) { changed_.push_back(workload); }
  // Another organisation, or another state altogether.
  void forget();

  // Requires: an organisation is known.
  Allocation look(const State& state, const RunLengths& lengths);

  // What the next look would say of this workload, which may ask for something else than it does,
  // or not wait at all: of one task of an array. Nothing: it takes no part. Of what is kept nothing
  // changes; the cost is that of a look. Requires: an organisation is known.
  std::optional<Answer> ask(const State& state, const RunLengths& lengths, const Workload& workload,
                            bool may_take_back);

  // Where it could stand now, whatever keeps it. Nothing: its devices are of no class.
  // Requires: an organisation is known.
  std::optional<Stands> stands(const State& state, const RunLengths& lengths,
                               const Workload& workload, size_t most);

  // When the first of the order would start, from what the last look saw (core/estimate.h).
  // Requires: the state is as it was then.
  Foreseen foresee(const State& state, const RunLengths& lengths);

  // What of the index is not as a count from scratch has it, or an empty text. Of the books it is
  // asked where the last look was at this state.
  std::string recount(const State& state) const;
  // The same for the record. An index that fails is made anew at the next look, since a daemon that
  // suggests goes on. Requires: the last look was at this state.
  void check_index(const State& state);
  const IndexChecks& checks() const { return checks_; }

  // The rules with a last class, for work that has none.
  const policy::Organisation& rules() const { return rules_; }

 private:
  // allocator_moves.cc
  std::vector<MadeRoom> rooms_by_moves(const State& state, const policy::Plan& plan,
                                       SiteRoom::Visit& visit) const;
  std::optional<int64_t> price_of_move(const State& state, const policy::Work& claimant,
                                       policy::WorkId id) const;
  bool is_worth_it(const State& state, const policy::Work& claimant, const MadeRoom& made,
                   const std::set<policy::WorkId>& gone, const SiteRoom::Visit& visit) const;
  bool starts_then(const State& state, const MadeRoom& made);

  void begin(const State& state);
  void take_stock(const State& state, const RunLengths& lengths);
  Answer ask(const State& state, const policy::Work& work, bool may_take_back);
  void take_in(const State& state, WorkloadId id);
  void note_reservations(const State& state);

  struct Asked {
    policy::Work work;
    policy::Declared declared;  // the other forms that it accepts
  };
  // Nothing: none of its forms could ever be served.
  static void accept_shorter(const Job& job, Asked& asked);
  std::optional<Asked> asked_of(const State& state, const Workload& workload);
  static void predict_length(const RunLengths& lengths, const Workload& workload,
                             const policy::Work& work, policy::Declared& declared);

  struct Seen {  // by the last look
    policy::Quota quota;
    policy::Usages usages;
    std::vector<policy::RunningWork> running;
    std::vector<policy::BudgetState> budgets;
  };
  policy::World world(const State& state, const policy::Waiting& waiting,
                      std::optional<int64_t> evictions_left) const;  // of what was seen
  std::optional<int64_t> evictions_most() const;                     // nothing: no cap

  std::optional<SiteRoom> room_;  // nothing: begin anew
  bool is_wrong_ = false;         // and so it is here
  std::optional<Seen> seen_;
  UsagesSoFar usages_;
  BudgetsSoFar budgets_;
  uint64_t stock_of_ = 0;  // the step of the state that `seen_` is of
  policy::Organisation rules_;
  policy::Waiting waiting_;
  policy::Forms forms_;  // of what waits, as far as it accepts others
  std::vector<WorkloadId> changed_;
  Digest reservations_;                                  // that forms were made with
  std::set<std::pair<Instant, WorkloadId>> kept_until_;  // when a form will leave out other nodes
  int64_t looks_ = 0;
  IndexChecks checks_;
};

}  // namespace fairlead
