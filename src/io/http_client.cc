#include "io/http_client.h"

#include <fmt/format.h>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "io/file.h"

namespace fairlead::io {
namespace {

namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;
using Parser = http::response_parser<http::string_body>;

constexpr size_t kReadSize = 64 << 10;
constexpr uint32_t kHeaderMax = 64 << 10;

std::string request_head(const Url& url, const HttpOptions& options) {
  std::string head =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nUser-Agent: fairlead\r\n",
                  options.method, url.target, url.host_header());
  if (!url.userinfo.empty() && find_header(options.headers, "Authorization").empty()) {
    head += fmt::format("Authorization: Basic {}\r\n", base64(url.userinfo));
  }
  for (const Header& header : options.headers)
    head += fmt::format("{}: {}\r\n", header.name, header.value);
  if (options.method != "GET" && options.method != "HEAD")
    head += fmt::format("Content-Length: {}\r\n", options.body.size());
  return head + "\r\n";
}

milliseconds left_until(Clock::time_point until) {
  return std::max(std::chrono::duration_cast<milliseconds>(until - Clock::now()), milliseconds(1));
}

Diagnostic parse_problem(const Url& url, const HttpOptions& options, const error_code& error) {
  if (error == http::error::body_limit) {
    return {"http-too-large",
            fmt::format("{} answers with more than {} MiB", url.shown(), options.body_max >> 20),
            {},
            "is this the right address? ask for less, or raise the limit"};
  }
  if (error == http::error::partial_message || error == http::error::end_of_stream) {
    return net_problem(url.shown(), asio::error::eof);
  }
  return {"http-bad",
          fmt::format("{} does not answer in HTTP: {}", url.shown(), error.message()),
          {},
          "is the port right, and is it http rather than https?"};
}

// Feeds `parser` from `stream` until the message is whole. Sets `error` to what stopped it.
asio::awaitable<void> read_response(Stream& stream, Parser& parser, Clock::time_point until,
                                    error_code& error) {
  boost::beast::flat_buffer buffer(kReadSize + kHeaderMax);
  while (!parser.is_done()) {
    const auto room = buffer.prepare(kReadSize);
    stream.expires_after(left_until(until));
    const size_t count = co_await stream.read_some(room, error);
    if (error == asio::error::eof && parser.got_some()) {
      error = {};
      parser.put_eof(error);
    }
    if (error || count == 0) co_return;
    buffer.commit(count);
    while (buffer.size() != 0 && !parser.is_done()) {
      const size_t used = parser.put(buffer.data(), error);
      buffer.consume(used);
      if (error == http::error::need_more) {
        error = {};
        break;
      }
      if (error) co_return;
    }
    if (Clock::now() >= until && !parser.is_done()) {
      error = asio::error::timed_out;
      co_return;
    }
  }
}

HttpResponse to_response(Parser& parser) {
  auto message = parser.release();
  HttpResponse response;
  response.status = static_cast<int>(message.result_int());
  for (const auto& field : message) {
    const std::string_view name(field.name_string().data(), field.name_string().size());
    response.headers.push_back({std::string(name), std::string(field.value())});
  }
  response.body = std::move(message.body());
  return response;
}

}  // namespace

asio::awaitable<Result<HttpResponse>> http_get(Url url, HttpOptions options) {
  const auto until = Clock::now() + options.limit;
  auto dialled = co_await dial(url, options.tls, options.limit);
  if (!dialled) co_return std::unexpected(dialled.error());
  Stream& stream = **dialled;

  const std::string head = request_head(url, options);
  const auto head_buffer = asio::buffer(head);
  const auto body_buffer = asio::buffer(options.body);
  error_code error;
  stream.expires_after(left_until(until));
  co_await stream.write(head_buffer, body_buffer, error);
  // A server may refuse and close before it has read everything; its answer says why.
  if (error && error != asio::error::broken_pipe && error != asio::error::connection_reset) {
    co_return std::unexpected(net_problem(url.shown(), error));
  }

  Parser parser;
  parser.eager(true);
  parser.header_limit(kHeaderMax);
  parser.body_limit(options.body_max);
  parser.skip(options.method == "HEAD");
  error = {};
  co_await read_response(stream, parser, until, error);
  if (error && error.category() == make_error_code(http::error::bad_version).category()) {
    co_return std::unexpected(parse_problem(url, options, error));
  }
  if (error) co_return std::unexpected(net_problem(url.shown(), error));
  co_return to_response(parser);
}

Result<HttpResponse> expect_ok(const Url& url, HttpResponse response) {
  const int status = response.status;
  if (status >= 200 && status < 300) return response;
  const std::string said =
      fmt::format("{} answers {} {}", url.shown(), status, status_text(status));
  if (status == 401 || status == 403) {
    return fail("http-login", said,
                "give a bearer token or a user and password that may read there");
  }
  if (status >= 300 && status < 400) {
    return fail(
        "http-status",
        fmt::format("{} and points to '{}'", said, response.header("Location").substr(0, 200)),
        "is there a login page before it? write the address it points to, or one that needs no "
        "login");
  }
  if (status == 429 || status == 503)
    return fail("http-busy", said, "it is starting or overloaded; asked again later");
  std::string detail = response.body.substr(0, 200);
  std::ranges::replace_if(detail, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return fail("http-status", detail.empty() ? said : said + ": " + detail,
              status == 404 ? "is the path right? nothing is served there" : "look into its log");
}

Result<std::vector<Header>> authorization(const Credentials& credentials) {
  const std::string& file =
      credentials.bearer_file.empty() ? credentials.password_file : credentials.bearer_file;
  if (file.empty()) return std::vector<Header>{};
  auto secret = read_file(file, 64 << 10);
  if (!secret) {
    return fail("secret-unreadable", secret.error().message, "may this user read the file?");
  }
  while (!secret->empty() && static_cast<unsigned char>(secret->back()) <= ' ') secret->pop_back();
  if (secret->empty() ||
      std::ranges::any_of(*secret, [](char c) { return static_cast<unsigned char>(c) < ' '; })) {
    return fail("secret-unreadable", fmt::format("'{}' holds no single line with a secret", file),
                "write the secret alone into it");
  }
  const std::string value = credentials.bearer_file.empty()
                                ? "Basic " + base64(credentials.user + ":" + *secret)
                                : "Bearer " + *secret;
  return std::vector<Header>{{"Authorization", value}};
}

}  // namespace fairlead::io
