// The order of waiting work: a tournament up the tree.
//
// At each team the best of its own work and of its children's winners goes up, by this key,
// smallest first; the winner at the root is next:
//
//   1. its class is `anywhere`, and within `up-to`: by rank
//   2. entitled at this team before not entitled; over a soft budget nothing is
//   3. rank of its class, the higher first
//   4. share of the child that it comes from; the team's own work is one more child, of weight 1
//   5. age, then id
//
// Of a group of work that is alike (policy/waiting.h) only the first plays. A change in one team
// (the head of a group was taken, or the team holds more now) touches the winners on its path
// alone, because shares and entitlement are compared between siblings only: O(depth * (children +
// groups)). An admission of `anywhere` work may change who is within `up-to`, so then all is played
// again.
#pragma once

#include <vector>

#include "policy/quota.h"
#include "policy/usage.h"
#include "policy/waiting.h"

namespace fairlead::policy {

struct OrderKey {
  bool not_anywhere = true;
  int64_t anywhere_rank = 0;  // below zero: the higher rank is the smaller key
  bool not_entitled = false;
  int64_t rank = 0;  // below zero
  Share share;
  Instant since;
  WorkId id = 0;
};
bool operator<(const OrderKey& a, const OrderKey& b);

// What teams have used, by team and then by device; an empty vector: nothing was used.
struct Usages {
  std::vector<FadingUsage> with_children, direct;
};

// The same at one instant, for a look: it is asked for far more often than it changes.
class UsageNow {
 public:
  UsageNow(const Organisation& organisation, const Usages& usages, Instant now);
  Wide with_children(TeamId team, DeviceId device) const;
  Wide direct(TeamId team, DeviceId device) const;

 private:
  size_t devices_;
  std::vector<Wide> with_children_, direct_;  // by team and then by device; empty: nothing
};

// How a team stands with its own budget.
enum class BudgetState : uint8_t { within, soft_over, hard_over };
BOOST_DESCRIBE_ENUM(BudgetState, within, soft_over, hard_over)

// The lowest team from `team` up whose budget is in `state`.
std::optional<TeamId> over_budget(const Organisation& organisation,
                                  const std::vector<BudgetState>& budgets, TeamId team,
                                  BudgetState state);

class Tournament {
 public:
  struct World {
    const Organisation& organisation;
    const Quota& quota;  // is read at each change
    const UsageNow& usage;
    const std::vector<BudgetState>& budgets;  // by team; empty: nobody has one
    const std::vector<Milli>& anywhere_held;  // by class: what its `anywhere` work holds
  };
  Tournament(const World& world, const Waiting& waiting);  // both outlive it and stay as they are

  const Work* top() const;
  void pop();                    // its group goes on with the next. Requires: there is a top.
  void close();                  // its whole group is out. Requires: there is a top.
  void changed(const Work& by);  // its team holds more or less now

  // All groups of `device` that ask for more than `size` are out, but those that accept other
  // forms; f is called with the first of each.
  template <class F>
  void close_larger(DeviceId device, Milli size, F&& f) {
    bool any = false;
    for (Contestant& c : contestants_) {
      if (!c.plays() || c.next->has_forms) continue;
      if (c.next->device != device || c.next->size <= size) continue;
      f(*c.next);
      c.next = c.group->end();
      any = true;
    }
    if (any) play_all();
  }

 private:
  struct Contestant {
    const Waiting::Group* group;
    Waiting::Group::const_iterator next;
    bool plays() const { return next != group->end(); }
  };
  static constexpr uint32_t kNobody = UINT32_MAX;

  bool goes_anywhere(const Work& work) const;
  OrderKey key_at(TeamId team, const Work& work, const Share& share) const;
  Share share_of_child(TeamId child, DeviceId device) const;
  Share share_of_own(TeamId team, DeviceId device) const;
  void play(TeamId team);
  void play_path(TeamId team);
  void play_all();

  World world_;
  std::vector<Contestant> contestants_;  // a team's stand together
  std::vector<uint32_t> first_;          // by team, and one more: where its contestants begin
  std::vector<uint32_t> winners_;        // by team
};

}  // namespace fairlead::policy
