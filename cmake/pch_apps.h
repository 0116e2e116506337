// What nearly every file of the command line includes.
#include <CLI/CLI.hpp>

#include "pch_edge.h"
