// An HTTP/1.1 server on the one io thread.
//
// The handler turns a request into a response and must not block. A response that carries an
// EventChannel becomes a stream of server-sent events. Connections are kept alive, their number,
// the sizes and the times are limited, and a client that is slow or silent loses its connection.
//
//   HttpServer server(io, [&](const HttpRequest& request) { return views.answer(request); });
//   auto where = server.listen("unix:/run/fairlead.sock");   // or "127.0.0.1:0": tells the real
//   port … co_await server.stop(10s);   // no new requests, event streams end, answers in flight
//   finish
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "io/http.h"
#include "io/stream.h"

namespace fairlead::io {

struct HttpServerOptions {
  size_t connections_max = 1024;
  size_t header_max = 64 << 10;
  size_t body_max = 8 << 20;
  milliseconds idle{75'000};       // between requests
  milliseconds request{20'000};    // from the first byte to the whole request
  milliseconds write{20'000};      // a reader that takes nothing for so long is dropped
  milliseconds heartbeat{15'000};  // of an event stream; finds readers that are gone
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

class HttpServer {
 public:
  HttpServer(asio::io_context& io, HttpHandler handler, HttpServerOptions options = {});
  ~HttpServer();  // drops what is open; stop() is the polite way

  // May be called for several addresses. A unix socket gets mode 0660 and takes the place of one
  // that nobody answers on. Returns the address, with the port that was chosen where 0 was asked
  // for. Fails with listen-bad, listen-in-use, listen-not-allowed, listen-failed.
  Result<std::string> listen(const std::string& address, TlsContextPtr tls = nullptr);

  asio::awaitable<void> stop(milliseconds grace);

  size_t connections() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fairlead::io
