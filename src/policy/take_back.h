// Whose work may be taken for whom, and which of it.
//
// With p the lowest team above both, and b the child of p that the victim is in (or the victim
// itself, if it is p's own work):
//
//   own    the claimant is entitled at p, and b uses more than it owns before the victim is taken
//   class  the claimant's class preempts the victim's, p is the claimant's team or its class is
//          `anywhere`; and the victim is not entitled at p, or the claimant's class is `anywhere`
//   idle   the victim is held and not used, and its ladder allows it
//
// p's own work is a branch that owns nothing: as a victim it is never entitled at p, and as a
// claimant it takes nothing back by `own`. Else what p's children own would not bound what is
// claimed against them, and a swap by `class` inside a child could be undone from p for ever.
//
// Never: inside `min-run`, `never-preempted`, before it has done again what was lost when it was
// taken back the last time, or when what is freed would not make the claimant fit. Whether it is
// worth it is asked afterwards (policy/patience.h).
//
// Among minimal sets the one whose highest rank is lowest; among those the one that loses the
// fewest device-seconds (since what is kept, and the restart); then by id. By count
// that is a knapsack, and solved; where its answer breaks a rule or leaves the claimant no place,
// and for very many candidates, it is two greedy rules and a search from there that ends after
// kSetsMax steps (tests/bench/victims_bench.cc: how far from the least). Final check: with the
// victims gone and the claimant in, none of the victims may displace the claimant, by any rule; one
// that may is left where it is, and another set is looked for. So two cannot swap. That a longer
// chain does not come round again is the breaker's part: a pair of claimant and victim is spent
// until something finishes, is submitted, or the policy changes.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "policy/quota.h"
#include "policy/room.h"

namespace fairlead::policy {

enum class Rule : uint8_t { own, klass, idle };

struct Victim {
  size_t running = 0;  // index
  Rule rule{};
  bool operator==(const Victim&) const = default;
};

constexpr int kSetsMax = 512;               // chosen
constexpr size_t kKnapsackMax = 2'000'000;  // candidates by units; chosen: some ms

using SpentPairs = std::set<std::pair<WorkId, WorkId>>;  // claimant and victim

// Work that runs, the cheapest to take first, and of what kind each is: whether a claimant may take
// it is decided once for a kind.
class RunningKinds {
 public:
  struct Kind {
    DeviceId device = 0;
    TeamId team = 0;
    ClassId klass = 0;
    auto operator<=>(const Kind&) const = default;
  };
  RunningKinds(const Organisation& organisation, std::span<const RunningWork> running, Instant now);

  const std::vector<Kind>& kinds() const { return kinds_; }
  struct Entry {
    size_t running = 0;  // index
    size_t kind = 0;     // index
  };
  const std::vector<Entry>& by_price() const { return by_price_; }
  bool any_idle() const { return any_idle_; }

 private:
  std::vector<Kind> kinds_;
  std::vector<Entry> by_price_;  // by rank, loss and id
  bool any_idle_ = false;
};

struct Field {  // what stands, when a claimant looks around
  const Organisation& organisation;
  const Quota& quota;
  std::span<const RunningWork> running;
  const RunningKinds& kinds;  // of `running`
  const Room& room;
  const std::vector<Milli>& anywhere_held;  // by class
  const SpentPairs& spent;
  Instant now;
};

// Whether its class is `anywhere`, and it would be within `up-to`.
bool goes_anywhere(const Field& field, const Work& work);

// The rule by which `claimant` may displace `victim`, as things stand in `quota`.
std::optional<Rule> rule_for(const Field& field, const Quota& quota, const Work& claimant,
                             const RunningWork& victim);

// Device-microseconds (in thousandths) that would be done again.
unsigned __int128 loss_of(const Organisation& organisation, const RunningWork& victim, Instant now);
int64_t device_seconds(unsigned __int128 loss);  // as much as fits

// Returns the victims in the order in which they are taken, by index at most `victims_max` of them;
// nothing where no set makes the claimant fit. `gone` are not there any more.
std::optional<std::vector<Victim>> take_back(const Field& field, const Work& claimant,
                                             const std::vector<bool>& gone, size_t victims_max);

}  // namespace fairlead::policy
