// fairlead replay --org, --against: a history under other rules.
#pragma once

#include "apps/commands.h"
#include "sim/history.h"

namespace fairlead {

struct ContestArguments {
  std::string org, fleet;
  std::vector<std::string> against;
  int64_t seeds = 0;
  std::string history, again;  // its name, and the command up to here
  bool wanted() const { return !org.empty() || !against.empty(); }
};

void add_contest_options(CLI::App& command, ContestArguments& arguments);
int run_contest(Program& program, const ContestArguments& arguments, const History& history);

std::string shell_word(const std::string& text);  // in quotes where a shell needs them

}  // namespace fairlead
