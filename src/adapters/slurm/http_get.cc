#include "adapters/slurm/http_get.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>

namespace fairlead::slurm {
namespace {

using Deadline = std::chrono::steady_clock::time_point;

// A socket that is closed at the end.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

bool wait_for(int fd, short what, Deadline until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          until - std::chrono::steady_clock::now())
                          .count();
    if (left <= 0) return false;
    pollfd watch{fd, what, 0};
    const int ready = poll(&watch, 1, static_cast<int>(left) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool connect_to(int fd, const sockaddr* address, socklen_t size, Deadline until) {
  if (connect(fd, address, size) == 0) return true;
  if (errno != EINPROGRESS && errno != EAGAIN) return false;
  if (!wait_for(fd, POLLOUT, until)) return errno = ETIMEDOUT, false;
  int error = 0;
  socklen_t error_size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size);
  errno = error;
  return error == 0;
}

int open_unix(const std::string& path, Deadline until) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return errno = ENAMETOOLONG, -1;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect_to(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address, until))
    return fd;
  const int error = errno;
  if (fd >= 0) close(fd);
  return errno = error, -1;
}

int open_tcp(const std::string& host, const std::string& port, Deadline until) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return errno = EHOSTUNREACH, -1;
  int fd = -1, error = EHOSTUNREACH;
  for (const addrinfo* at = found; at != nullptr && fd < 0; at = at->ai_next) {
    fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect_to(fd, at->ai_addr, at->ai_addrlen, until)) continue;
    error = errno;
    close(fd);
    fd = -1;
  }
  freeaddrinfo(found);
  return errno = error, fd;
}

struct Target {
  std::string unix_path;
  std::string host, port;
};
std::optional<Target> target_of(std::string_view url) {
  if (url.starts_with("unix:")) return Target{.unix_path = std::string(url.substr(5))};
  if (!url.starts_with("http://")) return std::nullopt;
  url.remove_prefix(7);
  while (url.ends_with('/')) url.remove_suffix(1);
  const size_t colon = url.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && url.find(']', colon) == std::string_view::npos;
  std::string host(has_port ? url.substr(0, colon) : url);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return std::nullopt;
  return Target{.host = std::move(host),
                .port = has_port ? std::string(url.substr(colon + 1)) : "6820"};
}

