// Short names for Boost.Asio, and how a coroutine is started.
//
// All of `io` and what stands on it runs on one thread and one io_context: no locks. How coroutines
// are written so that every compiler gets them right: co_await is a whole statement or a whole
// initialiser, its arguments are named objects or temporaries of class type, parameters are values
// (or references to what outlives the session), and no lambda with captures is a coroutine.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <exception>

namespace fairlead::io {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

// Rethrows out of io_context::run() what a coroutine let escape, unless it was only cancelled: an
// exception that nobody expected is our own mistake.
struct RethrowUnlessCancelled {
  void operator()(std::exception_ptr escaped) const {
    if (!escaped) return;
    try {
      std::rethrow_exception(escaped);
    } catch (const boost::system::system_error& error) {
      if (error.code() != asio::error::operation_aborted) throw;
    }
  }
};

template <class Executor>
void spawn(Executor&& executor, asio::awaitable<void> coroutine) {
  asio::co_spawn(executor, std::move(coroutine), RethrowUnlessCancelled{});
}

}  // namespace fairlead::io
