#include "io/file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/testing.h"

namespace fairlead::io {
namespace {

TEST(File, IsWrittenWholeAndReadBack) {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  ASSERT_TRUE(write_file(path, "old"));
  ASSERT_TRUE(write_file(path, std::string(200'000, 'n'), 0600));
  EXPECT_EQ(read_file(path, 200'000).value(), std::string(200'000, 'n'));
  EXPECT_EQ(read_file(path, 199'999).error().code, "file-too-large");
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}),
            1);  // nothing is left beside it
}

TEST(File, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_file(folder / "none", 10).error().code, "file-missing");
  EXPECT_EQ(read_file(folder / "", 10).error().code, "file-unreadable");
  const auto written = write_file(folder / "no/such/folder", "x");
  EXPECT_EQ(written.error().code, "file-unwritable");
  EXPECT_EQ(written.error().hint, "does its folder exist?");
}

TEST(FileLock, HasOneHolderAndGoesWithIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "lock";
  {
    const auto mine = FileLock::take(path);
    ASSERT_TRUE(mine);
    const auto second = FileLock::take(path);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, "lock-held");
    EXPECT_TRUE(second.error().message.contains("(pid " + std::to_string(::getpid()) + ")"));
  }
  EXPECT_TRUE(FileLock::take(path));
}

TEST(FileLock, IsFreeOnceItsHolderWasKilled) {
  const TemporaryFolder folder;
  const std::string path = folder / "lock";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const auto mine = FileLock::take(path);
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(FileLock::take(path));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(FileLock::take(path));
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace fairlead::io
