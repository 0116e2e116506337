#include "io/clock.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <csignal>

#include "io/testing.h"

namespace fairlead::io {
namespace {

constexpr Instant kStart = instant_of_seconds(1'796'000'000);

TEST(SteadyWall, RunsWithTheMonotonicClock) {
  SteadyWall clock(kStart, seconds(100));
  const auto reading = clock.read(kStart + seconds(7), seconds(107));
  EXPECT_EQ(reading.now, kStart + seconds(7));
  EXPECT_EQ(reading.jump, Duration{});
}

TEST(SteadyWall, TakesAJumpAheadOverAtOnce) {
  SteadyWall clock(kStart, {});
  const auto reading = clock.read(kStart + seconds(3601), seconds(1));
  EXPECT_EQ(reading.now, kStart + seconds(3601));
  EXPECT_EQ(reading.jump, seconds(3600));
  EXPECT_EQ(clock.read(kStart + seconds(3602), seconds(2)).jump, Duration{});
}

TEST(SteadyWall, LetsTheWallCatchUpAfterAJumpBack) {
  SteadyWall clock(kStart, {});
  auto reading = clock.read(kStart - seconds(60), {});
  EXPECT_EQ(reading.now, kStart);
  EXPECT_EQ(reading.jump, seconds(-60));
  EXPECT_EQ(reading.behind, seconds(-60));
  reading = clock.read(kStart - seconds(20), seconds(40));
  EXPECT_EQ(reading.now, kStart + seconds(20));  // at half speed
  EXPECT_EQ(reading.jump, Duration{});           // told once
  reading = clock.read(kStart + seconds(70), seconds(130));
  EXPECT_EQ(reading.now, kStart + seconds(70));  // caught up
}

TEST(SteadyWall, SlewsALittleLag) {
  SteadyWall clock(kStart, {});
  const auto reading = clock.read(kStart + Duration{1'100'000}, seconds(1));
  EXPECT_EQ(reading.jump, Duration{});
  EXPECT_EQ(reading.now, kStart + Duration{1'062'500});
}

RC_GTEST_PROP(SteadyWall, NeverGoesBack, ()) {
  SteadyWall clock(kStart, {});
  Instant wall = kStart, before = kStart;
  Duration steady;
  for (int i = 0; i < 50; ++i) {
    const Duration passed{*rc::gen::inRange<int64_t>(0, 10'000'000)};
    const bool jumps = *rc::gen::inRange(0, 5) == 0;
    const Duration jump{jumps ? *rc::gen::inRange<int64_t>(-7'200'000'000, 7'200'000'000) : 0};
    wall = wall + passed + jump;
    steady.us += passed.us;
    const auto reading = clock.read(wall, steady);
    RC_ASSERT(reading.now >= before);
    RC_ASSERT(reading.behind <= seconds(1));
    before = reading.now;
  }
}

TEST(Clock, TellsTheTimeOfDay) {
  Clock clock;
  EXPECT_GT(clock.now(), kStart - seconds(400LL * 86400));
  EXPECT_LE(clock.now(), clock.now());
}

TEST(Repeat, RunsUntilItIsCancelled) {
  asio::io_context io;
  int runs = 0;
  const std::function<asio::awaitable<void>()> work = [&]() -> asio::awaitable<void> {
    if (++runs == 3) throw boost::system::system_error(asio::error::operation_aborted);
    co_return;
  };
  spawn(io, repeat(milliseconds(1), work));
  run_until(io, [&] { return runs == 3; });
}

TEST(Signals, AreWaitedFor) {
  asio::io_context io;
  const auto raise_it = [](asio::io_context& context) -> asio::awaitable<int> {
    asio::post(context, [] { ::raise(SIGUSR1); });
    const int got = co_await wait_for_signal({SIGUSR1, SIGUSR2});
    co_return got;
  };
  EXPECT_EQ(run(io, raise_it(io)), SIGUSR1);
}

}  // namespace
}  // namespace fairlead::io
