// A connection, whatever carries it: TCP, a unix socket or TLS.
//
// One virtual call per read or write hides the carrier, so that what speaks HTTP is compiled once.
// A deadline set with expires_after() holds for the reads and writes begun after it; one that has
// passed ends the read or write with asio::error::timed_out, and the stream is of no more use.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <memory>
#include <string>

#include "base/result.h"
#include "io/asio.h"
#include "io/url.h"

namespace fairlead::io {

class Stream {
 public:
  virtual ~Stream() = default;

  // Returns how many bytes came; 0 with asio::error::eof at the end.
  virtual asio::awaitable<size_t> read_some(asio::mutable_buffer into, error_code& error) = 0;
  // Writes all of both.
  virtual asio::awaitable<void> write(asio::const_buffer first, asio::const_buffer second,
                                      error_code& error) = 0;
  virtual asio::awaitable<void> handshake(error_code& error) = 0;  // TLS: as the server
  virtual asio::awaitable<void> shutdown() = 0;        // says that nothing more will be written
  virtual void expires_after(milliseconds limit) = 0;  // 0: never
};
using StreamPtr = std::unique_ptr<Stream>;

class TlsContext;
using TlsContextPtr = std::shared_ptr<TlsContext>;

struct TlsOptions {
  std::string ca_file;    // who may vouch for the server; empty: the system's list
  std::string cert_file;  // our own certificate and key (PEM), where one is asked for
  std::string key_file;
  bool verify = true;  // the server's certificate and name
};

// Both fail with tls-config.
Result<TlsContextPtr> make_tls_client(const TlsOptions& options);
Result<TlsContextPtr> make_tls_server(const TlsOptions& options);

StreamPtr make_stream(asio::ip::tcp::socket socket);
StreamPtr make_stream(asio::local::stream_protocol::socket socket);
StreamPtr make_stream(asio::ip::tcp::socket socket, TlsContextPtr tls);

// Connects to where `url` points, TLS handshake included; `tls` null: the default client context.
// Fails with net-refused, net-timeout, net-name-unknown, net-unreachable, net-not-allowed,
// tls-refused.
asio::awaitable<Result<StreamPtr>> dial(Url url, TlsContextPtr tls, milliseconds limit);

// The diagnostic for `error` met while talking to `who`; its code is one of dial's.
Diagnostic net_problem(const std::string& who, const error_code& error);

}  // namespace fairlead::io
