// The subcommands. Each adds itself to the program's command line and sets `run` when it is chosen.
#pragma once

#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/answer.h"
#include "apps/output.h"

namespace fairlead {

struct Program {
  std::string version;
  CLI::App app;
  OutputOptions output;
  AskOptions ask;
  std::string watch;  // repeat so often; empty: once
  std::function<int()> run;
};

// --- what several commands have in common ---

CLI::App* add_command(Program& program, const std::string& name, const std::string& about,
                      const std::string& examples);

// -o and, for what has rows, --no-headers, --filter, --sort and --limit.
void add_output_options(CLI::App& command, Program& program, bool html = false);
void add_look_options(CLI::App& command, Program& program);  // how to look without a daemon
void add_ask_options(CLI::App& command, Program& program);   // daemon or look
void add_watch_option(CLI::App& command, Program& program);
void add_since_option(CLI::App& command, std::string& since);

// Runs `show`, once or as --watch says until it is interrupted.
void set_run(Program& program, std::function<int(Asker&)> show);

// --- the commands ---

void add_report_commands(Program& program);  // observe, report
void add_top_command(Program& program);
void add_read_commands(Program& program);  // queue, explain, ledger
void add_teams_command(Program& program);
void add_fabric_command(Program& program);
void add_suggest_commands(Program& program);  // compare, place, simulate
void add_serve_command(Program& program);
void add_doctor_command(Program& program);
void add_replay_command(Program& program);
void add_policy_command(Program& program);  // check, fmt, test, explain
void add_completion_commands(Program& program);
void add_poll_command(Program& program);  // poll-slurm, run by ourselves

}  // namespace fairlead
