// What nearly every file of the command line includes.
#include <CLI/CLI.hpp>

#include "pch_site.h"
// --- ours
#include "apps/answer.h"
#include "apps/output.h"
