// How long runs go, as those that are over tell.
//
// A user's runs of one class are the nearest guess at the next one; where fewer than kRunsLeast of
// them are known the user's of all classes are asked, then the class, then everybody. Of each kind
// the newest kRunsKept count. A run under a time limit is kept as a part of its limit, since people
// set limits by habit; a run without one by its seconds, and the two kinds are never mixed.
//
// What counts is a run that came to an end of its own or of its limit; what was preempted, vanished
// or lost its node says nothing of how long it would have gone.
//
// Follows from `State::past` alone, in its order. Cost: O(1) to add, O(kRunsKept) to draw; memory
// 260 bytes for each user and class.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>

#include "core/state.h"

namespace fairlead {

class RunLengths {
 public:
  static constexpr uint32_t kRunsKept = 64;  // chosen: some weeks of one user
  static constexpr uint32_t kRunsLeast = 8;  // chosen: fewer tell an octile badly

  void add(const PastWorkload& past);
  void clear() { kinds_.clear(); }

  struct Kind;
  // What is known of runs like this one's; null: too little.
  const Kind* like(const Workload& workload) const;

  // One of these lengths, each as likely, of those that are longer than `already`; where none is,
  // the limit. Nothing where there is no limit either. `chance` chooses.
  static std::optional<Duration> draw(const Kind* kind, Duration limit, Duration already,
                                      uint64_t chance);

  struct Kind {
    std::array<uint32_t, kRunsKept> runs{};  // millionths of the limit, or seconds
    uint32_t count = 0;
    uint32_t next = 0;
  };

 private:
  static uint64_t key_of(NameId user, NameId klass, bool limited) {
    return uint64_t{user} << 32 | uint64_t{klass} << 1 | uint64_t{limited};
  }
  static constexpr NameId kAny = UINT32_MAX >> 1;

  boost::unordered_flat_map<uint64_t, Kind> kinds_;
};

}  // namespace fairlead
