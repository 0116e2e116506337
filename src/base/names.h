// Names as small numbers.
//
// Each distinct name gets the next number, from 0; number 0 is always the empty name. Numbers
// follow the order of first appearance, so the same events give the same numbers. Names are never
// dropped: what names a site uses (teams, users, partitions, nodes) is bounded by the site.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

using NameId = uint32_t;

class NameTable {
 public:
  NameTable() { intern(""); }
  NameTable(const NameTable& other);
  NameTable& operator=(const NameTable& other);
  NameTable(NameTable&&) = default;
  NameTable& operator=(NameTable&&) = default;

  NameId intern(std::string_view name);
  std::optional<NameId> find(std::string_view name) const;
  const std::string& name(NameId id) const;  // Requires: id came from intern().
  size_t size() const { return names_.size(); }
  std::vector<std::string> all() const { return {names_.begin(), names_.end()}; }

 private:
  std::deque<std::string> names_;  // a deque: the keys below point into it
  boost::unordered_flat_map<std::string_view, NameId> ids_;
};

}  // namespace fairlead
