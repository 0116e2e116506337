#include "adapters/prometheus/prometheus_source.h"

#include <fmt/format.h>

#include "adapters/prometheus/testing.h"
#include "io/child.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/http_server.h"
#include "io/testing.h"

namespace fairlead::prometheus {
namespace {

using io::HttpRequest;
using io::HttpResponse;
using io::milliseconds;

constexpr Instant kNow = instant_of_seconds(1'796'025'600);

HttpResponse json(std::string body, int status = 200) {
  return io::make_response(status, "application/json", std::move(body));
}

// A Prometheus in a nutshell, whose every answer a test may replace.
struct Fake {
  Instant time = kNow;
  std::string names = R"(["up","DCGM_FI_DEV_GPU_UTIL","DCGM_FI_DEV_FB_USED"])";
  std::function<HttpResponse(const std::string& query)> answer = [](const std::string&) {
    return matrix("");
  };
  std::vector<std::string> queries;

  static HttpResponse matrix(const std::string& series) {
    return json(R"({"status":"success","data":{"resultType":"matrix","result":[)" + series + "]}}");
  }
  static std::string series(std::string_view metric, int gpu, std::string_view values) {
    return fmt::format(
        R"({{"metric":{{"__name__":"{}","gpu":"{}","Hostname":"n0"}},"values":[{}]}})", metric, gpu,
        values);
  }
  HttpResponse operator()(const HttpRequest& request) {
    if (request.path == "/api/v1/label/__name__/values")
      return json(R"({"status":"success","data":)" + names + "}");
    const std::string query = request.param("query").value_or("");
    const std::string seconds = std::to_string(floor_seconds(time));
    if (query == "time()")
      return json(fmt::format(
          R"({{"status":"success","data":{{"resultType":"scalar","result":[{0},"{0}"]}}}})",
          seconds));
    queries.push_back(query + "@" + request.param("time").value_or("now"));
    return answer(query);
  }
};

class PrometheusSourceTest : public testing::Test {
 protected:
  PrometheusSourceTest()
      : server(io_, [this](const HttpRequest& request) {
          return override_ ? override_(request) : fake(request);
        }) {
    address = *io::parse_url("http://" + *server.listen("127.0.0.1:0"));
  }
  Polled poll(PrometheusSource& source) {
    Polled polled;
    const bool ok = io::run(io_, source.poll(directory(1), polled.into()));
    EXPECT_EQ(ok, polled.ended.ok);
    return polled;
  }
  Polled poll_once() {
    PrometheusSource source({.url = address, .limit = milliseconds(300), .answer_max = 100'000},
                            [this] { return now; });
    return poll(source);
  }

  io::asio::io_context io_{1};
  Fake fake;
  io::HttpHandler override_;
  Instant now = kNow;
  io::HttpServer server;
  io::Url address;
};

TEST_F(PrometheusSourceTest, AsksForRawSamplesOfOneMoment) {
  fake.answer = [](const std::string& query) {
    const bool util = query.starts_with("DCGM_FI_DEV_GPU_UTIL");
    return Fake::matrix(
        util ? Fake::series("DCGM_FI_DEV_GPU_UTIL", 3, R"([1796025570,"50"],[1796025585,"60"])")
             : Fake::series("DCGM_FI_DEV_FB_USED", 3, R"([1796025570,"100"],[1796025585,"200"])"));
  };
  const Polled polled = poll_once();
  EXPECT_TRUE(polled.ended.ok) << polled.ended.detail;
  EXPECT_EQ(polled.ended.detail, "");
  EXPECT_EQ(fake.queries, (std::vector<std::string>{"DCGM_FI_DEV_GPU_UTIL{}[300s]@1796025598.000",
                                                    "DCGM_FI_DEV_FB_USED{}[300s]@1796025598.000"}));
  ASSERT_EQ(polled.samples.size(), 2u);
  EXPECT_EQ(polled.samples[1], (DeviceSample{.node = "n0",
                                             .index = 3,
                                             .at = instant_of_seconds(1'796'025'585),
                                             .utilisation_ppm = 600'000,
                                             .memory_used_mib = 200}));
}

TEST_F(PrometheusSourceTest, HandsEachLookOnOnceAndReachesBackToTheLastPoll) {
  std::string values = R"([1796025570,"50"],[1796025585,"60"])";
  fake.names = R"(["DCGM_FI_DEV_GPU_UTIL"])";
  fake.answer = [&](const std::string&) {
    return Fake::matrix(Fake::series("DCGM_FI_DEV_GPU_UTIL", 0, values));
  };
  PrometheusSource source({.url = address}, [this] { return now; });
  EXPECT_EQ(poll(source).samples.size(), 2u);
  now = fake.time = kNow + seconds(30);
  values = R"([1796025585,"60"],[1796025600,"70"])";
  EXPECT_EQ(poll(source).samples.size(), 1u);
  EXPECT_EQ(fake.queries.back(), "DCGM_FI_DEV_GPU_UTIL{}[50s]@1796025628.000");
  EXPECT_EQ(poll(source).samples.size(), 0u);
}

TEST_F(PrometheusSourceTest, SilenceIsAFailureOnlyOnceItLasts) {
  std::string values = R"([1796025585,"60"])";
  fake.names = R"(["DCGM_FI_DEV_GPU_UTIL"])";
  fake.answer = [&](const std::string&) {
    return Fake::matrix(Fake::series("DCGM_FI_DEV_GPU_UTIL", 0, values));
  };
  PrometheusSource source({.url = address}, [this] { return now; });
  EXPECT_TRUE(poll(source).ended.ok);
  values = "";
  now = fake.time = kNow + seconds(100);
  EXPECT_TRUE(poll(source).ended.ok);  // it may be scraped less often than we look
  now = fake.time = kNow + seconds(160);
  const Polled silent = poll(source);
  EXPECT_FALSE(silent.ended.ok);
  EXPECT_TRUE(silent.ended.detail.contains("no GPU samples for 2m30s")) << silent.ended.detail;
}

TEST_F(PrometheusSourceTest, ALargeFleetComesInPieces) {
  fake.names = R"(["DCGM_FI_DEV_GPU_UTIL"])";
  fake.answer = [&](const std::string&) {
    std::string all;
    for (int i = 0; i < 5000; ++i) {
      all += fmt::format(
          R"({}{{"metric":{{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"{}","Hostname":"g{}"}},"values":[[1796025590,"1"]]}})",
          i == 0 ? "" : ",", i % 8, i / 8);
    }
    return Fake::matrix(all);
  };
  PrometheusSource source({.url = address}, [this] { return now; });
  const Polled polled = poll(source);
  EXPECT_TRUE(polled.ended.ok);
  EXPECT_EQ(polled.samples.size(),
            5000u);  // of hosts that nobody knows, which is the engine's to judge
  EXPECT_EQ(polled.events, 2u);
}

struct FaultRow {
  std::string_view name;
  io::HttpHandler handler;
  std::string_view want;  // stands in the detail
};

const FaultRow kFaultRows[] = {
    {.name = "a login page",
     .handler =
         [](const HttpRequest&) {
           return io::make_response(200, "text/html", "<html>log in</html>");
         },
     .want = "a login before it"},
    {.name = "a redirect",
     .handler =
         [](const HttpRequest&) {
           HttpResponse response = io::make_response(302, "text/html", "");
           response.headers.push_back({"Location", "https://sso.example"});
           return response;
         },
     .want = "points to 'https://sso.example'"},
    {.name = "no rights",
     .handler = [](const HttpRequest&) { return json("", 401); },
     .want = "bearer token"},
    {.name = "another program",
     .handler = [](const HttpRequest&) { return json("{\"version\":7}"); },
     .want = "is this the address of a Prometheus"},
    {.name = "it starts",
     .handler =
         [](const HttpRequest&) {
           return io::make_response(503, "text/plain", "Service Unavailable");
         },
     .want = "starting or overloaded"},
    {.name = "nothing there",
     .handler = [](const HttpRequest&) { return json("", 404); },
     .want = "is the path right?"},
    {.name = "an endless answer",
     .handler = [](const HttpRequest&) { return json(std::string(200'000, ' ')); },
     .want = "answers with more than"},
    {.name = "an empty answer",
     .handler = [](const HttpRequest&) { return json(""); },
     .want = "the answer is empty"},
};

TEST_F(PrometheusSourceTest, NeverTakesAFaultForZeros) {
  for (const FaultRow& row : kFaultRows) {
    SCOPED_TRACE(row.name);
    override_ = row.handler;
    const Polled polled = poll_once();
    EXPECT_FALSE(polled.ended.ok);
    EXPECT_TRUE(polled.samples.empty());
    EXPECT_TRUE(polled.ended.detail.contains(row.want)) << polled.ended.detail;
  }
}

TEST_F(PrometheusSourceTest, SaysWhatIsMissing) {
  fake.names = R"(["up"])";
  EXPECT_TRUE(poll_once().ended.detail.contains("none of the GPU metrics"));
  fake.names = R"(["DCGM_FI_DEV_GPU_UTIL"])";
  EXPECT_TRUE(poll_once().ended.detail.contains("no GPU samples for 2m30s"))
      << poll_once().ended.detail;
  EXPECT_FALSE(poll_once().ended.ok);
}

TEST_F(PrometheusSourceTest, OneMetricThatFailsLeavesTheOthers) {
  fake.answer = [](const std::string& query) {
    if (query.starts_with("DCGM_FI_DEV_FB"))
      return json(R"({"status":"error","errorType":"execution","error":"too many samples"})", 422);
    return Fake::matrix(Fake::series("DCGM_FI_DEV_GPU_UTIL", 0, R"([1796025585,"60"])"));
  };
  const Polled polled = poll_once();
  EXPECT_FALSE(polled.ended.ok);
  EXPECT_EQ(polled.samples.size(), 1u);
  EXPECT_EQ(polled.ended.detail,
            "DCGM_FI_DEV_FB_USED: it refuses the query: too many samples (raise its "
            "--query.max-samples, or look more often)");
}

TEST_F(PrometheusSourceTest, AClockThatIsOffIsNamed) {
  fake.answer = [](const std::string&) {
    return Fake::matrix(
        Fake::series("DCGM_FI_DEV_GPU_UTIL", 0, R"([1796025585,"60"],[1796026585,"60"])"));
  };
  fake.time = kNow + seconds(1000);
  Polled polled = poll_once();
  EXPECT_FALSE(polled.ended.ok);
  EXPECT_TRUE(polled.ended.detail.contains("'s clock is 16m40s ahead of ours"))
      << polled.ended.detail;
  EXPECT_EQ(polled.samples.size(), 1u);
  EXPECT_EQ(polled.ended.unreadable, 2);  // from the future, once for each metric's query
  fake.time = kNow - seconds(60);
  polled = poll_once();
  EXPECT_TRUE(polled.ended.ok);
  EXPECT_TRUE(polled.ended.detail.contains("1m behind ours")) << polled.ended.detail;
}

TEST_F(PrometheusSourceTest, SilenceAndAbsenceEndInTime) {
  io::asio::ip::tcp::acceptor silent(
      io_, {io::asio::ip::make_address("127.0.0.1"), 0});  // the system accepts for it
  address.port = std::to_string(silent.local_endpoint().port());
  Polled polled = poll_once();
  EXPECT_FALSE(polled.ended.ok);
  EXPECT_TRUE(polled.ended.detail.contains("did not answer in time")) << polled.ended.detail;
  silent.close();
  polled = poll_once();
  EXPECT_FALSE(polled.ended.ok);
  EXPECT_TRUE(polled.ended.detail.contains("refuses the connection (does it run"))
      << polled.ended.detail;
}

// The real thing, started on a free port and scraping a page of ours.
TEST_F(PrometheusSourceTest, ReadsARealPrometheus) {
  const io::TemporaryFolder folder;
  int scrapes = 0;
  io::HttpServer exporter(io_, [&](const HttpRequest&) {
    ++scrapes;
    return io::make_response(
        200, "text/plain; version=0.0.4",
        "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n0\"} 97\n"
        "DCGM_FI_DEV_FB_USED{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n0\"} 1234\n"
        "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n0\"} NaN\n");
  });
  const std::string target = *exporter.listen("127.0.0.1:0");
  ASSERT_TRUE(
      io::write_file(folder / "prometheus.yml",
                     fmt::format("global: {{scrape_interval: 1s}}\nscrape_configs:\n- job_name: "
                                 "dcgm\n  static_configs: [{{targets: ['{}']}}]\n",
                                 target)));
  std::string port;
  {
    io::HttpServer probe(io_, nullptr);
    port = *probe.listen(
        "127.0.0.1:0");  // free when it goes; another taking it meanwhile shows as a failed start
  }
  io_.poll();
  std::optional<io::ChildExit> exit;
  io::ChildOptions options{.argv = {"prometheus", "--config.file=" + (folder / "prometheus.yml"),
                                    "--storage.tsdb.path=" + (folder / "data"),
                                    "--web.listen-address=" + port, "--log.level=warn"}};
  options.on_exit = [&](const io::ChildExit& ended) { exit = ended; };
  const auto child = io::Child::start(io_, std::move(options));
  if (!child) GTEST_SKIP() << "no real Prometheus here: " << child.error().message;

  io::Clock clock;
  PrometheusSource source({.url = *io::parse_url("http://" + port), .settle = Duration{200'000}},
                          [&] { return clock.now(); });
  Polled first;
  io::run_until(io_, [&] { return scrapes >= 2 || exit; });
  ASSERT_FALSE(exit) << exit->to_text();
  const auto until_ok = [](PrometheusSource& from, Polled& into,
                           size_t samples) -> io::asio::awaitable<void> {
    do {
      into = {};
      co_await io::sleep_for(
          milliseconds(100));  // between looks; how many it takes does not matter
      co_await from.poll(directory(1), into.into());
    } while (into.samples.size() < samples);
  };
  io::run(io_, until_ok(source, first, 1));
  EXPECT_TRUE(first.ended.ok) << first.ended.detail;
  EXPECT_EQ(first.samples[0].node, "n0");
  EXPECT_EQ(first.samples[0].index, 0);
  EXPECT_EQ(first.samples[0].utilisation_ppm, 970'000);
  EXPECT_EQ(first.samples[0].memory_used_mib, 1234);
  EXPECT_EQ(first.samples[0].sm_active_ppm, -1);
  EXPECT_GE(first.ended.unreadable, 1);  // the NaN
  Polled second;
  io::run(io_, until_ok(source, second, 1));
  EXPECT_GT(second.samples.front().at, first.samples.back().at);
}

}  // namespace
}  // namespace fairlead::prometheus
