// Reads Slurm through its commands: scontrol, sdiag and, where a slurmdbd runs, sacctmgr.
//
// Works wherever the commands do, for any release. It costs more than libslurm (10,000 jobs: 11 MB
// of text, about 0.2 s of scontrol beside 20 to 40 ms of slurmctld), and the text tells less: a
// waiting job's reason word is lost where Slurm has a sentence for it, and fairshare has two
// digits.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "adapters/slurm/command.h"
#include "adapters/slurm/facts.h"

namespace fairlead::slurm {

// Runs a command; tests give recorded outputs.
using RunCommand = std::function<Result<CommandOutput>(const Command&)>;

struct CommandsOptions {
  std::string conf;                 // sets SLURM_CONF; empty: as it is
  std::vector<std::string> prefix;  // put before each command
  RunCommand run = run_command;
};

class CommandsReader : public Reader {
 public:
  explicit CommandsReader(CommandsOptions options) : options_(std::move(options)) {}

  Result<bool> read(Part part, SlurmFacts& facts) override;
  void forget() override { *this = CommandsReader(std::move(options_)); }

 private:
  Result<std::string> output(std::vector<std::string> words);
  Result<bool> read_rules(SlurmFacts& facts);
  Result<bool> read_steps(SlurmFacts& facts);

  CommandsOptions options_;
  PerPart<std::string> last_;  // what was printed, of the parts that change seldom
  std::string qos_text_, association_text_;
  int rules_read_ = 0;
};

}  // namespace fairlead::slurm
