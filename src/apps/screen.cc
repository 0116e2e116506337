#include "apps/screen.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "base/check.h"

namespace fairlead {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP};
constexpr char kWake = 'w';

int pipe_ends[2] = {-1, -1};  // what handlers and other threads say, for wait() to read
struct sigaction found_actions[kSignals.size()];

void say(char what) {
  const int kept = errno;
  [[maybe_unused]] const ssize_t written = ::write(pipe_ends[1], &what, 1);
  errno = kept;
}

void on_signal(int number) { say(number == SIGWINCH ? 'r' : number == SIGTSTP ? 'z' : 'e'); }

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno != EINTR) return;
    if (n > 0) text.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

bool Screen::possible() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0 && term != nullptr &&
         *term != '\0' && std::string_view(term) != "dumb";
}

Screen::Screen() {
  CHECK(pipe_ends[0] < 0);
  CHECK(::pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) == 0);
  ::tcgetattr(STDIN_FILENO, &found_);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action{};
    action.sa_handler = on_signal;
    ::sigaction(kSignals[i], &action, &found_actions[i]);
  }
  enter();
}

Screen::~Screen() {
  leave();
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &found_actions[i], nullptr);
  for (int& end : pipe_ends) {
    ::close(end);
    end = -1;
  }
}

void Screen::enter() {
  termios raw = found_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C stays a signal
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  write_all("\x1b[?1049h\x1b[?25l\x1b[2J");
  measure();
}

void Screen::leave() {
  write_all("\x1b[0m\x1b[?25h\x1b[?1049l");
  ::tcsetattr(STDIN_FILENO, TCSANOW, &found_);
}

void Screen::measure() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return;
  width_ = size.ws_col;
  height_ = size.ws_row;
}

// Each line is written over the old one, so that nothing flickers.
void Screen::draw(const std::vector<std::string>& lines) {
  std::string out = "\x1b[H";
  for (size_t i = 0; i < lines.size(); ++i)
    out += (i == 0 ? "" : "\r\n") + lines[i] + "\x1b[0m\x1b[K";
  write_all(out + "\x1b[J");
}

ScreenInput Screen::wait(std::chrono::milliseconds limit) {
  pollfd polled[2] = {{STDIN_FILENO, POLLIN, 0}, {pipe_ends[0], POLLIN, 0}};
  if (::poll(polled, 2, static_cast<int>(limit.count())) <= 0) return {};
  char byte = 0;
  if ((polled[1].revents & POLLIN) != 0 && ::read(pipe_ends[0], &byte, 1) == 1) {
    if (byte == 'e') return {ScreenEvent::ended};
    if (byte == kWake) return {ScreenEvent::woken};
    if (byte == 'z') {
      leave();
      ::raise(SIGSTOP);
      enter();
    }
    measure();
    return {ScreenEvent::resized};
  }
  if ((polled[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) return {};
  if (::read(STDIN_FILENO, &byte, 1) == 1) return {ScreenEvent::key, byte};
  return {ScreenEvent::ended};  // the terminal is gone
}

void Screen::wake() { say(kWake); }

}  // namespace fairlead
