#include "io/child_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace fairlead::io {
namespace {

struct Pipe {
  int read = -1, write = -1;
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  void close_read() { close_end(read); }
  void close_write() { close_end(write); }
  ~Pipe() {
    close_read();
    close_write();
  }
  static void close_end(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

std::unexpected<Diagnostic> cannot_start(const std::string& program, int error) {
  return fail("child-start",
              fmt::format("'{}' cannot be started: {}", program, std::strerror(error)),
              error == ENOENT   ? "is it installed, and in PATH?"
              : error == EACCES ? "may this user run it?"
                                : "the machine is short of processes, files or memory");
}

// Our variables, with those of `env` in the place of namesakes.
std::vector<char*> make_environment(const std::vector<std::string>& env) {
  std::vector<char*> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name =
        std::string_view(*entry).substr(0, std::string_view(*entry).find('=') + 1);
    const auto replaces = [&](const std::string& own) { return own.starts_with(name); };
    if (std::ranges::none_of(env, replaces)) all.push_back(*entry);
  }
  for (const std::string& entry : env) all.push_back(const_cast<char*>(entry.c_str()));
  all.push_back(nullptr);
  return all;
}

// In the child. Only calls that are safe after fork().
[[noreturn]] void become(char* const* argv, char* const* env, int null_fd, const Pipe& output,
                         const Pipe& errors, int report_fd, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before the line above
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
  if (::dup2(null_fd, 0) >= 0 && ::dup2(output.write, 1) >= 0 && ::dup2(errors.write, 2) >= 0) {
    ::execvpe(argv[0], argv, env);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report_fd, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Result<StartedChild> start_child(const std::vector<std::string>& argv,
                                 const std::vector<std::string>& env) {
  if (argv.empty()) return fail("child-start", "no program is named");
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const std::vector<char*> environment = make_environment(env);

  Pipe output, errors, report;
  const int null_fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null_fd < 0 || !output.open() || !errors.open() || !report.open()) {
    const int error = errno;
    if (null_fd >= 0) ::close(null_fd);
    return cannot_start(argv[0], error);
  }
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0)
    become(arguments.data(), environment.data(), null_fd, output, errors, report.write, parent);
  const int fork_error = errno;
  ::close(null_fd);
  if (pid < 0) return cannot_start(argv[0], fork_error);
  ::setpgid(pid, pid);  // both sides do it, so that it is done for whoever is first

  report.close_write();
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(report.read, &error, sizeof error);  // ends with the exec, which closes the pipe
  } while (count < 0 && errno == EINTR);
  const int pid_fd = count == 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1;
  if (pid_fd < 0) {
    if (count == 0) error = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return cannot_start(argv[0], error);
  }
  ::fcntl(output.read, F_SETFL, O_NONBLOCK);
  ::fcntl(errors.read, F_SETFL, O_NONBLOCK);
  return StartedChild{.pid = pid,
                      .pid_fd = pid_fd,
                      .output_fd = std::exchange(output.read, -1),
                      .error_fd = std::exchange(errors.read, -1)};
}

}  // namespace fairlead::io
