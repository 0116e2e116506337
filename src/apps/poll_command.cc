// fairlead poll-slurm: the event stream of a Slurm without libslurm. Run by ourselves as a child.
#include "adapters/slurm/run_poller.h"
#include "apps/arguments.h"
#include "apps/commands.h"

namespace fairlead {

void add_poll_command(Program& p) {
  auto o = std::make_shared<slurm::PollerOptions>();
  auto via = std::make_shared<std::string>("commands");
  auto interval = std::make_shared<std::string>("1s");
  CLI::App* c = p.app.add_subcommand(
      "poll-slurm",
      "print a Slurm's state and changes as event lines, through slurmrestd or the commands");
  c->footer(
      "examples:\n  fairlead poll-slurm --once\n  fairlead poll-slurm --via rest --rest "
      "unix:/run/slurmrestd.sock --interval 5s");
  c->add_option("--via", *via, "rest or commands")->check(one_of({"rest", "commands"}));
  c->add_option("--conf", o->conf, "slurm.conf to use");
  c->add_option("--rest", o->rest_url, "unix:/path or http://host:port");
  c->add_option("--token-file", o->rest_token_file, "file with a token for slurmrestd");
  c->add_option("--rest-user", o->rest_user, "user the token is for");
  c->add_option("--interval", *interval, "look for changes every so often at the soonest (1s)")
      ->check(a_duration());
  c->add_flag("--once", o->once, "one full poll");
  c->callback([&p, o, via, interval] {
    p.run = [o, via, interval] {
      o->interval = *parse_duration(*interval);
      o->via = *via == "rest" ? slurm::Via::rest : slurm::Via::commands;
      return slurm::run_poller(*o);
    };
  });
}

}  // namespace fairlead
