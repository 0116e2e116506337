// For tests: running a coroutine to its end, and a folder of one's own.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "io/asio.h"

namespace fairlead::io {

// Lets `io` run until `coroutine` has ended; what else runs on it is left as it stands. A test that
// hangs is ended after a minute.
template <class T>
T run(asio::io_context& io, asio::awaitable<T> coroutine) {
  std::optional<T> result;
  std::exception_ptr escaped;
  asio::co_spawn(io, std::move(coroutine), [&](std::exception_ptr error, T value) {
    escaped = error;
    result.emplace(std::move(value));
  });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  io.restart();
  while (!result && std::chrono::steady_clock::now() < until)
    io.run_one_for(std::chrono::seconds(1));
  if (escaped) std::rethrow_exception(escaped);
  if (!result) {
    ADD_FAILURE() << "it hangs";
    std::abort();
  }
  return std::move(*result);
}

inline void run(asio::io_context& io, asio::awaitable<void> coroutine) {
  const auto with_value = [](asio::awaitable<void> inner) -> asio::awaitable<bool> {
    co_await std::move(inner);
    co_return true;
  };
  run(io, with_value(std::move(coroutine)));
}

// Lets `io` run until `condition` holds; what it waits for happens on `io`.
template <class Condition>
void run_until(asio::io_context& io, Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  io.restart();
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << "it hangs";
    io.run_one_for(milliseconds(100));
  }
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "fairlead-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace fairlead::io
