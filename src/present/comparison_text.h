// What is suggested, and what came of it, in a terminal.
#pragma once

#include <string>

#include "present/layout.h"
#include "views/comparison.h"

namespace fairlead {

std::string comparison_text(const Comparison& comparison, const TextOptions& options = {});
Table comparison_table(const Comparison& comparison);  // what is suggested now, for programs

}  // namespace fairlead
