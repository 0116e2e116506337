#include "adapters/slurm/stream.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "adapters/slurm/poller.h"
#include "codec/event_json.h"

namespace fairlead::slurm {
namespace {

template <class Clock>
Instant now_of() {
  return {std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch())
              .count()};
}

// Waits until `until`, or returns false as soon as the other end of `out` is closed.
bool sleep_until(int out, Instant until) {
  for (;;) {
    const int64_t left_us = (until - now_of<std::chrono::steady_clock>()).us;
    if (left_us <= 0) return true;
    pollfd watch{.fd = out, .events = 0, .revents = 0};
    const int ready =
        ::poll(&watch, 1, static_cast<int>(std::min<int64_t>(left_us / 1000 + 1, 60'000)));
    if (ready > 0 && (watch.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

void end_quietly_on_signals() {
  signal(SIGPIPE, SIG_IGN);
  struct sigaction action{};
  action.sa_handler = [](int) { _exit(0); };
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

int run_stream(Reader& reader, const StreamOptions& options) {
  bool open = write_all(options.out, event_header() + "\n");
  Poller poller(reader, options.pace,
                {.now = now_of<std::chrono::steady_clock>, .before_read = [&](Part part) {
                   if (options.progress)
                     open = write_all(options.out, std::string("#") + name_of(part) + "\n") && open;
                 }});
  while (open) {
    const std::vector<What> events = poller.round();
    const Instant at = now_of<std::chrono::system_clock>();
    std::string lines;
    for (const What& what : events) {
      write_event(lines, Event{.at = at, .what = what});
      lines += '\n';
    }
    if (options.progress) lines += "#\n";
    open = write_all(options.out, lines) && open;
    if (options.once && !events.empty()) {
      return std::get<PollEnded>(events.back()).ok ? kExitGood : kExitUnreachable;
    }
    open = open && sleep_until(options.out, poller.next());
  }
  return kExitGood;
}

}  // namespace fairlead::slurm
