// What a tree means, and everything that is wrong with it.
//
// Codes: E801 children own more than the team · E802 unknown device class · E803 two teams claim
// one account · E804 a class preempts itself or in a circle · E805 lend above own · E806 `during`
// windows overlap · E807 ladder out of order · E808 unknown class · E809 unknown team · E810
// unknown time zone · E811 a name used twice · E812 no header, or two that differ · E813 a test
// that cannot be so · W811 class never used · W812 own adds up to less than the fleet · W813 team
// that can never lend · W814 a member who is always somebody else's · W815 own adds up to more than
// the fleet.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "lang/diagnostic.h"
#include "policy/organisation.h"
#include "policy/tree.h"

namespace fairlead::policy {

struct CheckOptions {
  std::map<std::string, Milli> fleet;                   // by device class; empty: not known
  std::function<bool(const std::string&)> zone_exists;  // empty: every zone is taken
};

// Adds to `problems`. Returns a value that is complete where no error was found, and the best that
// can be made of the rest where some were.
Organisation check(const lang::Sources& sources, const Tree& tree, const CheckOptions& options,
                   lang::Diagnostics& problems);

// All files of one organisation: parsed, checked, problems by place.
struct Checked {
  Tree tree;
  Organisation organisation;
  lang::Diagnostics problems;
  bool parsed = false;  // no file has a syntax error
  bool good() const { return !lang::any_error(problems); }
};
Checked check_files(const lang::Sources& sources, const CheckOptions& options);

}  // namespace fairlead::policy
