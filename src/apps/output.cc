#include "apps/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fairlead {

namespace {

struct ExitRule {
  std::string_view code;
  bool whole;  // else the code begins so
  int exit;
};

// The first that fits counts; what is in none was refused as input.
constexpr ExitRule kExitRules[] = {
    {"usage", true, kExitUsage},
    {"workload-unknown", true, kExitUsage},
    {"site-unknown", true, kExitUsage},
    {"node-unknown", true, kExitUsage},
    {"not-found", true, kExitUsage},
    {"field-unknown", true, kExitUsage},
    {"filter-bad", true, kExitUsage},
    {"since-bad", true, kExitUsage},
    {"parameter-", false, kExitUsage},
    {"fleet-bad", true, kExitUsage},
    {"config-", false, kExitRefused},
    {"net-not-allowed", true, kExitNotAllowed},
    {"listen-not-allowed", true, kExitNotAllowed},
    {"file-not-allowed", true, kExitNotAllowed},
    {"store-not-writable", true, kExitNotAllowed},
    {"secret-unreadable", true, kExitNotAllowed},
    {"http-401", true, kExitNotAllowed},
    {"http-403", true, kExitNotAllowed},
    {"http-login", true, kExitNotAllowed},
    {"host", true, kExitNotAllowed},
    {"listen-bad", true, kExitUsage},
    {"url-bad", true, kExitUsage},
    {"net-", false, kExitUnreachable},
    {"slurm-", false, kExitUnreachable},
    {"look-", false, kExitUnreachable},
    {"http-", false, kExitUnreachable},
    {"tls-", false, kExitUnreachable},
    {"listen-", false, kExitUnreachable},
    {"lock-", false, kExitUnreachable},
    {"store-busy", true, kExitUnreachable},
    {"store-full", true, kExitUnreachable},
    {"store-io", true, kExitUnreachable},
    {"file-unwritable", true, kExitUnreachable},
};

}  // namespace

int exit_code_of(std::string_view code) {
  for (const ExitRule& rule : kExitRules) {
    if (rule.whole ? code == rule.code : code.starts_with(rule.code)) return rule.exit;
  }
  return kExitRefused;
}

int complain(const Diagnostic& d) {
  Diagnostic said = d;
  if (said.place.source.empty()) said.place.source = "fairlead";
  said.message = printable(said.message);
  const std::string text = to_text(said) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  return exit_code_of(d.code);
}

int complain_usage(std::string message, std::string hint) {
  return complain(
      {.code = "usage", .message = std::move(message), .place = {}, .hint = std::move(hint)});
}

bool on_terminal() { return ::isatty(STDOUT_FILENO) != 0; }

std::string tame(std::string data) {
  if (!on_terminal()) return data;
  std::string out;
  for (size_t i = 0; i < data.size(); ++i) {
    const auto byte = static_cast<unsigned char>(data[i]);
    const auto next = static_cast<unsigned char>(i + 1 < data.size() ? data[i + 1] : 0);
    const bool c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F
    if (c1 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", c1 ? next : byte);
      i += c1 ? 1 : 0;
    } else {
      out += data[i];
    }
  }
  return out;
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

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool wants_colour() {
  const std::string_view term = variable("TERM");
  return on_terminal() && variable("NO_COLOR").empty() &&
         (term.contains("256color") || has_true_colour());
}

bool has_true_colour() {
  const std::string_view kind = variable("COLORTERM");
  return kind == "truecolor" || kind == "24bit";
}

TextOptions text_options(const OutputOptions& options) {
  return {.width = options.width,
          .colour = options.colour,
          .true_colour = options.colour && has_true_colour(),
          .wide = options.format == "wide",
          .headers = options.headers,
          .now = {}};
}

}  // namespace fairlead
