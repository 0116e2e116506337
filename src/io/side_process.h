// A copy of this process that does one long piece of work at the side, on memory as it was when it
// started, while the original goes on. Writing a snapshot of a large state is such a piece.
//
// The copy has none of our files, sockets and locks, cannot be heard but by its exit code, and is
// killed with us. One thread may exist besides ours (a name lookup); the work must not need it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include "base/result.h"

namespace fairlead::io {

class SideProcess {
 public:
  // `work` returns 0, or the errno of what went wrong. Fails with child-start.
  static Result<SideProcess> start(const std::function<int()>& work);

  SideProcess(SideProcess&& other) noexcept : pid_(other.pid_) { other.pid_ = -1; }
  SideProcess& operator=(SideProcess&& other) noexcept;
  ~SideProcess();  // kills it

  // Nothing while it works. Fails with side-failed. After the first answer, gives no other.
  std::optional<Result<void>> ended();

 private:
  explicit SideProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;  // -1: none, or reaped
};

}  // namespace fairlead::io
