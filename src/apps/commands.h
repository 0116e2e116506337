// The subcommands. Each adds itself to the program's command line and sets `run` when it is chosen.
#pragma once

#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/answer.h"
#include "apps/output.h"

namespace fairlead {

struct Program {
  CLI::App app;
  OutputOptions output;
  AskOptions ask;
  std::function<int()> run;
};

void add_output_options(CLI::App& command, Program& program);
void add_look_options(CLI::App& command, Program& program);  // how to look without a daemon
void add_ask_options(CLI::App& command, Program& program);   // daemon or look

void add_read_commands(Program& program);  // observe, report, queue, explain, fabric, ledger, top
void add_serve_command(Program& program);
void add_doctor_command(Program& program);
void add_replay_command(Program& program);
void add_completion_commands(Program& program);
void add_poll_command(Program& program);  // poll-slurm, run by ourselves

}  // namespace fairlead
