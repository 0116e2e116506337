// A reservation on nodes: where and when a gang that waits will find room, if all that runs ends
// when it is due; and who may start meanwhile without being in its way.
//
// The rule is EASY's (Lifka 1995; Mu'alem and Feitelson 2001), on nodes instead of counts: behind
// the first that does not fit, a job starts now if it is due before the reservation begins, or on
// what that leaves over.
//
// Cost: O(nodes + runs until there is room) to make.
#pragma once

#include "contest/arena.h"

namespace fairlead::contest {

class Hold {
 public:
  Hold(const Arena& arena, const Gang& gang);

  int64_t at() const { return at_; }  // kNever: there is not room when all has ended, either

  // Where `gang` may start now, to be due then. Of the arena's board, as it is now.
  std::optional<Places> places_for(const Board& now, const Gang& gang, int64_t due) const;
  // To be told what has started since.
  void started(const Board& now, const Gang& gang, const Places& places, int64_t due);

 private:
  int64_t at_ = kNever;
  Board later_;  // when the reservation begins, without its devices
  Board left_;   // now, of what is free later too
};

}  // namespace fairlead::contest
