// Two organisations side by side: what is another for whom.
//
// Each is taken apart into single statements (`team product/search`, `own H100`: 32), and these are
// compared; so what is declared in another order, file or layout is no change. What a team inherits
// is not told again for its sub-teams.
#pragma once

#include <string>
#include <vector>

#include "policy/organisation.h"

namespace fairlead::policy {

enum class ChangeKind : uint8_t { added, removed, changed };
BOOST_DESCRIBE_ENUM(ChangeKind, added, removed, changed)

struct PolicyChange {
  ChangeKind change{};
  std::string subject;        // team product/search, class batch, reclaim idle
  std::string what;           // own H100; of a subject that is added or removed itself: empty
  std::string before, after;  // as they are written; empty where it was not or is not any more
  bool operator==(const PolicyChange&) const = default;
};
BOOST_DESCRIBE_STRUCT(PolicyChange, (), (change, subject, what, before, after))

// By subject (organisation, devices, classes, teams, reclaim), then by what.
std::vector<PolicyChange> changes_between(const Organisation& before, const Organisation& after);

}  // namespace fairlead::policy
