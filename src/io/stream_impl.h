// The one template behind stream.cc and tls.cc; heavy, so nobody else includes it.
#pragma once

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "io/stream.h"

namespace fairlead::io {

template <class Inner>
class StreamOf : public Stream {
 public:
  template <class... Args>
  explicit StreamOf(Args&&... args) : inner(std::forward<Args>(args)...) {}

  asio::awaitable<size_t> read_some(asio::mutable_buffer into, error_code& error) override {
    const size_t count =
        co_await inner.async_read_some(into, asio::redirect_error(asio::use_awaitable, error));
    say_timeout(error);
    co_return count;
  }

  asio::awaitable<void> write(asio::const_buffer first, asio::const_buffer second,
                              error_code& error) override {
    // Three, not two: Asio keeps a pair's first buffer as an empty one once it is written, and
    // Beast's TLS stream takes that for the end: with a pair, a body of more than 16 KiB never
    // left.
    const std::array<asio::const_buffer, 3> both{first, second, asio::const_buffer{}};
    co_await asio::async_write(inner, both, asio::redirect_error(asio::use_awaitable, error));
    say_timeout(error);
  }

  asio::awaitable<void> handshake(error_code& error) override {
    error = {};
    co_return;
  }

  asio::awaitable<void> shutdown() override {
    error_code ignored;
    boost::beast::get_lowest_layer(inner).socket().shutdown(asio::socket_base::shutdown_send,
                                                            ignored);
    co_return;
  }

  void expires_after(milliseconds limit) override {
    auto& lowest = boost::beast::get_lowest_layer(inner);
    if (limit.count() > 0)
      lowest.expires_after(limit);
    else
      lowest.expires_never();
  }

  Inner inner;

 protected:
  static void say_timeout(error_code& error) {
    if (error == boost::beast::error::timeout) error = asio::error::timed_out;
  }
};

using TcpStream = StreamOf<boost::beast::tcp_stream>;
using UnixStream = StreamOf<boost::beast::basic_stream<asio::local::stream_protocol>>;

// In tls.cc: a TLS handshake as the client over the connected `socket`.
asio::awaitable<Result<StreamPtr>> dial_tls(Url url, asio::ip::tcp::socket socket,
                                            TlsContextPtr tls, milliseconds limit);

}  // namespace fairlead::io
