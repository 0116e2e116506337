// The order of waiting work: a tournament up the tree.
//
// At each team the best of its own work and of its children's winners goes up, by this key,
// smallest first; the winner at the root is next:
//
//   1. its class is `anywhere`, and within `up-to`: by rank
//   2. entitled at this team before not entitled
//   3. rank of its class, the higher first
//   4. share of the child that it comes from; the team's own work is one more child, of weight 1
//   5. age, then id
//
// Work of one team and device stands in a queue whose order never changes. A change in one team
// (its head was taken, or it holds more now) touches the winners on its path alone, because shares
// and entitlement are compared between siblings only: O(depth * children). An admission of
// `anywhere` work may change who is within `up-to`, so then all is played again.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "policy/quota.h"
#include "policy/usage.h"
#include "policy/work.h"

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

class Tournament {
 public:
  struct World {
    const Organisation& organisation;
    const Quota& quota;  // is read at each change
    const Usages& usages;
    const std::vector<Milli>& anywhere_held;  // by class: what its `anywhere` work holds
    Instant now;
  };
  Tournament(const World& world, const std::vector<Work>& waiting);

  const Work* top() const { return winners_.empty() ? nullptr : winners_[kRoot]; }
  void pop();                    // Requires: there is a top.
  void changed(const Work& by);  // its team holds more or less now

 private:
  struct Queue {
    std::vector<const Work*> work;  // by rank, age and id
    size_t next = 0;
  };
  bool goes_anywhere(const Work& work) const;
  OrderKey key_at(TeamId team, const Work& work, const Share& share) const;
  Share share_of_child(TeamId child, DeviceId device) const;
  Share share_of_own(TeamId team, DeviceId device) const;
  void play(TeamId team);
  void play_path(TeamId team);
  void play_all();

  World world_;
  std::map<std::pair<TeamId, DeviceId>, Queue> queues_;
  std::vector<const Work*> winners_;  // by team; null: nobody waits there
};

}  // namespace fairlead::policy