bool send_all(int fd, std::string_view text, Deadline until) {
  while (!text.empty()) {
    const ssize_t n = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (n > 0)
      text.remove_prefix(static_cast<size_t>(n));
    else if (n < 0 && errno == EAGAIN && wait_for(fd, POLLOUT, until))
      continue;
    else if (!(n < 0 && errno == EINTR))
      return false;
  }
  return true;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// The value of header `name` (in lower case) among `head`'s lines.
std::string header_of(std::string_view head, std::string_view name) {
  for (size_t from = head.find("\r\n"); from != std::string_view::npos;) {
    from += 2;
    const size_t end = head.find("\r\n", from);
    const std::string_view line =
        head.substr(from, end == std::string_view::npos ? end : end - from);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && lower(line.substr(0, colon)) == name) {
      std::string_view value = line.substr(colon + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      return lower(value);
    }
    from = end;
  }
  return {};
}

// Joins the chunks of `rest`. Nothing while the last one has not come.
Result<std::optional<std::string>> join_chunks(std::string_view rest) {
  std::string body;
  for (;;) {
    const size_t end = rest.find("\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    size_t size = 0;
    const auto [to, error] = std::from_chars(rest.data(), rest.data() + end, size, 16);
    if (error != std::errc{} || to == rest.data())
      return fail("http-bad-answer", "a chunk has no size");
    if (size == 0) return body;
    if (rest.size() - end - 2 < size || rest.size() - end - 2 - size < 2) return std::nullopt;
    body.append(rest.substr(end + 2, size));
    rest.remove_prefix(end + 2 + size + 2);
  }
}

}  // namespace

Result<std::optional<HttpAnswer>> parse_http(std::string_view bytes, bool closed) {
  const size_t head_end = bytes.find("\r\n\r\n");
  if (head_end == std::string_view::npos) {
    if (closed) return fail("http-bad-answer", "the answer was cut");
    return std::nullopt;
  }
  const std::string_view head = bytes.substr(0, head_end);
  const std::string_view rest = bytes.substr(head_end + 4);
  HttpAnswer answer;
  if (!head.starts_with("HTTP/1.") || head.size() < 12)
    return fail("http-bad-answer", "no HTTP answer");
  std::from_chars(head.data() + 9, head.data() + 12, answer.status);
  const std::string length = header_of(head, "content-length");
  if (header_of(head, "transfer-encoding").find("chunked") != std::string::npos) {
    auto body = join_chunks(rest);
    if (!body) return std::unexpected(body.error());
    if (!*body && closed) return fail("http-bad-answer", "the answer was cut");
    if (!*body) return std::nullopt;
    answer.body = std::move(**body);
    return answer;
  }
  if (!length.empty()) {
    size_t size = 0;
    const auto [to, error] = std::from_chars(length.data(), length.data() + length.size(), size);
    if (error != std::errc{}) return fail("http-bad-answer", "Content-Length is no number");
    if (rest.size() < size && closed) return fail("http-bad-answer", "the answer was cut");
    if (rest.size() < size) return std::nullopt;
    answer.body = rest.substr(0, size);
    return answer;
  }
  const bool no_body = answer.status == 204 || answer.status == 304;
  if (!no_body && !closed) return std::nullopt;
  if (!no_body) answer.body = rest;
  return answer;
}

Result<HttpAnswer> http_get(const HttpRequest& request) {
  const auto target = target_of(request.url);
  if (!target)
    return fail("http-url", "'" + request.url + "' is no address",
                "write unix:/path/of/socket or http://host:port");
  const Deadline until =
      std::chrono::steady_clock::now() + std::chrono::microseconds(request.timeout.us);
  const Socket socket(target->unix_path.empty() ? open_tcp(target->host, target->port, until)
                                                : open_unix(target->unix_path, until));
  const auto unreachable = [&](const char* what) {
    return fail("http-unreachable", request.url + ": " + what + ": " + std::strerror(errno),
                "check that slurmrestd runs there");
  };
  if (socket.fd() < 0) return unreachable("cannot connect");
  std::string text = "GET " + request.path +
                     " HTTP/1.1\r\nHost: " + (target->host.empty() ? "localhost" : target->host) +
                     "\r\nConnection: close\r\nAccept: application/json\r\n";
  for (const auto& [name, value] : request.headers) text += name + ": " + value + "\r\n";
  if (!send_all(socket.fd(), text + "\r\n", until)) return unreachable("cannot send");
  std::string bytes;
  for (size_t looked = 0;;) {
    if (!wait_for(socket.fd(), POLLIN, until)) {
      return fail("http-timeout", request.url + request.path + " gave no answer within " +
                                      std::to_string(whole_seconds(request.timeout)) + " s");
    }
    char buffer[65536];
    const ssize_t n = recv(socket.fd(), buffer, sizeof buffer, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return unreachable("cannot read");
    bytes.append(buffer, static_cast<size_t>(n));
    if (bytes.size() > request.body_max)
      return fail("http-bad-answer",
                  "the answer is larger than " + std::to_string(request.body_max) + " bytes");
    // A big body is looked at again only when it has doubled, at its end, or when it may be
    // complete.
    if (n > 0 && bytes.size() < 2 * looked && static_cast<size_t>(n) == sizeof buffer) continue;
    looked = bytes.size();
    auto answer = parse_http(bytes, n == 0);
    if (!answer) return std::unexpected(answer.error());
    if (*answer) return std::move(**answer);
  }
}

}  // namespace fairlead::slurm
