// SPDX-License-Identifier: GPL-2.0-or-later
//
// fairlead-slurm: the state of a Slurm cluster, and what changes of it, as event lines on stdout.
//
// The only program of the project that links libslurm, which belongs to one Slurm release: build it
// against the release of the site (tools/build_bridge). It reads and never writes to Slurm.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/slurm/stream.h"
#include "base/time.h"
#include "bridge/libslurm.h"
#include "bridge/reader.h"
#include "bridge/supervisor.h"

namespace {

constexpr std::string_view kHelp =
    "usage: fairlead-slurm [--once] [--interval 1s] [--conf FILE]\n"
    "\n"
    "Prints the state of a Slurm cluster as event lines, then what changes, until stdout is "
    "closed.\n"
    "Reads only; nothing is ever written to Slurm.\n"
    "\n"
    "  --once         one full poll, then end: 0 if it went well, 3 if Slurm cannot be reached\n"
    "  --interval T   look for changes every T at the soonest (default 1s)\n"
    "  --conf FILE    the slurm.conf to use (default: SLURM_CONF, else Slurm's own default)\n"
    "  --version      print the version, and the Slurm release this was built for\n"
    "\n"
    "examples:\n"
    "  fairlead-slurm --once | head\n"
    "  fairlead-slurm --interval 5s --conf /etc/slurm/slurm.conf\n";

struct Options {
  bool once = false;
  fairlead::Duration interval = fairlead::seconds(1);
};

int usage(const std::string& problem) {
  std::fprintf(stderr, "fairlead-slurm: %s\n  help: see fairlead-slurm --help\n", problem.c_str());
  return fairlead::slurm::kExitUsage;
}

void print_version() {
  const int n = SLURM_VERSION_NUMBER;
  std::printf("fairlead-slurm 0.1.0 (libslurm %d.%02d.%d)\n", n >> 16, n >> 8 & 0xff, n & 0xff);
}

// Returns an exit code where the program is to end.
std::optional<int> parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (word == "--help" || word == "-h") return std::fputs(kHelp.data(), stdout), 0;
    if (word == "--version") return print_version(), 0;
    if (word == "--once") {
      options.once = true;
      continue;
    }
    if (word != "--interval" && word != "--conf")
      return usage("unknown option '" + std::string(word) + "'");
    if (value == nullptr) return usage(std::string(word) + " needs a value");
    ++i;
    if (word == "--conf") {
      setenv("SLURM_CONF", value, 1);
    } else if (const auto interval = fairlead::parse_duration(value);
               interval && interval->us > 0) {
      options.interval = *interval;
    } else {
      return usage("'" + std::string(value) + "' is no duration such as 1s or 500ms");
    }
  }
  return std::nullopt;
}

// libslurm would look for a missing file for a minute.
bool conf_readable() {
  const char* const conf = std::getenv("SLURM_CONF");
  if (conf == nullptr || *conf == '\0' || access(conf, R_OK) == 0) return true;
  std::fprintf(stderr, "cannot read SLURM_CONF %s: %s\n", conf, std::strerror(errno));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const auto code = parse(argc, argv, options)) return *code;
  fairlead::slurm::end_quietly_on_signals();
  return fairlead::slurm::supervise(
      {.once = options.once, .stall_max = fairlead::seconds(8), .child = [&](int out) {
         if (!conf_readable()) return fairlead::slurm::kExitUnreachable;
         fairlead::slurm::LibslurmReader reader;
         return fairlead::slurm::run_stream(reader, {.out = out,
                                                     .once = options.once,
                                                     .pace = {.shortest = options.interval},
                                                     .progress = true});
       }});
}
