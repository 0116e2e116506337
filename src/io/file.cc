#include "io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fairlead::io {
namespace {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string hint_for(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "may this user do so? see the modes of the file and of its folders";
    case ENOENT:
      return "does its folder exist?";
    case ENOSPC:
    case EDQUOT:
      return "the disk or the quota is full: make room";
    case EROFS:
      return "the file system is mounted read-only";
    default:
      return "see to the disk";
  }
}

bool forbidden(int error) { return error == EACCES || error == EPERM || error == EROFS; }

std::unexpected<Diagnostic> unwritable(const std::string& path, int error) {
  return fail(forbidden(error) ? "file-not-allowed" : "file-unwritable",
              fmt::format("'{}' cannot be written: {}", path, std::strerror(error)),
              hint_for(error));
}

// Returns 0 or the errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

// Makes a rename in the folder of `path` last through a power cut; not every file system can.
void sync_folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t size_max) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (fd.get() < 0) {
    return fail(errno == ENOENT    ? "file-missing"
                : forbidden(errno) ? "file-not-allowed"
                                   : "file-unreadable",
                fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)),
                hint_for(errno));
  }
  std::string bytes;
  char block[64 << 10];
  while (true) {
    const ssize_t count = ::read(fd.get(), block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return fail("file-unreadable",
                  fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)),
                  hint_for(errno));
    if (count == 0) return bytes;
    if (bytes.size() + static_cast<size_t>(count) > size_max) {
      return fail("file-too-large", fmt::format("'{}' is larger than {} bytes", path, size_max),
                  "is it the right file?");
    }
    bytes.append(block, static_cast<size_t>(count));
  }
}

Result<void> write_file(const std::string& path, std::string_view bytes, unsigned mode) {
  std::string beside = path + ".XXXXXX";
  Fd fd(::mkostemp(beside.data(), O_CLOEXEC));
  if (fd.get() < 0) return unwritable(path, errno);
  int error = write_all(fd.get(), bytes);
  if (error == 0 && ::fchmod(fd.get(), mode) != 0) error = errno;
  if (error == 0 && ::fsync(fd.get()) != 0) error = errno;
  if (error == 0 && ::close(fd.release()) != 0) error = errno;
  if (error == 0 && ::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(beside.c_str());
    return unwritable(path, error);
  }
  sync_folder_of(path);
  return {};
}

Result<FileLock> FileLock::take(const std::string& path, const std::string& what) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640));
  if (fd.get() < 0) return unwritable(path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return unwritable(path, errno);
    const auto holder = read_file(path, 64);
    std::string pid = holder ? holder->substr(0, holder->find('\n')) : "";
    if (pid.find_first_not_of("0123456789") != pid.npos) pid.clear();
    return fail("lock-held",
                fmt::format("another fairlead{} holds '{}'",
                            pid.empty() ? "" : " (pid " + pid + ")", what.empty() ? path : what),
                "stop it first, or give this one a place of its own");
  }
  const std::string own = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd.get(), 0) == 0)
    write_all(fd.get(), own);  // for people: the lock is what counts
  return FileLock(fd.release());
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace fairlead::io
