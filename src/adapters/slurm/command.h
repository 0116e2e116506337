// Runs a program and waits for what it prints, no longer than told.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::slurm {

struct Command {
  std::vector<std::string> words;        // the program, found along PATH, and its arguments
  std::vector<std::string> environment;  // "NAME=value", set beside what this process has
  Duration timeout = seconds(30);
  size_t output_max = size_t{1} << 30;
};

struct CommandOutput {
  int exit_code = 0;  // 128 + the signal where one ended it
  std::string out, err;
};

// Fails with command-not-found, command-timeout, command-output-max. A program that ends with
// another exit code than 0 is no failure here.
Result<CommandOutput> run_command(const Command& command);

}  // namespace fairlead::slurm
