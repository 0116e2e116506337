// fairlead: every subcommand.
#include <csignal>

#include "apps/arguments.h"
#include "apps/commands.h"

int main(int argc, char** argv) {
  using namespace fairlead;
  std::signal(SIGPIPE, SIG_IGN);
  Program program;
  program.output.width = terminal_width();
  program.output.colour = wants_colour();
  program.app.name("fairlead");
  program.app.description(
      "Capacity control for shared AI clusters, beside the scheduler you already run.");
  program.app.footer(
      "examples:\n  fairlead observe\n  fairlead explain 4242\n\nFAIRLEAD_* variables set what "
      "options and fairlead.yaml set: `fairlead serve --keys` lists them.");
  program.version = FAIRLEAD_VERSION;
  program.app.set_version_flag("--version", "fairlead " + program.version);
  program.app.require_subcommand(1);
  add_report_commands(program);
  add_top_command(program);
  add_teams_command(program);
  add_read_commands(program);
  add_fabric_command(program);
  add_suggest_commands(program);
  add_serve_command(program);
  add_doctor_command(program);
  add_replay_command(program);
  add_policy_command(program);
  add_completion_commands(program);
  add_poll_command(program);
  if (const auto unknown = unknown_command(program.app, argc, argv)) return complain(*unknown);
  try {
    program.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.app.exit(error);  // --help, --version
    return complain(usage_problem(program.app, error));
  }
  const int code = program.run();
  return code == kExitReaderGone ? kExitGood : code;  // `| head` is no failure
}
