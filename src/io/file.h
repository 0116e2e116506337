// Files, read and written so that a crash leaves either the old or the new.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::io {

// Fails with file-missing, file-unreadable, file-too-large.
Result<std::string> read_file(const std::string& path, size_t size_max);

// Writes beside `path`, flushes to the disk, then takes its place. Fails with file-unwritable.
Result<void> write_file(const std::string& path, std::string_view bytes, unsigned mode = 0644);

// Sole ownership of a thing, held on a file beside it. The system lets go of it when the process
// ends, however it ends; the file itself stays.
class FileLock {
 public:
  // `what` is what the lock guards, for the message; empty: the file itself.
  // Fails with lock-held ("another fairlead (pid 7) holds …"), file-unwritable.
  static Result<FileLock> take(const std::string& path, const std::string& what = {});

  FileLock(FileLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace fairlead::io
