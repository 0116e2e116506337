// The HTTP API: reads of the live state, as JSON views.
//
// Every answer is a view (src/views, explain) in JSON, with an ETag; errors are problem documents
// (RFC 9457). Nothing here changes anything: no stage of this version writes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/metrics.h"
#include "io/event_channel.h"
#include "io/http.h"
#include "runtime/site.h"
#include "views/fabric_log.h"

namespace fairlead {

struct ApiSite {
  std::string name;
  Site* site = nullptr;
  std::string store;  // where its ledger is kept; empty: nowhere
};

class Api {
 public:
  Api(std::vector<ApiSite> sites, Instant started, std::string version = {});

  io::HttpResponse answer(const io::HttpRequest& request);

  Metrics& metrics() { return metrics_; }
  io::EventChannel& events() { return *events_; }
  void publish(const std::string& site, const std::vector<Decision>& decisions);
  void poll_ended(const std::string& site);  // tells listeners that there is something new to read

 private:
  using Handler = io::HttpResponse (Api::*)(const Site&, const io::HttpRequest&);
  const Site* site_of(const io::HttpRequest& request) const;
  io::HttpResponse report(const Site& site, const io::HttpRequest& request);
  io::HttpResponse queue(const Site& site, const io::HttpRequest& request);
  io::HttpResponse teams(const Site& site, const io::HttpRequest& request);
  io::HttpResponse suggestions(const Site& site, const io::HttpRequest& request);
  io::HttpResponse placed(const Site& site, const io::HttpRequest& request);
  io::HttpResponse simulated(const Site& site, const io::HttpRequest& request);
  io::HttpResponse workloads(const Site& site, const io::HttpRequest& request);
  io::HttpResponse explain(const Site& site, std::string_view label);
  io::HttpResponse fabric(const Site& site, const io::HttpRequest& request);
  io::HttpResponse fabric_diff(const Site& site, const io::HttpRequest& request);
  io::HttpResponse ledger(const Site& site, const io::HttpRequest& request);
  io::HttpResponse ledger_check(const Site& site, const io::HttpRequest& request);
  io::HttpResponse decisions(const Site& site, const io::HttpRequest& request);
  io::HttpResponse sites() const;
  io::HttpResponse ready() const;

  std::vector<ApiSite> sites_;
  std::string version_;
  Instant started_;
  std::map<std::string, FabricLog> logs_;  // by site
  Metrics metrics_;
  uint64_t event_id_;  // begins at the start time, so that ids rise over restarts
  std::shared_ptr<io::EventChannel> events_;
  std::vector<std::pair<std::string, Decision>> recent_;  // the newest last
};

io::HttpResponse problem(int status, const std::string& code, const std::string& detail);

}  // namespace fairlead
