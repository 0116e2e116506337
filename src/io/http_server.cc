#include "io/http_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/http_session.h"
#include "io/listener.h"

namespace fairlead::io {
namespace {

using asio::ip::tcp;
using SharedPtr = std::shared_ptr<ServerShared>;

constexpr milliseconds kBackOff{50};  // when no descriptor is free

Peer peer_of(const tcp::socket& socket) {
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  return {.address = error ? "" : endpoint.address().to_string()};
}

Peer peer_of(asio::local::stream_protocol::socket& socket) {
  ucred who{};
  socklen_t size = sizeof who;
  Peer peer{.address = "unix"};
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) {
    peer.uid = who.uid;
    peer.gid = who.gid;
  }
  return peer;
}

void cancel_connections(ServerShared& server, bool also_busy) {
  for (Connection& connection : server.connections) {
    if (connection.event_wait != nullptr && !also_busy)
      connection.event_wait->cancel();
    else if (also_busy || connection.idle)
      connection.cancel.emit(asio::cancellation_type::terminal);
  }
}

// Makes room for a newcomer: the connection that has been idle longest goes. False where none is
// idle.
bool drop_one_idle(ServerShared& server) {
  for (Connection& connection : server.connections) {
    if (!connection.idle) continue;
    connection.idle = false;
    connection.cancel.emit(asio::cancellation_type::terminal);
    return true;
  }
  return false;
}

void start_session(const SharedPtr& server, StreamPtr stream, Peer peer) {
  const auto me = server->connections.emplace(server->connections.end());
  // Posted: a connection is not destroyed from inside its own completion.
  auto done = [server, me](const std::exception_ptr&) {
    asio::post(server->io, [server, me] {
      server->connections.erase(me);
      if (server->connections.empty()) server->drained.cancel();
    });
  };
  asio::co_spawn(server->io, run_session(server, std::move(stream), std::move(peer), &*me),
                 asio::bind_cancellation_slot(me->cancel.slot(), std::move(done)));
}

StreamPtr open_stream(tcp::socket socket, const TlsContextPtr& tls) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  return tls ? make_stream(std::move(socket), tls) : make_stream(std::move(socket));
}

StreamPtr open_stream(asio::local::stream_protocol::socket socket, const TlsContextPtr&) {
  return make_stream(std::move(socket));
}

// The acceptor is closed to end this; `owner` keeps it alive until then.
template <class Acceptor>
asio::awaitable<void> accept_loop(SharedPtr server, [[maybe_unused]] std::shared_ptr<void> owner,
                                  Acceptor* acceptor, TlsContextPtr tls) {
  asio::steady_timer back_off(server->io);
  while (acceptor->is_open()) {
    error_code error;
    if (server->connections.size() >= server->options.connections_max && !drop_one_idle(*server)) {
      error = asio::error::no_descriptors;
    }
    typename Acceptor::protocol_type::socket socket(server->io);
    if (!error)
      co_await acceptor->async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) co_return;
    if (error) {
      drop_one_idle(*server);
      back_off.expires_after(kBackOff);
      co_await back_off.async_wait(asio::use_awaitable);
      continue;
    }
    Peer peer = peer_of(socket);
    StreamPtr stream = open_stream(std::move(socket), tls);
    start_session(server, std::move(stream), std::move(peer));
  }
}

}  // namespace

struct HttpServer::State : ServerShared {
  using ServerShared::ServerShared;
  std::vector<std::shared_ptr<tcp::acceptor>> tcp_listeners;
  std::vector<std::shared_ptr<UnixListener>> unix_listeners;

  void close_listeners() {
    error_code ignored;
    for (const auto& listener : tcp_listeners) listener->close(ignored);
    for (const auto& listener : unix_listeners) listener->acceptor.close(ignored);
    tcp_listeners.clear();
    unix_listeners.clear();
  }
};

HttpServer::HttpServer(asio::io_context& io, HttpHandler handler, HttpServerOptions options)
    : state_(std::make_shared<State>(io, std::move(handler), options)) {}

HttpServer::~HttpServer() {
  state_->stopping = true;
  state_->close_listeners();
  cancel_connections(*state_, true);
}

Result<std::string> HttpServer::listen(const std::string& address, TlsContextPtr tls) {
  if (address.starts_with("unix:")) {
    auto opened = UnixListener::open(state_->io, address.substr(5));
    if (!opened) return std::unexpected(opened.error());
    const auto listener = std::make_shared<UnixListener>(std::move(*opened));
    state_->unix_listeners.push_back(listener);
    spawn(state_->io, accept_loop(SharedPtr(state_), listener, &listener->acceptor, nullptr));
    return address;
  }
  auto opened = open_tcp_listener(state_->io, address);
  if (!opened) return std::unexpected(opened.error());
  const auto listener = std::make_shared<tcp::acceptor>(std::move(*opened));
  state_->tcp_listeners.push_back(listener);
  const auto endpoint = listener->local_endpoint();
  spawn(state_->io, accept_loop(SharedPtr(state_), listener, listener.get(), std::move(tls)));
  return address.substr(0, address.rfind(':')) + ":" + std::to_string(endpoint.port());
}

asio::awaitable<void> HttpServer::stop(milliseconds grace) {
  const std::shared_ptr<State> state = state_;
  error_code ignored;
  state->stopping = true;
  state->close_listeners();
  cancel_connections(*state, false);
  if (!state->connections.empty()) {
    state->drained.expires_after(grace);
    co_await state->drained.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (state->connections.empty()) co_return;
  cancel_connections(*state, true);
  state->drained.expires_after(milliseconds(1000));
  co_await state->drained.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

size_t HttpServer::connections() const { return state_->connections.size(); }

}  // namespace fairlead::io
