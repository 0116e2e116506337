#include "io/stream.h"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "io/stream_impl.h"

namespace fairlead::io {
namespace {

using asio::ip::tcp;

// The system's resolver cannot be cancelled, so it answers into this and whoever asked waits for
// the timer: a name server that is silent costs the asker no more than its limit.
struct Lookup {
  explicit Lookup(const asio::any_io_executor& executor) : resolver(executor), done(executor) {}
  tcp::resolver resolver;
  asio::steady_timer done;
  std::optional<error_code> error;
  std::vector<tcp::endpoint> found;
};

asio::awaitable<std::vector<tcp::endpoint>> resolve(std::string host, std::string port,
                                                    milliseconds limit, error_code& error) {
  const auto executor = co_await asio::this_coro::executor;
  const auto address = asio::ip::make_address(host, error);
  if (!error) {
    co_return std::vector<tcp::endpoint>(
        1, tcp::endpoint(address, static_cast<uint16_t>(std::stoi(port))));
  }
  const auto lookup = std::make_shared<Lookup>(executor);
  lookup->resolver.async_resolve(
      host, port, [lookup](error_code failed, const tcp::resolver::results_type& results) {
        lookup->error = failed;
        for (const auto& entry : results) lookup->found.push_back(entry.endpoint());
        lookup->done.cancel();
      });
  lookup->done.expires_after(limit);
  error_code ignored;
  co_await lookup->done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  error = lookup->error.value_or(asio::error::host_not_found_try_again);
  co_return lookup->found;
}

asio::awaitable<Result<StreamPtr>> dial_unix(Url url, milliseconds limit) {
  const auto executor = co_await asio::this_coro::executor;
  auto stream = std::make_unique<UnixStream>(executor);
  error_code error = asio::error::name_too_long;
  if (url.unix_path.size() < 108) {
    const asio::local::stream_protocol::endpoint endpoint(url.unix_path);
    stream->expires_after(limit);
    co_await stream->inner.async_connect(endpoint,
                                         asio::redirect_error(asio::use_awaitable, error));
  }
  if (error) co_return std::unexpected(net_problem(url.shown(), error));
  co_return stream;
}

}  // namespace

Diagnostic net_problem(const std::string& who, const error_code& error) {
  struct Row {
    error_code error;
    std::string_view code, what, hint;
  };
  static const Row kRows[] = {
      {asio::error::connection_refused, "net-refused", "refuses the connection",
       "does it run, and is the port right?"},
      {error_code(ENOENT, boost::system::system_category()), "net-refused", "has no socket there",
       "does it run, and is the path right?"},
      {boost::beast::error::timeout, "net-timeout", "did not answer in time",
       "is it overloaded, or does a firewall drop the packets?"},
      {asio::error::timed_out, "net-timeout", "did not answer in time",
       "is it overloaded, or does a firewall drop the packets?"},
      {asio::error::host_not_found, "net-name-unknown", "has a name that nobody knows",
       "check the host name, or write the address"},
      {asio::error::host_not_found_try_again, "net-name-unknown",
       "has a name that could not be looked up", "is the name server reachable?"},
      {asio::error::access_denied, "net-not-allowed", "may not be opened by this user",
       "is the user in the socket's group?"},
      {asio::error::connection_reset, "net-cut-short", "broke the connection", "look into its log"},
      {asio::error::broken_pipe, "net-cut-short", "broke the connection", "look into its log"},
      {asio::error::eof, "net-cut-short", "closed the connection in the middle",
       "look into its log"},
  };
  for (const Row& row : kRows) {
    if (row.error == error)
      return {
          std::string(row.code), fmt::format("{} {}", who, row.what), {}, std::string(row.hint)};
  }
  return {"net-unreachable",
          fmt::format("{} cannot be reached: {}", who, error.message()),
          {},
          "check the address and the network"};
}

StreamPtr make_stream(tcp::socket socket) { return std::make_unique<TcpStream>(std::move(socket)); }

StreamPtr make_stream(asio::local::stream_protocol::socket socket) {
  return std::make_unique<UnixStream>(std::move(socket));
}

asio::awaitable<Result<StreamPtr>> dial(Url url, TlsContextPtr tls, milliseconds limit) {
  if (!url.unix_path.empty()) {
    auto stream = co_await dial_unix(url, limit);
    co_return stream;
  }
  const auto executor = co_await asio::this_coro::executor;
  const auto until = std::chrono::steady_clock::now() + limit;
  error_code error;
  const auto endpoints = co_await resolve(url.host, url.port, limit, error);
  if (error) co_return std::unexpected(net_problem(url.shown(), error));
  boost::beast::tcp_stream tcp_stream(executor);
  tcp_stream.expires_at(until);
  co_await tcp_stream.async_connect(endpoints, asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return std::unexpected(net_problem(url.shown(), error));
  auto socket = tcp_stream.release_socket();
  socket.set_option(tcp::no_delay(true), error);
  if (!url.tls) co_return make_stream(std::move(socket));
  const auto left =
      std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now());
  auto stream = co_await dial_tls(url, std::move(socket), tls, std::max(left, milliseconds(1)));
  co_return stream;
}

}  // namespace fairlead::io
