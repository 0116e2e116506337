#include "adapters/slurm/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace fairlead::slurm {
namespace {

constexpr int kExecFailed = 127;

[[noreturn]] void become(const Command& command, int out, int err) {
  setpgid(0, 0);  // so that what it starts can be ended with it
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, 0);
  dup2(out, 1);
  dup2(err, 2);
  for (const std::string& entry : command.environment) putenv(const_cast<char*>(entry.c_str()));
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  signal(SIGPIPE, SIG_DFL);
  execvp(words[0], words.data());
  const char* const text = std::strerror(errno);
  [[maybe_unused]] const auto n = write(2, text, std::strlen(text));
  _exit(kExecFailed);
}

// Appends what can be read. Returns false at the end of the stream.
bool drain(int fd, std::string& to) {
  char buffer[65536];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  if (n > 0) to.append(buffer, static_cast<size_t>(n));
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string name_of(const Command& command) { return "'" + command.words[0] + "'"; }

}  // namespace

Result<CommandOutput> run_command(const Command& command) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0)
    return fail("command-not-found", "no pipe for " + name_of(command));
  if (pipe2(err, O_CLOEXEC) != 0)
    return close(out[0]), close(out[1]),
           fail("command-not-found", "no pipe for " + name_of(command));
  const pid_t pid = fork();
  if (pid == 0) become(command, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::microseconds(command.timeout.us);
  CommandOutput result;
  std::string problem;
  bool out_open = pid > 0, err_open = pid > 0;
  while ((out_open || err_open) && problem.empty()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          until - std::chrono::steady_clock::now())
                          .count();
    pollfd watch[] = {{out_open ? out[0] : -1, POLLIN, 0}, {err_open ? err[0] : -1, POLLIN, 0}};
    if (left <= 0)
      problem = "command-timeout";
    else if (poll(watch, 2, static_cast<int>(left) + 1) < 0 && errno != EINTR)
      problem = "command-timeout";
    if (problem.empty() && watch[0].revents != 0) out_open = drain(out[0], result.out);
    if (problem.empty() && watch[1].revents != 0) err_open = drain(err[0], result.err);
    if (result.out.size() > command.output_max || result.err.size() > command.output_max)
      problem = "command-output-max";
  }
  close(out[0]);
  close(err[0]);
  if (pid < 0) return fail("command-not-found", "cannot start " + name_of(command));
  if (!problem.empty()) kill(-pid, SIGKILL), kill(pid, SIGKILL);
  result.exit_code = wait_for(pid);
  if (problem == "command-timeout") {
    return fail(problem,
                name_of(command) + " gave no answer within " +
                    std::to_string(whole_seconds(command.timeout)) + " s" +
                    (result.err.empty() ? "" : ": " + result.err.substr(0, result.err.find('\n'))));
  }
  if (!problem.empty())
    return fail(problem, name_of(command) + " printed more than " +
                             std::to_string(command.output_max) + " bytes");
  if (result.exit_code == kExecFailed && result.out.empty()) {
    return fail("command-not-found", "cannot run " + name_of(command) + ": " + result.err,
                "install Slurm's client commands, or put them in PATH");
  }
  return result;
}

}  // namespace fairlead::slurm
