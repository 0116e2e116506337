// fairlead: every subcommand.
#include <csignal>

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
  program.app.footer("examples:\n  fairlead observe\n  fairlead explain 4242");
  program.app.set_version_flag("--version", "fairlead " FAIRLEAD_VERSION);
  program.app.require_subcommand(1);
  add_read_commands(program);
  add_serve_command(program);
  add_doctor_command(program);
  add_replay_command(program);
  add_completion_commands(program);
  add_poll_command(program);
  try {
    program.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = program.app.exit(error);
    return code == 0 ? kExitGood : kExitUsage;
  }
  const int code = program.run();
  return code == kExitReaderGone ? kExitGood : code;  // `| head` is no failure
}
