#include "apps/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fairlead {

int complain(const Diagnostic& d) {
  std::string text = to_text(d) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  const std::string_view code = d.code;
  if (code == "workload-unknown" || code == "site-unknown" || code == "since-bad" ||
      code == "usage")
    return kExitUsage;
  if (code.starts_with("net-not-allowed") || code == "http-401" || code == "http-403" ||
      code == "file-not-allowed")
    return kExitNotAllowed;
  if (code.starts_with("net-") || code.starts_with("slurm-") || code == "look-failed" ||
      code.starts_with("http-") || code.starts_with("tls-") || code.starts_with("listen-") ||
      code.starts_with("lock-")) {
    return kExitUnreachable;
  }
  return kExitRefused;
}

int print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) == 0 && written) return kExitGood;
  if (errno == EPIPE) return kExitReaderGone;  // as after `| head`: nobody is there to be told
  return complain({.code = "output-failed",
                   .message = fmt::format("the output cannot be written: {}", std::strerror(errno)),
                   .place = {},
                   .hint = "is the disk full?"});
}

int terminal_width() {
  constexpr int kNoTerminal =
      160;  // chosen: lines of a file or a pipe may be longer than a screen's
  if (const char* columns = std::getenv("COLUMNS")) {
    const int stated = std::atoi(columns);
    if (stated >= 40) return std::min(stated, 400);
  }
  if (::isatty(STDOUT_FILENO) == 0) return kNoTerminal;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40) return 100;
  return std::min<int>(size.ws_col, 160);
}

bool wants_colour() {
  const char* no = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) != 0 && (no == nullptr || *no == '\0');
}

TextOptions text_options(const OutputOptions& options) {
  return {.width = options.width,
          .colour = options.colour,
          .wide = options.format == "wide",
          .now = {}};
}

}  // namespace fairlead
