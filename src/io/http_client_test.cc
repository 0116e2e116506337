#include "io/http_client.h"

#include <boost/asio/ip/tcp.hpp>

#include "io/child.h"
#include "io/file.h"
#include "io/http_server.h"
#include "io/testing.h"

namespace fairlead::io {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

// A server that answers every connection with the same bytes, whatever it is asked.
class FixedServer {
 public:
  FixedServer(asio::io_context& io, std::string bytes, bool close = true)
      : acceptor_(io, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
        bytes_(std::move(bytes)),
        close_(close) {
    spawn(io, serve());
  }
  Url url() const {
    return *parse_url("http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()));
  }

 private:
  asio::awaitable<void> serve() {
    while (true) {
      tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
      auto stream = make_stream(std::move(socket));
      error_code error;
      std::string asked(64 << 10, '\0');
      const auto room = asio::buffer(asked);
      co_await stream->read_some(room, error);
      const auto out = asio::buffer(bytes_);
      if (!bytes_.empty()) co_await stream->write(out, {}, error);
      if (close_)
        co_await stream->shutdown();
      else
        kept_.push_back(std::move(stream));
    }
  }
  tcp::acceptor acceptor_;
  std::string bytes_;
  bool close_;
  std::vector<StreamPtr> kept_;
};

struct AnswerRow {
  std::string_view name, bytes;
  std::string_view want_body = "", want_code = "";
  bool close = true;
};

constexpr AnswerRow kAnswerRows[] = {
    {.name = "a length",
     .bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
     .want_body = "ok"},
    {.name = "chunks",
     .bytes =
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\n\r\n",
     .want_body = "ok"},
    {.name = "an end by closing", .bytes = "HTTP/1.0 200 OK\r\n\r\nok", .want_body = "ok"},
    {.name = "an end before its length",
     .bytes = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
     .want_code = "net-cut-short"},
    {.name = "an end between chunks",
     .bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n",
     .want_code = "net-cut-short"},
    {.name = "nothing", .bytes = "", .want_code = "net-cut-short"},
    {.name = "silence", .bytes = "", .want_code = "net-timeout", .close = false},
    {.name = "a stop in the middle",
     .bytes = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
     .want_code = "net-timeout",
     .close = false},
    {.name = "another protocol", .bytes = "SSH-2.0-OpenSSH_9.2\r\n", .want_code = "http-bad"},
    {.name = "too much, as it says",
     .bytes = "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
     .want_code = "http-too-large"},
    {.name = "too much, in chunks",
     .bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
              "chunked\r\n\r\n20\r\n0123456789abcdef0123456789abcdef\r\n",
     .want_code = "http-too-large"},
};

TEST(HttpClient, TakesOddServersAsTheyAre) {
  for (const AnswerRow& row : kAnswerRows) {
    SCOPED_TRACE(row.name);
    asio::io_context io(1);
    const FixedServer server(io, std::string(row.bytes), row.close);
    const auto response =
        run(io, http_get(server.url(), {.body_max = 20, .limit = row.close ? 5000ms : 50ms}));
    if (row.want_code.empty()) {
      ASSERT_TRUE(response) << to_text(response.error());
      EXPECT_EQ(response->body, row.want_body);
    } else {
      ASSERT_FALSE(response);
      EXPECT_EQ(response.error().code, row.want_code) << to_text(response.error());
      EXPECT_FALSE(response.error().hint.empty());
      EXPECT_TRUE(response.error().message.starts_with(server.url().shown()))
          << response.error().message;
    }
  }
}

TEST(HttpClient, SaysWhoIsNotThere) {
  asio::io_context io(1);
  tcp::acceptor closed(io, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
  const std::string port = std::to_string(closed.local_endpoint().port());
  closed.close();
  const auto refused = run(io, http_get(*parse_url("http://127.0.0.1:" + port)));
  EXPECT_EQ(refused.error().code, "net-refused");
  EXPECT_EQ(run(io, http_get(*parse_url("unix:/no/such/socket"))).error().code, "net-refused");
  EXPECT_EQ(run(io, http_get(*parse_url("unix:/" + std::string(200, 'x')))).error().code,
            "net-unreachable");
  const std::string code =
      run(io, http_get(*parse_url("http://no-such-host.invalid"), {.limit = 3000ms})).error().code;
  EXPECT_TRUE(code == "net-name-unknown" || code == "net-timeout") << code;
}

struct StatusRow {
  int status;
  std::string_view body, want_code, want_message;
};

constexpr StatusRow kStatusRows[] = {
    {401, "", "http-login", "http://prom answers 401 Unauthorized"},
    {503, "", "http-busy", "http://prom answers 503 Service Unavailable"},
    {302, "", "http-status", "http://prom answers 302 Found and points to 'https://login'"},
    {422, "bad\nquery", "http-status", "http://prom answers 422 Unprocessable Content: bad query"},
};

TEST(HttpClient, TurnsAStatusIntoACure) {
  const Url url = *parse_url("http://ana:secret@prom");
  for (const StatusRow& row : kStatusRows) {
    HttpResponse response = make_response(row.status, "text/plain", std::string(row.body));
    response.headers.push_back({"Location", "https://login"});
    const auto result = expect_ok(url, response);
    EXPECT_EQ(result.error().code, row.want_code);
    EXPECT_EQ(result.error().message, row.want_message);
    EXPECT_FALSE(result.error().hint.empty());
  }
  EXPECT_TRUE(expect_ok(url, make_response(204, "", "")));
}

TEST(Credentials, ComeFromFiles) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "secret", "s3cret\n"));
  ASSERT_TRUE(write_file(folder / "bad", "two\nlines"));
  EXPECT_TRUE(authorization({})->empty());
  EXPECT_EQ(authorization({.bearer_file = folder / "secret"})->front().value, "Bearer s3cret");
  EXPECT_EQ(authorization({.user = "ana", .password_file = folder / "secret"})->front().value,
            "Basic " + base64("ana:s3cret"));
  EXPECT_EQ(authorization({.bearer_file = folder / "none"}).error().code, "secret-unreadable");
  EXPECT_EQ(authorization({.bearer_file = folder / "bad"}).error().code, "secret-unreadable");
}

TEST(Tls, TrustsAKnownAuthorityAndTheRightName) {
  asio::io_context io(1);
  const TemporaryFolder folder;
  const auto made =
      run(io, run_program({.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                                    "-keyout", folder / "key.pem", "-out", folder / "cert.pem"}}));
  if (!made) GTEST_SKIP() << "no certificate could be made: " << made.error().message;
  const auto server_tls =
      make_tls_server({.cert_file = folder / "cert.pem", .key_file = folder / "key.pem"});
  ASSERT_TRUE(server_tls);
  HttpServer server(io, [](const HttpRequest&) {
    return make_response(200, "text/plain", std::string(300'000, 'x'));
  });
  const auto where = server.listen("127.0.0.1:0", *server_tls);
  ASSERT_TRUE(where);
  const std::string port = where->substr(where->rfind(':'));
  const auto knows = make_tls_client({.ca_file = folder / "cert.pem"});
  ASSERT_TRUE(knows);

  const auto good = run(io, http_get(*parse_url("https://localhost" + port), {.tls = *knows}));
  ASSERT_TRUE(good) << to_text(good.error());
  EXPECT_EQ(good->body.size(), 300'000u);
  const auto wrong_name =
      run(io, http_get(*parse_url("https://127.0.0.1" + port), {.tls = *knows}));
  ASSERT_FALSE(wrong_name);
  EXPECT_EQ(wrong_name.error().code, "tls-refused");
  EXPECT_EQ(wrong_name.error().hint, "use the name that stands in its certificate");
  const auto stranger = run(io, http_get(*parse_url("https://localhost" + port)));
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code, "tls-refused");
  EXPECT_TRUE(stranger.error().message.contains("self-signed")) << stranger.error().message;
  EXPECT_FALSE(run(io, http_get(*parse_url("http://localhost" + port), {.limit = 2000ms})));
  const FixedServer plain(io, "HTTP/1.1 400 Bad Request\r\n\r\n");
  const auto no_tls =
      run(io, http_get(*parse_url("https://127.0.0.1:" + plain.url().port), {.tls = *knows}));
  ASSERT_FALSE(no_tls);
  EXPECT_EQ(no_tls.error().hint, "is it http:// rather than https://?");
  EXPECT_EQ(make_tls_client({.ca_file = folder / "none"}).error().code, "tls-config");
}

}  // namespace
}  // namespace fairlead::io
