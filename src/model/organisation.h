// The organisation as texts, for the journal: what its files said when they were stated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"

namespace fairlead {

struct NamedText {
  std::string name, text;
  bool operator==(const NamedText&) const = default;
};
BOOST_DESCRIBE_STRUCT(NamedText, (), (name, text))

struct GroupMembers {
  std::string group;
  std::vector<std::string> users;
  bool operator==(const GroupMembers&) const = default;
};
BOOST_DESCRIBE_STRUCT(GroupMembers, (), (group, users))

// How far we go at a site. Observe: what is held, what waits and why. Suggest: also what would be
// started and taken back, which nobody does. Enforce is of a later version.
enum class Stage : uint8_t { observe, suggest, enforce };
BOOST_DESCRIBE_ENUM(Stage, observe, suggest, enforce)

// All that was read from outside to understand it, so that a replay needs none of it. Without
// files: there is no organisation any more.
struct OrganisationStated {
  std::vector<NamedText> files;      // .policy
  std::vector<NamedText> tables;     // of members, that the files name
  std::vector<NamedText> zones;      // that windows name: the bytes of each, in hexadecimal digits
  std::vector<GroupMembers> groups;  // that the files name, as far as this machine knows them
  Stage stage = Stage::suggest;
  bool operator==(const OrganisationStated&) const = default;
};
BOOST_DESCRIBE_STRUCT(OrganisationStated, (), (files, tables, zones, groups, stage))

}  // namespace fairlead
