#include "base/names.h"

#include "base/check.h"

namespace fairlead {

NameTable::NameTable(const NameTable& other) { *this = other; }

NameTable& NameTable::operator=(const NameTable& other) {
  if (this == &other) return *this;
  names_ = other.names_;
  ids_.clear();
  for (NameId id = 0; id < names_.size(); ++id) ids_.emplace(names_[id], id);
  return *this;
}

NameId NameTable::intern(std::string_view name) {
  if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
  const auto id = static_cast<NameId>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

std::optional<NameId> NameTable::find(std::string_view name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const std::string& NameTable::name(NameId id) const {
  CHECK(id < names_.size());
  return names_[id];
}

}  // namespace fairlead
