#include "io/listener.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/ip/v6_only.hpp>
#include <charconv>
#include <cstring>
#include <optional>

namespace fairlead::io {
namespace {

using asio::ip::tcp;
using asio::local::stream_protocol;

std::unexpected<Diagnostic> bad_address(const std::string& address) {
  return fail("listen-bad",
              fmt::format("cannot listen on '{}': no address", address.substr(0, 120)),
              "write it as unix:/run/fairlead.sock or 127.0.0.1:7077");
}

std::unexpected<Diagnostic> listen_failed(const std::string& address, const error_code& error) {
  if (error == asio::error::address_in_use) {
    return fail("listen-in-use",
                fmt::format("cannot listen on '{}': another program does", address),
                "stop it, or choose another address");
  }
  const bool forbidden = error == asio::error::access_denied ||
                         error == error_code(EROFS, boost::system::system_category()) ||
                         error == error_code(EPERM, boost::system::system_category());
  return fail(forbidden ? "listen-not-allowed" : "listen-failed",
              fmt::format("cannot listen on '{}': {}", address, error.message()),
              forbidden ? "may this user do so? ports below 1024 and /run are root's"
                        : "does the folder exist, and is the address one of this machine?");
}

std::optional<uint64_t> socket_inode(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return std::nullopt;
  return info.st_ino;
}

// True where something answers on the socket, or where that cannot be told.
bool answers(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), std::min(path.size(), sizeof name.sun_path - 1));
  const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name);
  const bool nobody = result != 0 && errno == ECONNREFUSED;
  ::close(fd);
  return !nobody;
}

std::optional<uint16_t> read_port(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

}  // namespace

Result<UnixListener> UnixListener::open(asio::io_context& io, const std::string& path) {
  const std::string address = "unix:" + path;
  struct stat info{};
  if (!path.starts_with('/') || path.size() >= sizeof(sockaddr_un::sun_path))
    return bad_address(address);
  if (::lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) {
      return fail("listen-in-use",
                  fmt::format("cannot listen on '{}': there is a file of another kind", address),
                  "move it away, or choose another path");
    }
    if (answers(path)) return listen_failed(address, asio::error::address_in_use);
    ::unlink(path.c_str());
  }
  error_code error;
  Acceptor acceptor(io);
  acceptor.open(stream_protocol(), error);
  if (!error) acceptor.bind(stream_protocol::endpoint(path), error);
  // Nobody can connect before listen(), so nobody meets the socket with another mode.
  if (!error && ::chmod(path.c_str(), 0660) != 0)
    error.assign(errno, boost::system::system_category());
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return listen_failed(address, error);
  return UnixListener(std::move(acceptor), path, socket_inode(path).value_or(0));
}

UnixListener::~UnixListener() {
  if (inode_ != 0 && socket_inode(path_) == inode_) ::unlink(path_.c_str());
}

Result<tcp::acceptor> open_tcp_listener(asio::io_context& io, const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == address.npos) return bad_address(address);
  const auto port = read_port(std::string_view(address).substr(colon + 1));
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.contains(':'))
    return bad_address(address);
  if (!port) return bad_address(address);

  error_code error;
  tcp::endpoint endpoint(tcp::v6(), *port);
  if (!host.empty()) {
    tcp::resolver resolver(io);  // at the start, once: a name server may take its time here
    const auto found = resolver.resolve(host, std::to_string(*port), tcp::resolver::passive, error);
    if (error || found.empty())
      return listen_failed(address, error ? error : asio::error::host_not_found);
    endpoint = found.begin()->endpoint();
  }
  tcp::acceptor acceptor(io);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && host.empty()) acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return listen_failed(address, error);
  return acceptor;
}

}  // namespace fairlead::io
