#include "io/http_server.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/event_channel.h"
#include "io/http_client.h"
#include "io/testing.h"

namespace fairlead::io {
namespace {

using namespace std::chrono_literals;

// Answers with what it was asked, so that a test can see both sides.
HttpResponse echo(const HttpRequest& request) {
  if (request.path == "/throw") throw std::runtime_error("a mistake");
  if (request.path == "/large")
    return make_response(200, "text/plain", std::string(3'000'000, 'x'));
  if (request.path == "/etag") return with_etag(request, make_response(200, "text/plain", "same"));
  if (request.path == "/none") return make_response(404, "text/plain", "nothing here");
  std::string text = request.method + " " + request.path + " q=" + request.query +
                     " body=" + std::to_string(request.body.size());
  if (request.peer.uid) text += " uid=" + std::to_string(*request.peer.uid);
  return make_response(200, "text/plain", text);
}

struct Collected {
  std::string text;
  bool ended = false;
};

// Sends bytes as they are and collects what comes back until the server closes.
asio::awaitable<void> collect(Url url, std::string bytes, Collected* into) {
  auto stream = co_await dial(url, nullptr, 5000ms);
  if (!stream) co_return;
  error_code error;
  const auto out = asio::buffer(bytes);
  co_await (*stream)->write(out, {}, error);
  std::string block(4096, '\0');
  const auto room = asio::buffer(block);
  (*stream)->expires_after(10'000ms);
  while (!error) {
    const size_t count = co_await (*stream)->read_some(room, error);
    into->text += block.substr(0, count);
  }
  if (error != asio::error::eof) into->text += " [" + error.message() + "]";
  into->ended = true;
}

class HttpServerTest : public testing::Test {
 protected:
  void start(HttpServerOptions options = {}, HttpHandler handler = echo) {
    server = std::make_unique<HttpServer>(io, std::move(handler), options);
    const auto where = server->listen("127.0.0.1:0");
    ASSERT_TRUE(where) << to_text(where.error());
    base = *parse_url("http://" + *where);
  }
  Result<HttpResponse> get(const std::string& path, HttpOptions options = {}) {
    return run(io, http_get(url_below(base, path), std::move(options)));
  }
  void send(const std::string& bytes, Collected& into) { spawn(io, collect(base, bytes, &into)); }

  asio::io_context io{1};
  std::unique_ptr<HttpServer> server;
  Url base;
};

TEST_F(HttpServerTest, AnswersTheHandlersWords) {
  start();
  const auto response = get("/a%20b+1?x=1", {.method = "POST", .body = "12345"});
  ASSERT_TRUE(response) << to_text(response.error());
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->header("content-type"), "text/plain");
  EXPECT_EQ(response->body, "POST /a b+1 q=x=1 body=5");
  EXPECT_EQ(get("/large")->body.size(), 3'000'000u);
  EXPECT_EQ(get("/throw")->status, 500);
  EXPECT_EQ(get("/none")->status, 404);
}

TEST_F(HttpServerTest, HeadAndNotModifiedHaveNoBody) {
  start();
  const auto head = get("/large", {.method = "HEAD"});
  ASSERT_TRUE(head);
  EXPECT_EQ(head->header("Content-Length"), "3000000");
  EXPECT_EQ(head->body, "");
  const std::string etag(get("/etag")->header("ETag"));
  const auto again = get("/etag", {.headers = {{"If-None-Match", etag}}});
  EXPECT_EQ(again->status, 304);
  EXPECT_EQ(again->body, "");
}

struct RawRow {
  std::string_view name;
  std::string bytes;
  std::vector<std::string_view> want;  // stand in the answer, in this order
  bool closed_silently = false;
};

const RawRow kRawRows[] = {
    {.name = "several requests on one connection, sent at once",
     .bytes = "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\nConnection: "
              "close\r\n\r\n",
     .want =
         {
             "GET /1",
             "GET /2",
         }},
    {.name = "HTTP/1.0 is closed after its answer",
     .bytes = "GET /1 HTTP/1.0\r\n\r\n",
     .want = {"Connection: close", "GET /1"}},
    {.name = "a chunked body",
     .bytes = "POST /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: "
              "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
     .want = {"POST /c q= body=3"}},
    {.name = "a client that wants to be asked for its body",
     .bytes = "POST /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: "
              "100-continue\r\nContent-Length: 3\r\n\r\nabc",
     .want = {"body=3"}},
    {.name = "garbage",
     .bytes = "\x16\x03\x01garbage\r\n\r\n",
     .want = {"HTTP/1.1 400 Bad Request", "Connection: close"}},
    {.name = "a header that is too large",
     .bytes = "GET / HTTP/1.1\r\nX: " + std::string(5000, 'x') + "\r\n\r\n",
     .want = {"431 Request Header Fields Too Large"}},
    {.name = "a body that is said to be too large",
     .bytes =
         "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n" + std::string(50'000, 'x'),
     .want = {"413 Content Too Large"}},
    {.name = "two lengths",
     .bytes = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: "
              "chunked\r\n\r\n0\r\n\r\nGET /2 HTTP/1.1\r\nConnection: close\r\n\r\n",
     .want = {"400 Bad Request"}},
    {.name = "half a request", .bytes = "GET / HT", .closed_silently = true},
};

TEST_F(HttpServerTest, TakesOddClientsAsTheyAre) {
  start({.header_max = 4096, .body_max = 1000, .idle = 300ms, .request = 300ms});
  for (const RawRow& row : kRawRows) {
    SCOPED_TRACE(row.name);
    Collected collected;
    send(row.bytes, collected);
    run_until(io, [&] { return collected.ended; });
    const std::string& answer = collected.text;
    size_t at = 0;
    for (const std::string_view want : row.want) {
      at = answer.find(want, at);
      EXPECT_NE(at, answer.npos) << want << " in " << answer;
    }
    if (row.closed_silently) {
      EXPECT_EQ(answer, "");
    }
  }
}

TEST_F(HttpServerTest, AHandlersHeaderCannotSplitTheAnswer) {
  start({}, [](const HttpRequest&) {
    HttpResponse response = make_response(200, "text/plain", "x");
    response.headers.push_back({"Location", "a\r\nSet-Cookie: b"});
    return response;
  });
  const auto response = get("/");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->header("Set-Cookie"), "");
}

TEST_F(HttpServerTest, UnixSocketKnowsItsPeerAndReplacesADeadOne) {
  const TemporaryFolder folder;
  start();
  const std::string address = "unix:" + (folder / "s");
  {
    HttpServer dead(io, echo);
    ASSERT_TRUE(dead.listen(address));
    struct stat info{};
    ASSERT_EQ(::stat((folder / "s").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0660u);
    EXPECT_EQ(server->listen(address).error().code, "listen-in-use");
    ASSERT_EQ(::link((folder / "s").c_str(), (folder / "kept").c_str()), 0);
  }
  io.poll();
  ASSERT_FALSE(std::filesystem::exists(folder / "s"));     // a good end takes its socket along
  std::filesystem::rename(folder / "kept", folder / "s");  // a crash would have left it
  ASSERT_TRUE(server->listen(address));
  const auto response = run(io, http_get(*parse_url(address)));
  ASSERT_TRUE(response) << to_text(response.error());
  EXPECT_EQ(response->body, "GET / q= body=0 uid=" + std::to_string(::getuid()));
}

struct ListenRow {
  std::string_view name, address, want;
};

constexpr ListenRow kListenRows[] = {
    {.name = "no port", .address = "127.0.0.1", .want = "listen-bad"},
    {.name = "a port that is none", .address = "127.0.0.1:http", .want = "listen-bad"},
    {.name = "too large a port", .address = "127.0.0.1:70000", .want = "listen-bad"},
    {.name = "an address of another machine", .address = "192.0.2.1:0", .want = "listen-failed"},
    {.name = "a relative socket", .address = "unix:run/x", .want = "listen-bad"},
    {.name = "a socket in no folder", .address = "unix:/no/such/folder/x", .want = "listen-failed"},
    {.name = "a file in the socket's place",
     .address = "unix:/etc/passwd",
     .want = "listen-in-use"},
};

TEST_F(HttpServerTest, SaysWhyItCannotListen) {
  start();
  for (const ListenRow& row : kListenRows) {
    SCOPED_TRACE(row.name);
    const auto where = server->listen(std::string(row.address));
    ASSERT_FALSE(where);
    EXPECT_EQ(where.error().code, row.want);
    EXPECT_FALSE(where.error().hint.empty());
  }
  EXPECT_EQ(server->listen("127.0.0.1:" + base.port).error().code, "listen-in-use");
}

TEST_F(HttpServerTest, EventsAreStreamedResumedAndEndedByStop) {
  const auto channel = std::make_shared<EventChannel>();
  start({.heartbeat = 5ms}, [channel](const HttpRequest&) {
    HttpResponse response;
    response.events = channel;
    return response;
  });
  channel->publish(1, "a", "one");
  channel->publish(2, "a", "two");
  Collected fresh, resumed;
  send("GET / HTTP/1.1\r\nHost: x\r\n\r\n", fresh);
  send("GET /?last_event_id=1 HTTP/1.1\r\nHost: x\r\n\r\n", resumed);
  run_until(io, [&] { return channel->readers() == 2; });
  channel->publish(3, "b", "three");
  run_until(io, [&] { return fresh.text.contains("three") && resumed.text.contains("three"); });
  run_until(io, [&] { return fresh.text.contains(":\n\n"); });  // a heartbeat
  run(io, server->stop(10s));
  run_until(io, [&] { return fresh.ended && resumed.ended; });
  EXPECT_EQ(server->connections(), 0u);
  EXPECT_FALSE(fresh.text.contains("two"));
  EXPECT_TRUE(fresh.text.contains("id: 3\nevent: b\ndata: three\n\n"));
  EXPECT_TRUE(fresh.text.ends_with("0\r\n\r\n"));  // a good end, for a client that counts
  EXPECT_FALSE(resumed.text.contains("one"));
  EXPECT_TRUE(resumed.text.contains("id: 2\nevent: a\ndata: two\n\n"));
}

TEST_F(HttpServerTest, StopClosesTheIdleAndThenTheSlow) {
  start();
  Collected idle, slow;
  send("GET / HTTP/1.1\r\nHost: x\r\n\r\n", idle);
  send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab", slow);
  run_until(io, [&] { return server->connections() == 2; });
  for (int turn = 0; turn < 20; ++turn) io.poll();  // both requests are read as far as they go
  ASSERT_FALSE(idle.ended || slow.ended);
  run(io, server->stop(20ms));
  run_until(io, [&] { return idle.ended && slow.ended; });
  EXPECT_TRUE(idle.text.contains("200 OK"));
  EXPECT_FALSE(slow.text.contains("200 OK"));
  EXPECT_EQ(server->connections(), 0u);
  EXPECT_EQ(get("/").error().code, "net-refused");
}

TEST_F(HttpServerTest, ANewcomerTakesTheOldestIdlePlace) {
  start({.connections_max = 2});
  std::vector<Collected> ends(3);
  for (auto& end : ends) send("GET / HTTP/1.1\r\nHost: x\r\n\r\n", end);
  run_until(io, [&] { return ends[0].ended; });
  EXPECT_TRUE(ends[0].text.contains("200 OK"));
  EXPECT_EQ(get("/")->status, 200);
}

TEST_F(HttpServerTest, OutlastsAWantOfDescriptors) {
  start();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit tight{.rlim_cur = 200, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  std::vector<int> fillers;
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) fillers.push_back(fd);
  // Room for three: a client, the server's side of it, and one more client without a side.
  for (int i = 0; i < 3; ++i) {
    ::close(fillers.back());
    fillers.pop_back();
  }
  Collected first, second;
  send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n", first);
  run_until(io, [&] { return server->connections() == 1; });
  send("GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", second);
  run_until(io, [&] { return second.ended; });  // the idle one made room
  EXPECT_TRUE(first.ended);
  EXPECT_TRUE(second.text.contains("200 OK")) << second.text;
  for (const int fd : fillers) ::close(fd);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace fairlead::io
