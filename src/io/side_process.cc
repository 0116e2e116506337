#include "io/side_process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace fairlead::io {
namespace {

[[noreturn]] void work_aside(const std::function<int()>& work, pid_t parent) {
  ::setpgid(0, 0);  // Ctrl-C at the terminal is for the original
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(ECHILD);  // it died before the line above
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
  // A lock is let go of only when every copy of its file is closed.
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
  [[maybe_unused]] const int niceness = ::nice(5);
  ::_exit(work());
}

}  // namespace

Result<SideProcess> SideProcess::start(const std::function<int()>& work) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) work_aside(work, parent);
  if (pid < 0) {
    return fail("child-start", fmt::format("no second process: {}", std::strerror(errno)),
                "the machine is short of processes or memory");
  }
  return SideProcess(pid);
}

SideProcess& SideProcess::operator=(SideProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  return *this;
}

SideProcess::~SideProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<Result<void>> SideProcess::ended() {
  int status = 0;
  if (pid_ < 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    return fail("side-failed", fmt::format("it was ended by signal {} ({})", WTERMSIG(status),
                                           ::strsignal(WTERMSIG(status))));
  }
  if (const int code = WEXITSTATUS(status); code != 0)
    return fail("side-failed", std::strerror(code));
  return Result<void>{};
}

}  // namespace fairlead::io
