// The time of day, kept steady.
//
// What is stamped here is compared and summed up, so it never goes back. It runs with the monotonic
// clock from where the wall clock stood, and follows the wall clock in three ways:
//
//   a small lead or lag    slewed: a sixteenth faster or slower, until both agree
//   the wall jumps ahead   taken over at once, and reported
//   the wall jumps back    reported; ours runs at half speed until the wall has caught up
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>

#include "base/time.h"
#include "io/asio.h"

namespace fairlead::io {

// Pure: fed with both readings.
class SteadyWall {
 public:
  struct Reading {
    Instant now;      // never before the reading before it
    Duration jump;    // by how much the wall clock jumped since then; 0: it did not
    Duration behind;  // wall - now: below zero while we wait for the wall to catch up
  };

  SteadyWall(Instant wall, Duration steady) : now_(wall), steady_(steady) {}

  Reading read(Instant wall, Duration steady);

 private:
  static constexpr Duration kTolerance{500'000};  // chosen: NTP slews what is smaller than 128 ms

  Instant now_;
  Duration steady_;
  Duration offset_;  // wall - now_ at the last reading
};

// The machine's own clocks; suspended time counts.
class Clock {
 public:
  Clock();
  Instant now();

  std::function<void(Duration jump)> on_jump;

 private:
  SteadyWall wall_;
};

// Throws system_error(operation_aborted) where it is cancelled, as all coroutines do.
asio::awaitable<void> sleep_for(milliseconds time);

// Runs `work` now and then once every `period` until cancelled; work that takes longer than that is
// not made up for.
asio::awaitable<void> repeat(milliseconds period, std::function<asio::awaitable<void>()> work);

// Returns the first of `signals` that comes; they no longer end the process while this waits.
asio::awaitable<int> wait_for_signal(std::vector<int> signals);

// Calls `f` for each `signal` that comes, until cancelled.
asio::awaitable<void> on_signal(int signal, std::function<void()> f);

}  // namespace fairlead::io
