// One connection of a server, from its first byte to its last. For http_server.cc alone.
#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <vector>

#include "io/http_server.h"

namespace fairlead::io {

struct Connection {
  asio::cancellation_signal cancel;
  bool idle = true;                          // waits for a request
  asio::steady_timer* event_wait = nullptr;  // an event stream that has nothing to send
};

// What the sessions and the server share; it lives as long as the last of them.
struct ServerShared {
  ServerShared(asio::io_context& context, HttpHandler answer, HttpServerOptions limits)
      : io(context), handler(std::move(answer)), options(limits), drained(context) {}

  asio::io_context& io;
  HttpHandler handler;
  HttpServerOptions options;
  std::list<Connection> connections;
  asio::steady_timer drained;  // cancelled when the last connection goes
  bool stopping = false;
};

// `me` is valid until the session ends.
asio::awaitable<void> run_session(std::shared_ptr<ServerShared> server, StreamPtr stream, Peer peer,
                                  Connection* me);

}  // namespace fairlead::io
