#include "adapters/prometheus/exporter_source.h"

#include <fmt/format.h>

#include "adapters/prometheus/testing.h"
#include "io/http_server.h"
#include "io/testing.h"

namespace fairlead::prometheus {
namespace {

using io::HttpRequest;
using io::milliseconds;

constexpr Instant kNow = instant_of_seconds(1'796'025'600);

class ExporterSourceTest : public testing::Test {
 protected:
  ExporterSourceTest()
      : server(io_, [this](const HttpRequest& request) { return answer(request); }) {
    base = "http://" + *server.listen("127.0.0.1:0");
  }
  io::HttpResponse answer(const HttpRequest& request) {
    most_at_once = std::max(most_at_once, server.connections());
    if (request.path == "/html") return io::make_response(200, "text/html", "<html>");
    if (request.path == "/none") return io::make_response(404, "text/plain", "");
    if (request.path == "/cpu") return io::make_response(200, "text/plain", "node_load1 3\n");
    if (request.path == "/odd")
      return io::make_response(200, "text/plain",
                               "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 5\nDCGM_FI_DEV_GPU_UTIL{gpu= 7\n");
    return io::make_response(200, "text/plain", "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\"} 42\n");
  }
  Polled poll(std::vector<std::string> urls, std::vector<std::string> nodes) {
    ExporterSource source({.urls = std::move(urls), .limit = milliseconds(2000), .side_by_side = 4},
                          [] { return kNow; });
    Polled polled;
    io::run(io_, source.poll(directory(50), std::move(nodes), polled.into()));
    return polled;
  }

  io::asio::io_context io_{1};
  size_t most_at_once = 0;
  io::HttpServer server;
  std::string base;
};

TEST_F(ExporterSourceTest, AsksEveryNodesPageAFewAtATime) {
  std::vector<std::string> nodes;
  for (int i = 0; i < 50; ++i) nodes.push_back("n" + std::to_string(i));
  const Polled polled = poll({base + "/{node}"}, nodes);
  EXPECT_TRUE(polled.ended.ok) << polled.ended.detail;
  ASSERT_EQ(polled.samples.size(), 50u);
  EXPECT_EQ(polled.samples[0],
            (DeviceSample{.node = "n0", .index = 1, .at = kNow, .utilisation_ppm = 420'000}));
  EXPECT_LE(most_at_once, 8u);  // four that are asked, and four that are about to close
}

struct PollRow {
  std::string_view name;
  std::vector<std::string> paths;
  bool want_ok = false;
  size_t want_samples = 0;
  int64_t want_unreadable = 0;
  std::string_view want_detail = "";
};

const PollRow kPollRows[] = {
    {.name = "one of two is missing",
     .paths = {"/n1", "/none"},
     .want_ok = true,
     .want_samples = 1,
     .want_unreadable = 1,
     .want_detail = "1 of 2 exporters gave no page"},
    {.name = "all are something else",
     .paths = {"/html", "/none"},
     .want_unreadable = 2,
     .want_detail = "a web page came instead of metrics (is the path /metrics"},
    {.name = "a page of another exporter",
     .paths = {"/cpu"},
     .want_detail = "none of the GPU metrics"},
    {.name = "a broken line is counted",
     .paths = {"/odd"},
     .want_ok = true,
     .want_samples = 1,
     .want_unreadable = 1},
    {.name = "nobody to ask", .paths = {}, .want_detail = "no exporter to ask"},
};

TEST_F(ExporterSourceTest, NamesWhoDidNotAnswer) {
  for (const PollRow& row : kPollRows) {
    SCOPED_TRACE(row.name);
    std::vector<std::string> urls;
    for (const std::string& path : row.paths) urls.push_back(base + path);
    const Polled polled = poll(urls, {});
    EXPECT_EQ(polled.ended.ok, row.want_ok);
    EXPECT_EQ(polled.samples.size(), row.want_samples);
    EXPECT_EQ(polled.ended.unreadable, row.want_unreadable);
    EXPECT_TRUE(polled.ended.detail.contains(row.want_detail)) << polled.ended.detail;
  }
}

TEST_F(ExporterSourceTest, WhoIsNotThereIsSaidWithTheCure) {
  const Polled polled = poll({"http://127.0.0.1:1/metrics", "not an address"}, {});
  EXPECT_FALSE(polled.ended.ok);
  EXPECT_TRUE(
      polled.ended.detail.contains("2 of 2 exporters gave no page: http://127.0.0.1:1/metrics "
                                   "refuses the connection (does it run"))
      << polled.ended.detail;
}

}  // namespace
}  // namespace fairlead::prometheus
