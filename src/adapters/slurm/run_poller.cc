#include "adapters/slurm/run_poller.h"

#include "adapters/slurm/commands_reader.h"
#include "adapters/slurm/rest_reader.h"
#include "adapters/slurm/stream.h"

namespace fairlead::slurm {

int run_poller(const PollerOptions& options) {
  end_quietly_on_signals();
  // Chosen: what costs the controller and us more than libslurm is asked less often.
  if (options.via == Via::rest) {
    RestReader reader({.url = options.rest_url,
                       .token_file = options.rest_token_file,
                       .user = options.rest_user,
                       .beside = std::make_shared<CommandsReader>(
                           CommandsOptions{.conf = options.conf, .prefix = options.prefix})});
    return run_stream(reader,
                      {.out = options.out,
                       .once = options.once,
                       .pace = {.shortest = options.interval, .jobs_longest = seconds(60)}});
  }
  CommandsReader reader({.conf = options.conf, .prefix = options.prefix});
  return run_stream(reader, {.out = options.out,
                             .once = options.once,
                             .pace = {.shortest = options.interval, .jobs_longest = seconds(10)}});
}

}  // namespace fairlead::slurm
