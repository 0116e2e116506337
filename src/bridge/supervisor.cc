// SPDX-License-Identifier: GPL-2.0-or-later
#include "bridge/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>

#include "adapters/slurm/differ.h"
#include "adapters/slurm/stream.h"
#include "codec/event_json.h"

namespace fairlead::slurm {
namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  pid_t pid = -1;
  int out = -1, err = -1;  // our ends of its pipes
};

Child start(const SuperviseOptions& options) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) return {};
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    dup2(err[1], 2);
    close(out[0]);
    _exit(options.child(out[1]));
  }
  close(out[1]);
  close(err[1]);
  return {.pid = pid, .out = out[0], .err = err[0]};
}

void stop(Child& child) {
  kill(child.pid, SIGKILL);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  close(child.out);
  close(child.err);
  child = {};
}

// What the child's run came to.
struct Outcome {
  bool closed = false;    // our own stdout is gone
  bool told_end = false;  // a whole poll was passed on and that was all (once)
  bool ok = true;         // of that poll
  std::string problem;
};

// Passes on what one child writes, poll by poll.
class Relay {
 public:
  explicit Relay(const SuperviseOptions& options) : options_(options) {}

  Outcome run(Child& child) {
    auto heard = Clock::now();
    for (;;) {
      if (resting_) heard = Clock::now();
      const auto silent =
          std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - heard).count();
      if (silent >= options_.stall_max.us) return {.problem = stalled()};
      pollfd watch[] = {{child.out, POLLIN, 0}, {child.err, POLLIN, 0}, {options_.out, 0, 0}};
      const int left_ms = static_cast<int>((options_.stall_max.us - silent) / 1000 + 1);
      if (::poll(watch, 3, left_ms) < 0 && errno != EINTR) return {.problem = "poll failed"};
      if ((watch[2].revents & (POLLERR | POLLHUP)) != 0) return {.closed = true};
      if (watch[1].revents != 0) read_errors(child);
      if (watch[0].revents == 0) continue;
      char buffer[65536];
      const ssize_t n = read(child.out, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return ended(child);
      if (!take({buffer, static_cast<size_t>(n)})) return {.closed = true};
      heard = Clock::now();  // after take(), which waits where our own reader is slow
    }
  }

 private:
  // Returns false where our stdout is closed.
  bool take(std::string_view text) {
    buffer_ += text;
    size_t from = 0;
    for (size_t end; (end = buffer_.find('\n', from)) != std::string::npos; from = end + 1) {
      const std::string_view line = std::string_view(buffer_).substr(from, end - from);
      if (line.starts_with('#')) {
        doing_ = line.substr(1);
        resting_ = doing_.empty();
      } else if (check_event_header(line)) {  // ours was written at the start
      } else {
        poll_.append(line).push_back('\n');
      }
      if (line.find("\"poll_ended\":") == std::string_view::npos || !pass_on(line)) continue;
      if (!write_all(options_.out, poll_)) return false;
      poll_.clear();
    }
    buffer_.erase(0, from);
    return true;
  }

  bool pass_on(std::string_view line) {
    const auto event = read_event(line);
    if (!event || !std::holds_alternative<PollEnded>(event->what)) return false;
    told_ = true;
    ok_ = std::get<PollEnded>(event->what).ok;
    return true;
  }

  // What libslurm says goes to our stderr; its last line explains an end.
  void read_errors(Child& child) {
    char buffer[4096];
    const ssize_t n = read(child.err, buffer, sizeof buffer);
    if (n <= 0) return;
    const std::string_view text(buffer, static_cast<size_t>(n));
    write_all(2, text);
    errors_ += text;
    if (errors_.size() > 8192) errors_.erase(0, errors_.size() - 8192);
  }

  std::string last_error() const {
    std::string_view text = errors_;
    while (text.ends_with('\n')) text.remove_suffix(1);
    const size_t from = text.rfind('\n');
    return std::string(from == std::string_view::npos ? text : text.substr(from + 1));
  }

  std::string stalled() const {
    const std::string waited = "waited " + std::to_string(whole_seconds(options_.stall_max)) + " s";
    const std::string says = errors_.empty() ? "" : ": " + last_error();
    if (doing_.empty())
      return "libslurm does not start, " + waited + says +
             "; check SLURM_CONF and the network to the controller";
    return "slurmctld does not answer about " + doing_ + ", " + waited + says +
           "; check with `scontrol ping` that it runs and is not stopped";
  }

  Outcome ended(Child& child) {
    fcntl(child.err, F_SETFL, O_NONBLOCK);
    read_errors(child);
    if (options_.once && told_) return {.told_end = true, .ok = ok_};
    return {.problem = "libslurm gave up" +
                       (errors_.empty() ? std::string() : ": " + last_error()) +
                       "; check SLURM_CONF, slurm.conf and the authentication daemon"};
  }

  const SuperviseOptions& options_;
  bool resting_ = false, told_ = false, ok_ = true;
  std::string buffer_, poll_, doing_, errors_;
};

bool write_failed_poll(int out, const std::string& problem) {
  std::string lines;
  const Instant at{std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count()};
  for (const What& what : Differ::failed_poll(problem)) {
    write_event(lines, Event{.at = at, .what = what});
    lines += '\n';
  }
  return write_all(out, lines);
}

// Waits between children. Returns false as soon as `out` is closed.
bool rest(int out, Duration time) {
  pollfd watch{.fd = out, .events = 0, .revents = 0};
  return ::poll(&watch, 1, static_cast<int>(time.us / 1000)) <= 0;
}

}  // namespace

int supervise(const SuperviseOptions& options) {
  if (!write_all(options.out, event_header() + "\n")) return kExitGood;
  for (;;) {
    Child child = start(options);
    if (child.pid < 0) return kExitUnreachable;
    const Outcome outcome = Relay(options).run(child);
    stop(child);
    if (outcome.closed) return kExitGood;
    if (outcome.told_end) return outcome.ok ? kExitGood : kExitUnreachable;
    if (!write_failed_poll(options.out, outcome.problem)) return kExitGood;
    if (options.once) return kExitUnreachable;
    if (!rest(options.out, options.restart_after)) return kExitGood;
  }
}

}  // namespace fairlead::slurm
