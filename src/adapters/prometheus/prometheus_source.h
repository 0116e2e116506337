// GPU samples out of a Prometheus that the site already runs.
//
// One poll asks for the raw samples (a range selector in an instant query, so that the exporter's
// own time stamps come back) of each GPU metric that Prometheus has, one metric at a time: an
// answer for 80,000 devices is some 25 MB, and is read in one pass. All queries of a poll look at
// one moment, a little in the past by Prometheus's own clock, so that a scrape is seen whole. The
// window reaches back to the poll before and a slack beyond it; what was handed on before is left
// out.
#pragma once

#include <memory>

#include "adapters/prometheus/telemetry_events.h"
#include "io/http_client.h"

namespace fairlead::prometheus {

using NodesPtr = std::shared_ptr<const evidence::NodeDirectory>;

struct PrometheusOptions {
  io::Url url;           // its root: "/api/v1/query" is put behind it
  std::string matchers;  // narrows every query: cluster="alpha"
  io::Credentials credentials;
  io::TlsContextPtr tls;
  io::milliseconds limit{20'000};  // of each query
  size_t answer_max = size_t{512} << 20;
  Duration settle = seconds(2);  // a scrape takes that long to be stored
  Duration slack = seconds(20);  // for scrapes stored late
  Duration first_window =
      seconds(300);  // looks back, so that recent runs are seen from their start
  Duration window_max = seconds(900);
  Duration silent_after = seconds(150);  // without any sample for so long, something is wrong
};

class PrometheusSource {
 public:
  PrometheusSource(PrometheusOptions options, std::function<Instant()> now);

  // Emits poll_began, samples, poll_ended. Returns whether it went well; never throws for what
  // Prometheus does. One poll at a time; the source outlives it.
  io::asio::awaitable<bool> poll(NodesPtr nodes, Emit emit);

 private:
  io::asio::awaitable<Result<std::string>> ask(std::string path_and_query);
  io::asio::awaitable<Result<std::string>> query(std::string expression, Instant at);
  io::asio::awaitable<Result<Instant>> ask_time(PollOutcome& outcome);
  io::asio::awaitable<Result<void>> ask_names();
  io::asio::awaitable<void> ask_metrics(Instant until, evidence::Normaliser& normaliser,
                                        PollOutcome& outcome);

  PrometheusOptions options_;
  std::function<Instant()> now_;
  std::vector<std::string> metrics_;  // that it has and we know
  int polls_since_names_ = 0;
  Instant last_until_;  // end of the window of the last poll that went well, by its clock
  Instant last_heard_;  // end of the last window with samples in it
  Delivered delivered_;
};

}  // namespace fairlead::prometheus
