#include "apps/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace fairlead {

int complain(const Diagnostic& d) {
  std::string text = to_text(d) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  const std::string_view code = d.code;
  if (code == "http-404" || code == "workload-unknown" || code == "usage") return kExitUsage;
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
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  return kExitGood;
}

int terminal_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col < 40)
    return 100;
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
