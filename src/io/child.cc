#include "io/child.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstring>

#include "io/child_start.h"

namespace fairlead::io {
namespace {

using Descriptor = asio::posix::stream_descriptor;

constexpr size_t kReadSize = 64 << 10;
constexpr size_t kErrorLineMax = 2000;

// Cuts a stream of bytes into lines.
class LineCutter {
 public:
  explicit LineCutter(size_t line_max) : line_max_(line_max) {}

  // Calls f(line) for each line that `bytes` ends. Returns false once a line is too long.
  template <class F>
  bool add(std::string_view bytes, F&& f) {
    while (true) {
      const size_t end = bytes.find('\n');
      if (pending_.size() + std::min(end, bytes.size()) > line_max_) return false;
      if (end == bytes.npos) break;
      if (pending_.empty()) {
        f(bytes.substr(0, end));
      } else {
        pending_ += bytes.substr(0, end);
        f(std::string_view(pending_));
        pending_.clear();
      }
      bytes.remove_prefix(end + 1);
    }
    pending_ += bytes;
    return true;
  }
  std::string& pending() { return pending_; }

 private:
  size_t line_max_;
  std::string pending_;
};

}  // namespace

std::string ChildExit::to_text() const {
  std::string text = code >= 0
                         ? fmt::format("ended with code {}", code)
                         : fmt::format("was ended by signal {} ({})", signal, ::strsignal(signal));
  if (!problem.empty()) text += ", " + problem;
  if (!unfinished.empty()) text += ", in the middle of a line";
  if (!errors.empty()) text += ": " + errors.back();
  return text;
}

struct Child::State {
  State(asio::io_context& io, const StartedChild& started, ChildOptions wanted)
      : options(std::move(wanted)),
        pid(started.pid),
        process(io, started.pid_fd),
        output(io, started.output_fd),
        errors(io, started.error_fd),
        lines(options.line_max) {}
  ~State();

  void kill_group(int signal) {
    if (!reaped) ::kill(-pid, signal);
  }
  void end_part() {  // output, errors and the process itself end, in any order
    if (--parts_open == 0 && options.on_exit) options.on_exit(exit);
  }
  void reap(int status);

  ChildOptions options;
  pid_t pid;
  Descriptor process, output, errors;
  LineCutter lines;
  ChildExit exit;
  int parts_open = 3;
  bool reaped = false;
};

void Child::State::reap(int status) {
  reaped = true;
  if (WIFEXITED(status))
    exit.code = WEXITSTATUS(status);
  else
    exit.signal = WTERMSIG(status);
}

Child::State::~State() {
  if (reaped) return;
  kill_group(SIGKILL);
  pollfd ended{.fd = process.native_handle(), .events = POLLIN, .revents = 0};
  ::poll(&ended, 1, 200);  // a process that the kernel cannot end now must not hold us
  ::waitpid(pid, nullptr, WNOHANG);
}

namespace {

template <class StatePtr>
asio::awaitable<void> read_output(StatePtr state) {
  std::string block(kReadSize, '\0');
  const auto room = asio::buffer(block);
  error_code error;
  while (true) {
    const size_t count = co_await state->output.async_read_some(
        room, asio::redirect_error(asio::use_awaitable, error));
    if (error) break;
    if (!state->exit.problem.empty())
      continue;  // it has been told to end; what still comes is dropped
    const auto on_line = [&](std::string_view line) {
      if (state->options.on_line) state->options.on_line(line);
    };
    if (!state->lines.add(std::string_view(block).substr(0, count), on_line)) {
      state->exit.problem =
          fmt::format("since it wrote a line of more than {} bytes", state->options.line_max);
      state->lines.pending().clear();
      state->kill_group(SIGKILL);
    }
  }
  state->exit.unfinished = state->lines.pending().substr(0, kErrorLineMax);
  state->end_part();
}

template <class StatePtr>
asio::awaitable<void> read_errors(StatePtr state) {
  std::string block(4096, '\0');
  const auto room = asio::buffer(block);
  std::string line;
  error_code error;
  const auto keep = [&] {
    if (!line.empty()) state->exit.errors.push_back(std::exchange(line, {}));
    if (state->exit.errors.size() > state->options.errors_max)
      state->exit.errors.erase(state->exit.errors.begin());
  };
  while (true) {
    const size_t count = co_await state->errors.async_read_some(
        room, asio::redirect_error(asio::use_awaitable, error));
    if (error) break;
    for (const char c : std::string_view(block).substr(0, count)) {
      if (c == '\n')
        keep();
      else if (line.size() < kErrorLineMax)
        line += c;
    }
  }
  keep();
  state->end_part();
}

template <class StatePtr>
asio::awaitable<void> wait_for_end(StatePtr state) {
  error_code error;
  co_await state->process.async_wait(Descriptor::wait_read,
                                     asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return;
  // Before it is reaped its number cannot be given to another, so the group is surely its own. What
  // it left running would hold the pipes open for ever.
  state->kill_group(SIGKILL);
  int status = 0;
  if (::waitpid(state->pid, &status, 0) == state->pid) state->reap(status);
  state->end_part();
}

}  // namespace

Child::Child(std::shared_ptr<State> state) : state_(std::move(state)) {}
Child::Child(Child&&) noexcept = default;

Child& Child::operator=(Child&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Child::~Child() {
  if (!state_) return;
  state_->options.on_line = nullptr;
  state_->options.on_exit = nullptr;
  state_->kill_group(SIGKILL);  // the coroutines see its end and let go of the state
}

Result<Child> Child::start(asio::io_context& io, ChildOptions options) {
  const auto started = start_child(options.argv, options.env);
  if (!started) return std::unexpected(started.error());
  auto state = std::make_shared<State>(io, *started, std::move(options));
  spawn(io, read_output(state));
  spawn(io, read_errors(state));
  spawn(io, wait_for_end(state));
  return Child(std::move(state));
}

pid_t Child::pid() const { return state_->pid; }

void Child::ask_to_end() { state_->kill_group(SIGTERM); }

asio::awaitable<Result<std::string>> run_program(RunOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  auto& io = static_cast<asio::io_context&>(asio::query(executor, asio::execution::context));
  asio::steady_timer done(executor, options.limit);
  std::string output;
  std::optional<ChildExit> ended;
  bool too_much = false;
  ChildOptions wanted{.argv = options.argv, .env = options.env, .line_max = options.output_max};
  wanted.on_line = [&](std::string_view line) {
    too_much = too_much || output.size() + line.size() >= options.output_max;
    if (too_much)
      done.cancel();
    else
      output.append(line) += '\n';
  };
  wanted.on_exit = [&](const ChildExit& exit) {
    ended = exit;
    done.cancel();
  };
  const auto child = Child::start(io, std::move(wanted));
  if (!child) co_return std::unexpected(child.error());
  error_code ignored;
  co_await done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  const std::string& name = options.argv[0];
  if (too_much) {
    co_return fail("child-failed",
                   fmt::format("'{}' wrote more than {} bytes", name, options.output_max),
                   "is it the right command?");
  }
  if (!ended) {
    co_return fail("child-timeout",
                   fmt::format("'{}' did not end within {} ms", name, options.limit.count()),
                   "run it by hand: does it hang?");
  }
  if (ended->code != 0 || !ended->problem.empty()) {
    co_return fail("child-failed", fmt::format("'{}' {}", name, ended->to_text()),
                   "run it by hand to see the cause");
  }
  output += ended->unfinished;
  co_return output;
}

}  // namespace fairlead::io
