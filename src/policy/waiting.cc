#include "policy/waiting.h"

namespace fairlead::policy {

GroupKey group_of(const Work& work) {
  return {.team = work.team,
          .device = work.device,
          .klass = work.klass,
          .size = work.size,
          .shape = work.shape,
          .has_forms = work.has_forms};
}

Waiting::Waiting(const std::vector<Work>& work) {
  for (const Work& w : work) put(w);
}

// The index points into the groups: those of the copy are others.
Waiting& Waiting::operator=(const Waiting& other) {
  if (this == &other) return *this;
  groups_ = other.groups_;
  by_id_.clear();
  for (const auto& [key, group] : groups_)
    for (const Work& work : group) by_id_[work.id] = &work;
  return *this;
}

void Waiting::put(const Work& work) {
  remove(work.id);
  by_id_[work.id] = &*groups_[group_of(work)].insert(work).first;
}

void Waiting::remove(WorkId id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  const auto group = groups_.find(group_of(*found->second));
  group->second.erase(*found->second);
  if (group->second.empty()) groups_.erase(group);
  by_id_.erase(found);
}

const Work* Waiting::find(WorkId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

}  // namespace fairlead::policy
