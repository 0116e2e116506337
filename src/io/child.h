// A program of ours that runs beside us and talks to us in lines.
//
// Its standard output comes line by line; a rest without a line end is never passed on as a line,
// since it may be half of one. The last lines of its standard error are kept for the report of its
// end. It is the leader of a process group of its own: when it ends, or when this goes, the whole
// group is killed. It is also killed should our own process die. Starting it again is the caller's.
//
// Linux ties the last to the thread that started it, which has to live on: start it on the io
// thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/asio.h"

namespace fairlead::io {

struct ChildExit {
  int code = -1;  // -1: ended by a signal
  int signal = 0;
  std::vector<std::string> errors;  // its last lines on standard error
  std::string unfinished;           // what its output held after the last line end
  std::string problem;              // why we ended it ourselves; else empty

  bool good() const { return code == 0 && problem.empty() && unfinished.empty(); }
  // "ended with code 3: cannot open /etc/slurm/slurm.conf"
  std::string to_text() const;
};

struct ChildOptions {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  std::vector<std::string> env;   // "NAME=value", added to ours
  size_t line_max = size_t{64} << 20;
  size_t errors_max = 20;
  std::function<void(std::string_view)> on_line;
  std::function<void(const ChildExit&)> on_exit;  // once, after the last line; not after ~Child
};

class Child {
 public:
  // Fails with child-start (no such program, not allowed, no process left).
  static Result<Child> start(asio::io_context& io, ChildOptions options);

  Child(Child&&) noexcept;
  Child& operator=(Child&&) noexcept;
  ~Child();

  pid_t pid() const;
  void ask_to_end();  // SIGTERM to the group; on_exit tells when it has

 private:
  struct State;
  explicit Child(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

struct RunOptions {
  std::vector<std::string> argv;
  std::vector<std::string> env;
  milliseconds limit{30'000};
  size_t output_max = size_t{64} << 20;
};

// Runs a program to its end and returns what it wrote on standard output.
// Fails with child-start, child-failed (its code or signal, with its last words), child-timeout.
asio::awaitable<Result<std::string>> run_program(RunOptions options);

}  // namespace fairlead::io
