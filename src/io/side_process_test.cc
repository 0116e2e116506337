#include "io/side_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "io/file.h"

namespace fairlead::io {
namespace {

Result<void> wait_for(SideProcess& side) {
  for (int i = 0; i < 5000; ++i) {
    if (auto ended = side.ended()) return *ended;
    ::poll(nullptr, 0, 2);
  }
  return fail("side-failed", "it did not end in time");
}

TEST(SideProcess, WorksOnMemoryAsItWas) {
  const std::string path = ::testing::TempDir() + "/side_process_memory";
  std::string value = "before";
  auto side = SideProcess::start([&] {
    ::poll(nullptr, 0, 50);
    return write_file(path, value).has_value() ? 0 : EIO;
  });
  ASSERT_TRUE(side.has_value());
  value = "after";
  EXPECT_FALSE(side->ended().has_value());
  ASSERT_TRUE(wait_for(*side).has_value());
  EXPECT_FALSE(side->ended().has_value());
  EXPECT_EQ(*read_file(path, 100), "before");
  std::filesystem::remove(path);
}

TEST(SideProcess, SaysWhatWentWrong) {
  auto side = SideProcess::start([] { return ENOSPC; });
  ASSERT_TRUE(side.has_value());
  EXPECT_EQ(wait_for(*side).error().message, "No space left on device");
  auto killed = SideProcess::start([] { return ::raise(SIGKILL); });
  ASSERT_TRUE(killed.has_value());
  EXPECT_EQ(wait_for(*killed).error().code, "side-failed");
}

TEST(SideProcess, HoldsNoLockOfOurs) {
  const std::string path = ::testing::TempDir() + "/side_process_lock";
  std::optional<SideProcess> side;
  {
    const auto lock = FileLock::take(path);
    ASSERT_TRUE(lock.has_value());
    auto started = SideProcess::start([] {
      ::pause();
      return 0;
    });
    ASSERT_TRUE(started.has_value());
    side.emplace(std::move(*started));
    ::poll(nullptr, 0, 100);
  }
  EXPECT_TRUE(FileLock::take(path).has_value());
}

}  // namespace
}  // namespace fairlead::io
