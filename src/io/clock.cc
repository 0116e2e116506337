#include "io/clock.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <ctime>

namespace fairlead::io {
namespace {

int64_t micros_of(clockid_t id) {
  timespec time{};
  ::clock_gettime(id, &time);
  return int64_t{time.tv_sec} * kMicrosPerSecond + time.tv_nsec / 1000;
}

}  // namespace

SteadyWall::Reading SteadyWall::read(Instant wall, Duration steady) {
  const Duration passed{std::max<int64_t>(0, steady.us - steady_.us)};
  const Instant expected = now_ + passed;
  const Duration offset = wall - expected;
  const Duration change{offset.us - offset_.us};
  Reading reading;
  if (std::abs(change.us) > kTolerance.us) reading.jump = change;
  if (offset > kTolerance) {
    now_ = wall;
  } else if (offset.us < -kTolerance.us) {
    now_ = expected - Duration{std::min(passed.us / 2, -offset.us)};
  } else {
    now_ = expected + Duration{std::clamp(offset.us, -passed.us / 16, passed.us / 16)};
  }
  steady_ = std::max(steady_, steady);
  offset_ = wall - now_;
  reading.now = now_;
  reading.behind = offset_;
  return reading;
}

Clock::Clock() : wall_({micros_of(CLOCK_REALTIME)}, {micros_of(CLOCK_BOOTTIME)}) {}

Instant Clock::now() {
  const auto reading = wall_.read({micros_of(CLOCK_REALTIME)}, {micros_of(CLOCK_BOOTTIME)});
  if (reading.jump.us != 0 && on_jump) on_jump(reading.jump);
  return reading.now;
}

asio::awaitable<void> sleep_for(milliseconds time) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> repeat(milliseconds period, std::function<asio::awaitable<void>()> work) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor);
  auto next = std::chrono::steady_clock::now();
  while (true) {
    co_await work();
    const auto now = std::chrono::steady_clock::now();
    next += period;
    if (next < now) next = now;
    timer.expires_at(next);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<int> wait_for_signal(std::vector<int> signals) {
  const auto executor = co_await asio::this_coro::executor;
  asio::signal_set set(executor);
  for (const int signal : signals) set.add(signal);
  const int got = co_await set.async_wait(asio::use_awaitable);
  co_return got;
}

asio::awaitable<void> on_signal(int signal, std::function<void()> f) {
  const auto executor = co_await asio::this_coro::executor;
  asio::signal_set set(executor, signal);
  while (true) {
    co_await set.async_wait(asio::use_awaitable);
    f();
  }
}

}  // namespace fairlead::io
