// The poller without libslurm: through slurmrestd or the commands, the same event stream on stdout.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"

namespace fairlead::slurm {

enum class Via : uint8_t { rest, commands };

struct PollerOptions {
  Via via = Via::commands;
  std::string conf;                                                 // commands: SLURM_CONF
  std::vector<std::string> prefix;                                  // commands: put before each
  std::string rest_url = "unix:/run/slurmrestd/slurmrestd.socket";  // or "http://host:port"
  std::string rest_token_file;                                      // a JWT; read anew when refused
  std::string rest_user;  // X-SLURM-USER-NAME, with a token
  Duration interval = seconds(1);
  bool once = false;
  int out = 1;
};

// Runs until `out` is closed, SIGTERM or SIGINT, or once. Returns an exit code as stream.h says.
int run_poller(const PollerOptions& options);

}  // namespace fairlead::slurm
