// The manual's pages (roff, section 1), made of the command line's own definition.
#pragma once

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace fairlead {

// Of a command, or of the program where `command` is empty. Fails with usage.
Result<std::string> man_page(const CLI::App& app, const std::string& command);

}  // namespace fairlead
