// GPU samples straight from the exporters' own pages, for a site without a Prometheus.
//
// Pages are asked for side by side, up to a limit; each counts as looked at when it came. An
// exporter that does not answer costs its own devices a look, and is named in the poll's end.
#pragma once

#include "adapters/prometheus/prometheus_source.h"

namespace fairlead::prometheus {

struct ExporterOptions {
  std::vector<std::string> urls;  // in each, {node} stands for the name of every node asked for
  io::Credentials credentials;
  io::TlsContextPtr tls;
  io::milliseconds limit{5'000};  // of each page
  size_t page_max = 16 << 20;
  size_t side_by_side = 64;
};

class ExporterSource {
 public:
  ExporterSource(ExporterOptions options, std::function<Instant()> now);

  // As PrometheusSource::poll. `node_names` fill {node}: the nodes that have devices.
  io::asio::awaitable<bool> poll(NodesPtr nodes, std::vector<std::string> node_names, Emit emit);

 private:
  ExporterOptions options_;
  std::function<Instant()> now_;
  Delivered delivered_;
};

}  // namespace fairlead::prometheus
