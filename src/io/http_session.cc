#include "io/http_session.h"

#include <fmt/format.h>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "io/event_channel.h"
#include "io/url.h"

namespace fairlead::io {
namespace {

namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;
using Parser = http::request_parser<http::string_body>;
using Buffer = boost::beast::flat_buffer;
using SharedPtr = std::shared_ptr<ServerShared>;

constexpr size_t kReadSize = 16 << 10;

int refusal_status(const error_code& error) {
  if (error == http::error::body_limit) return 413;
  if (error == http::error::header_limit) return 431;
  return 400;
}

// Reads one request. Sets `refused` to the status to answer with, where it is no request.
// Returns false where there is nobody to answer.
asio::awaitable<bool> read_request(ServerShared& server, Stream& stream, Buffer& buffer,
                                   Parser& parser, Connection& me, int& refused) {
  error_code error;
  bool asked_to_go_on = false;
  stream.expires_after(server.options.idle);
  auto until = Clock::time_point::max();
  while (true) {
    if (buffer.size() != 0) {
      me.idle = false;
      const size_t used = parser.put(buffer.data(), error);
      buffer.consume(used);
      if (error && error != http::error::need_more) {
        refused = refusal_status(error);
        co_return true;
      }
      if (parser.is_done()) co_return true;
    }
    if (parser.is_header_done() && !asked_to_go_on &&
        parser.get()[http::field::expect] == "100-continue") {
      asked_to_go_on = true;
      static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
      const auto text = asio::buffer(kGoOn);
      co_await stream.write(text, {}, error);
      if (error) co_return false;
    }
    if (!me.idle && until == Clock::time_point::max())
      until = Clock::now() + server.options.request;
    if (!me.idle) {
      const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
      if (left.count() <= 0) co_return false;
      stream.expires_after(left);
    }
    const auto room = buffer.prepare(kReadSize);
    const size_t count = co_await stream.read_some(room, error);
    if (error || count == 0) co_return false;
    buffer.commit(count);
  }
}

HttpRequest to_request(Parser& parser, const Peer& peer) {
  auto message = parser.release();
  HttpRequest request;
  request.method = std::string(message.method_string());
  request.head = request.method == "HEAD";
  if (request.head) request.method = "GET";
  const std::string_view target(message.target().data(), message.target().size());
  const size_t question = target.find('?');
  request.path = percent_decode(target.substr(0, question));
  if (question != target.npos) request.query = target.substr(question + 1);
  for (const auto& field : message) {
    const std::string_view name(field.name_string().data(), field.name_string().size());
    request.headers.push_back({std::string(name), std::string(field.value())});
  }
  request.body = std::move(message.body());
  request.peer = peer;
  return request;
}

HttpResponse answer(const HttpHandler& handler, const HttpRequest& request) {
  try {
    return handler(request);
  } catch (const std::exception& escaped) {
    std::fprintf(stderr, "answering %s %s: %s\n", request.method.c_str(), request.path.c_str(),
                 escaped.what());
    return make_response(500, "text/plain", "this is our mistake; the server's log says more\n");
  }
}

std::string response_head(const HttpResponse& response, bool keep) {
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\n", response.status, status_text(response.status));
  for (const Header& header : response.headers) {
    // A line end inside a value would let a caller write headers of its own.
    if (header.value.find_first_of("\r\n") == std::string::npos)
      head += fmt::format("{}: {}\r\n", header.name, header.value);
  }
  if (response.status != 304 && response.status != 204)
    head += fmt::format("Content-Length: {}\r\n", response.body.size());
  return head + (keep ? "\r\n" : "Connection: close\r\n\r\n");
}

asio::awaitable<bool> write_response(ServerShared& server, Stream& stream, HttpResponse response,
                                     bool head_only, bool keep) {
  const std::string head = response_head(response, keep);
  const bool no_body = head_only || response.status == 304 || response.status == 204;
  const auto head_buffer = asio::buffer(head);
  const auto body_buffer = no_body ? asio::const_buffer{} : asio::buffer(response.body);
  error_code error;
  // The limit is for the whole answer, so a large one gets more of it.
  stream.expires_after(server.options.write + milliseconds(response.body.size() / 1000));
  co_await stream.write(head_buffer, body_buffer, error);
  co_return !error;
}

uint64_t first_cursor(const HttpRequest& request, const EventChannel& channel) {
  std::string seen(request.header("Last-Event-ID"));
  if (seen.empty()) seen = request.param("last_event_id").value_or("");
  if (seen.empty() || seen.size() > 19 || seen.find_first_not_of("0123456789") != seen.npos)
    return channel.last_id();
  return std::stoull(seen);
}

// Writes `text` as one piece of a chunked body.
asio::awaitable<bool> write_chunk(ServerShared& server, Stream& stream, std::string text) {
  const std::string size = fmt::format("{:x}\r\n", text.size());
  text += "\r\n";
  const auto size_buffer = asio::buffer(size);
  const auto text_buffer = asio::buffer(text);
  error_code error;
  stream.expires_after(server.options.write);
  co_await stream.write(size_buffer, text_buffer, error);
  co_return !error;
}

// Sends events until the reader goes or the server stops.
asio::awaitable<void> run_events(ServerShared& server, Stream& stream, Connection& me,
                                 std::shared_ptr<EventChannel> channel, uint64_t cursor) {
  static constexpr std::string_view kHead =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
      "X-Accel-Buffering: no\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  error_code error;
  const auto head = asio::buffer(kHead);
  stream.expires_after(server.options.write);
  co_await stream.write(head, {}, error);
  bool good = !error;
  if (good) good = co_await write_chunk(server, stream, "retry: 2000\n\n");
  asio::steady_timer timer(server.io);
  while (good && !server.stopping) {
    std::string text = channel->take_after(cursor);
    if (text.empty()) {
      timer.expires_after(server.options.heartbeat);
      const EventChannel::Waiting waiting(*channel, timer);
      me.event_wait = &timer;
      co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
      me.event_wait = nullptr;
      if (error || server.stopping) continue;
      text = ":\n\n";
    }
    good = co_await write_chunk(server, stream, std::move(text));
  }
  static constexpr std::string_view kEnd = "0\r\n\r\n";
  const auto end = asio::buffer(kEnd);
  if (good) co_await stream.write(end, {}, error);
}

// Reads on for a moment after a refusal: closing with unread bytes would make the system throw the
// answer away before the client has it.
asio::awaitable<void> linger(Stream& stream, Buffer& buffer) {
  error_code error;
  stream.expires_after(milliseconds(1000));
  for (int reads = 0; reads < 256 && !error; ++reads) {
    buffer.clear();
    const auto room = buffer.prepare(kReadSize);
    co_await stream.read_some(room, error);
  }
}

}  // namespace

asio::awaitable<void> run_session(SharedPtr server, StreamPtr stream, Peer peer, Connection* me) {
  error_code error;
  stream->expires_after(server->options.request);
  co_await stream->handshake(error);
  if (error) co_return;
  Buffer buffer;
  bool keep = true;
  while (keep) {
    Parser parser;
    parser.eager(true);
    parser.header_limit(static_cast<uint32_t>(server->options.header_max));
    parser.body_limit(server->options.body_max);
    me->idle = buffer.size() == 0;
    if (server->stopping && me->idle) break;
    int refused = 0;
    const bool good = co_await read_request(*server, *stream, buffer, parser, *me, refused);
    if (!good) co_return;
    if (refused != 0) {
      HttpResponse response = make_response(refused, "text/plain",
                                            fmt::format("{} {}\n", refused, status_text(refused)));
      co_await write_response(*server, *stream, std::move(response), false, false);
      co_await stream->shutdown();
      co_await linger(*stream, buffer);
      co_return;
    }
    keep = parser.get().keep_alive() && !server->stopping;
    const bool http10 = parser.get().version() < 11;
    const HttpRequest request = to_request(parser, peer);
    HttpResponse response = answer(server->handler, request);
    if (response.events && !http10 && !request.head) {
      const uint64_t cursor = first_cursor(request, *response.events);
      co_await run_events(*server, *stream, *me, response.events, cursor);
      break;
    }
    const bool written =
        co_await write_response(*server, *stream, std::move(response), request.head, keep);
    if (!written) co_return;
  }
  co_await stream->shutdown();
}

}  // namespace fairlead::io
