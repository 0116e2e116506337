// The command line's manners: what an option may be, and one form for everything that is wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace fairlead {

CLI::Validator one_of(const std::vector<std::string>& words);
CLI::Validator a_duration();
CLI::Validator a_number(int64_t least, int64_t most);
CLI::Validator a_begin();           // what since_of() takes
CLI::Validator a_listen_address();  // of this machine or beyond it
CLI::Validator a_url();

// What CLI11 found wrong, in our words: the option or command that was meant, where one is near.
// Requires: `error` is no call for help.
Diagnostic usage_problem(const CLI::App& app, const CLI::ParseError& error);

// A first word that is no command; CLI11 would only miss one.
std::optional<Diagnostic> unknown_command(const CLI::App& app, int argc, const char* const* argv);

// Commands that people may know: without the hidden ones.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
std::vector<std::string> option_names(const CLI::App& command);  // "--output", "-o"

}  // namespace fairlead
