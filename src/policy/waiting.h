// The work that waits, kept in groups of what is alike, so that a look costs what there is to
// choose from and not what waits.
//
// Of one group all ask for the same: one team, class, class of devices, size and shape. What fits
// one fits each, and what stands in the way of one stands in the way of all; only their age, and
// how long they may run, is their own. Within a group the oldest goes first, then by id.
//
// Invariant: no group is empty.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "policy/work.h"

namespace fairlead::policy {

struct GroupKey {
  TeamId team = 0;
  DeviceId device = 0;
  ClassId klass = 0;
  Milli size;
  uint32_t shape = 0;
  bool has_forms = false;
  auto operator<=>(const GroupKey&) const = default;
};
GroupKey group_of(const Work& work);

struct OlderFirst {
  bool operator()(const Work& a, const Work& b) const {
    return a.since != b.since ? a.since < b.since : a.id < b.id;
  }
};

class Waiting {
 public:
  using Group = std::set<Work, OlderFirst>;

  Waiting() = default;
  Waiting(const Waiting& other) { *this = other; }
  Waiting& operator=(const Waiting& other);
  Waiting(Waiting&&) = default;
  Waiting& operator=(Waiting&&) = default;
  explicit Waiting(const std::vector<Work>& work);

  // States what waits under this id; replaces what was stated before.
  void put(const Work& work);
  void remove(WorkId id);  // one that does not wait is of no account

  const Work* find(WorkId id) const;
  const std::map<GroupKey, Group>& groups() const { return groups_; }  // a team's stand together
  size_t size() const { return by_id_.size(); }

 private:
  std::map<GroupKey, Group> groups_;
  std::unordered_map<WorkId, const Work*> by_id_;
};

}  // namespace fairlead::policy
