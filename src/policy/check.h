// What a tree means, and everything that is wrong with it.
//
// Codes: E801 children own more than the team · E802 unknown device class · E803 two teams claim
// one account · E804 a class preempts itself or in a circle · E805 lend above own · E806 `during`
// windows overlap · E807 ladder out of order · E808 unknown class · E809 unknown team · E810
// unknown time zone · E811 a name used twice · E812 no header, or two that differ · E813 a test
// that cannot be so · E814 a table of members that is none · W811 class never used · W812 own adds
// up to less than the fleet · W813 team that can never lend · W814 a member who is always somebody
// else's · W815 own adds up to more than the fleet · W816 a row of a table that is left out.
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
  // Sources that are tables of members, by their names; nothing: they are not read, and whom they
  // list is not known.
  std::optional<std::map<std::string, lang::FileId>> tables = {};
};

// Under which name the table that `members file` names is read: beside the file that names it.
std::string table_path(std::string_view policy_file, const std::string& written);

// What the files name besides themselves, sorted: tables of members, by their paths.
std::vector<std::string> tables_named(const lang::Sources& sources, const Tree& tree);

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
