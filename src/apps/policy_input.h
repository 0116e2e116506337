// What the policy subcommands share: their arguments, and the files that these name.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/commands.h"
#include "policy/calendar.h"
#include "policy/check.h"

namespace fairlead {

struct PolicyArguments {
  std::vector<std::string> paths, fleet, holds;
  std::string team, at, jobs;
  bool strict = false;      // warnings count
  bool only_check = false;  // fmt --check
};

struct LoadedPolicy {
  lang::Sources sources;
  std::map<std::string, lang::FileId> tables;  // of members, among the sources
  policy::Checked checked;
};

// Files, and folders as the .policy files in them, by name.
// Fails with file-missing, file-unreadable, policy-none.
Result<lang::Sources> read_policy(const std::vector<std::string>& paths);

// Reads and checks, against --fleet where it is given.
Result<LoadedPolicy> load_policy(const PolicyArguments& arguments);

// What all but `check` and `fmt` begin with: tells what is wrong. Fails with policy-refused too.
Result<LoadedPolicy> load_good_policy(const PolicyArguments& arguments);

void tell_problems(const LoadedPolicy& loaded);  // on stderr

// "256 H100". Fails with usage.
// "256 H100, 64 A100", once or several times. Models that are known may be in any case.
Result<std::map<std::string, policy::Milli>> read_fleet(const std::vector<std::string>& texts);

Result<std::pair<std::string, policy::Milli>> read_amount(const std::string& text,
                                                          const std::string& option);

std::filesystem::path zone_folder();  // of this machine's time zones

// The zones that windows name, as this machine has them. Fails with file-missing, zone-broken.
Result<policy::Zones> read_zones(const policy::Organisation& organisation);

Diagnostic policy_problem(std::string code, std::string message, std::string hint);

int run_policy_tests(Program& program, const PolicyArguments& arguments);
int explain_policy_team(Program& program, const PolicyArguments& arguments);
int diff_policies(Program& program, const PolicyArguments& arguments);
int import_slurm(Program& program, const PolicyArguments& arguments);
int import_kueue(Program& program, const PolicyArguments& arguments);

}  // namespace fairlead
