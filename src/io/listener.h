// Opening the sockets that a server listens on.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <string>

#include "base/result.h"
#include "io/asio.h"

namespace fairlead::io {

// A unix socket that is listened on; its file goes when this does, unless another took its place.
class UnixListener {
 public:
  using Acceptor = asio::local::stream_protocol::acceptor;

  // Mode 0660. Takes the place of a socket that nobody answers on.
  // Fails with listen-bad, listen-in-use, listen-failed.
  static Result<UnixListener> open(asio::io_context& io, const std::string& path);

  UnixListener(UnixListener&&) = default;
  UnixListener& operator=(UnixListener&&) = default;
  ~UnixListener();

  Acceptor acceptor;

 private:
  UnixListener(Acceptor opened, std::string path, uint64_t inode)
      : acceptor(std::move(opened)), path_(std::move(path)), inode_(inode) {}
  std::string path_;
  uint64_t inode_ = 0;
};

// `address` is "host:port" with a number or name for host, "[v6]:port", or ":port" for every
// address. Fails with listen-bad, listen-in-use, listen-failed.
Result<asio::ip::tcp::acceptor> open_tcp_listener(asio::io_context& io, const std::string& address);

}  // namespace fairlead::io
