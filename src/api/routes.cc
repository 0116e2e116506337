#include "api/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "api/answers.h"
#include "api/assets.h"
#include "api/route_table.h"
#include "base/words.h"
#include "codec/event_json.h"
#include "codec/json.h"
#include "core/belonging.h"
#include "explain/simulate.h"
#include "views/comparison.h"
#include "views/fabric_view.h"
#include "views/ledger_view.h"
#include "views/placement_view.h"
#include "views/teams_view.h"
#include "views/window.h"
#include "views/workloads_view.h"

namespace fairlead {
namespace {

constexpr size_t kRecentMax = 1000;

template <class View>
io::HttpResponse json_of(const View& view) {
  return io::make_response(200, "application/json", json::to_json(view, json::Style::view) + "\n");
}

// Parameters were checked by query_problem() before a route reads them.
size_t number_of(const io::HttpRequest& request, const char* name, size_t otherwise, size_t most) {
  const auto text = request.param(name);
  size_t value = otherwise;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return std::min(value, most);
}

Instant begin_of(const io::HttpRequest& request, const char* name, Instant now) {
  return since_of(request.param(name).value_or(""), now).value_or(Instant{});
}

// Whether a browser was led here by a name that is not this machine's (DNS rebinding).
bool foreign_host(const io::HttpRequest& request) {
  if (request.peer.address == "unix") return false;
  std::string_view host = request.header("Host");
  if (host.starts_with("[::1]")) return false;
  host = host.substr(0, host.find(':'));
  return !host.empty() && host != "localhost" && !host.starts_with("127.");
}

io::HttpResponse asset(const io::HttpRequest& request) {
  const std::string_view path =
      request.path == "/" ? "/index.html" : std::string_view(request.path);
  for (const Asset& a : assets()) {
    if (a.path != path) continue;
    const bool gzip =
        !a.gzip.empty() && request.header("Accept-Encoding").find("gzip") != std::string_view::npos;
    io::HttpResponse response = io::make_response(200, a.type, std::string(gzip ? a.gzip : a.raw));
    if (gzip) response.headers.push_back({"Content-Encoding", "gzip"});
    response.headers.push_back({"Vary", "Accept-Encoding"});
    response.headers.push_back({"X-Content-Type-Options", "nosniff"});
    response.headers.push_back({"Content-Security-Policy",
                                "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
                                "'self'; connect-src 'self'; "
                                "frame-ancestors 'none'"});
    // What lies below /assets/ has a hash of its content in its name.
    const bool hashed = path.starts_with("/assets/");
    response.headers.push_back(
        {"Cache-Control", hashed ? "public, max-age=31536000, immutable" : "no-cache"});
    return response;
  }
  return problem(404, "not-found",
                 fmt::format("nothing is at {}; the API is below /v1", request.path));
}

// What a stranger may ask about: amounts that a cluster could have, texts that are read in no time.
Result<void> check_asked(const Job& job) {
  constexpr int64_t kMost = 1'000'000;
  constexpr size_t kTextMax = 4096;
  const JobRequest& r = job.request;
  const auto within = [](const char* what, int64_t value, int64_t least,
                         int64_t most) -> Result<void> {
    if (value >= least && value <= most) return {};
    return fail("job-bad", fmt::format("{} is {}: from {} to {}", what, value, least, most));
  };
  const std::tuple<const char*, int64_t, int64_t, int64_t> amounts[] = {
      {"devices.per_node", r.devices.per_node, 0, 1024},
      {"devices.per_task", r.devices.per_task, 0, 1024},
      {"devices.total", r.devices.total, 0, kMost},
      {"devices.share_milli", r.devices.share_milli, 0, 1000},
      {"nodes_min", r.nodes_min, 0, kMost},
      {"nodes_max", r.nodes_max, 0, kMost},
      {"cpus", r.cpus, 0, 1000 * kMost},
      {"cpus_per_node", r.cpus_per_node, 0, kMost},
      {"memory_per_node_mb", r.memory_per_node_mb, 0, int64_t{1} << 40},
      {"memory_per_cpu_mb", r.memory_per_cpu_mb, 0, int64_t{1} << 40},
      {"tasks", r.tasks, 0, 1000 * kMost},
      {"time_limit_s", r.time_limit_s, -1, int64_t{10} * 366 * 86'400},
      {"switches", r.switches, 0, kMost}};
  for (const auto& [what, value, least, most] : amounts)
    if (auto good = within(what, value, least, most); !good) return good;
  for (const std::string* text : {&job.partition, &r.features, &r.nodes_required, &r.nodes_excluded,
                                  &r.licences, &r.dependency, &job.reservation})
    if (text->size() > kTextMax)
      return fail("job-bad", fmt::format("a text of {} bytes: at most {}", text->size(), kTextMax));
  return {};
}

// The body of a question about a job: {"job":{…}}, as events state one.
Result<Job> job_of(const io::HttpRequest& request) {
  constexpr size_t kBodyMax = 64 << 10;
  if (request.body.size() > kBodyMax)
    return fail("job-bad",
                fmt::format("a job of {} bytes: at most {}", request.body.size(), kBodyMax));
  const auto event = read_event(request.body, json::Unknown::refused);
  if (!event) return std::unexpected(event.error());
  const Job* job = std::get_if<Job>(&event->what);
  if (job == nullptr) return fail("event-bad", "this is no job: {\"job\":{…}}");
  if (auto good = check_asked(*job); !good) return std::unexpected(good.error());
  return *job;
}

}  // namespace

io::HttpResponse problem(int status, const std::string& code, const std::string& detail) {
  const Problem body{.type = "about:blank",
                     .title = std::string(io::status_text(status)),
                     .status = status,
                     .detail = detail,
                     .code = code};
  return io::make_response(status, "application/problem+json",
                           json::to_json(body, json::Style::view) + "\n");
}

Api::Api(std::vector<ApiSite> sites, Instant started, std::string version)
    : sites_(std::move(sites)),
      version_(std::move(version)),
      started_(started),
      event_id_(static_cast<uint64_t>(started.us)),
      events_(std::make_shared<io::EventChannel>(4096, event_id_)) {}

void Api::publish(const std::string& site, const std::vector<Decision>& decisions) {
  metrics_.count(site, decisions);
  for (const Decision& d : decisions) {
    recent_.emplace_back(site, d);
    events_->publish(++event_id_, "decision", json::to_json(d, json::Style::view));
  }
  if (recent_.size() > 2 * kRecentMax) recent_.erase(recent_.begin(), recent_.end() - kRecentMax);
}

void Api::poll_ended(const std::string& site) {
  for (const ApiSite& s : sites_) {
    if (s.name == site) logs_[site].note(s.site->state());
  }
  if (events_->readers() == 0) return;
  std::string data = "{\"site\":";
  json::quote(data, site);
  events_->publish(++event_id_, "poll", data + "}");
}

const Site* Api::site_of(const io::HttpRequest& request) const {
  const auto name = request.param("site");
  for (const ApiSite& s : sites_) {
    if (!name || s.name == *name) return s.site;
  }
  return nullptr;
}

io::HttpResponse Api::answer(const io::HttpRequest& request) {
  const Route* asked = find_route(request.path);
  if (request.method != (asked == nullptr ? "GET" : asked->method)) {
    io::HttpResponse refused =
        asked != nullptr && asked->method == "POST"
            ? problem(405, "method", "a job is asked about by POST; nothing is written")
            : problem(405, "method", "everything is read-only: use GET");
    refused.headers.push_back(
        {"Allow", asked != nullptr && asked->method == "POST" ? "POST" : "GET, HEAD"});
    return refused;
  }
  if (foreign_host(request)) {
    return problem(403, "host", "ask for this machine by 127.0.0.1 or localhost");
  }
  const std::string& path = request.path;
  if (const Route* route = find_route(path)) {
    if (const auto wrong = query_problem(*route, request))
      return problem(400, wrong->code,
                     wrong->message + (wrong->hint.empty() ? "" : "; " + wrong->hint));
  }
  if (path == "/healthz") return io::make_response(200, "text/plain", "ok\n");
  if (path == "/readyz") return ready();
  if (path == "/metrics") {
    std::vector<const State*> states;
    for (const ApiSite& s : sites_) states.push_back(&s.site->state());
    return io::make_response(200, "text/plain; version=0.0.4; charset=utf-8",
                             metrics_.page(states));
  }
  if (path == "/v1/openapi.json")
    return with_etag(request,
                     io::make_response(200, "application/json", openapi_document(version_) + "\n"));
  if (path == "/v1/sites") return with_etag(request, sites());
  if (path == "/v1/events") {
    io::HttpResponse response;
    response.events = events_;
    return response;
  }
  if (!path.starts_with("/v1/")) return with_etag(request, asset(request));
  const Site* site = site_of(request);
  if (site == nullptr) {
    std::vector<std::string> names;
    for (const ApiSite& s : sites_) names.push_back(s.name);
    const std::string name = request.param("site").value_or("");
    return problem(404, "site-unknown",
                   fmt::format("no site '{}'; {}", name, hint_for_unknown(name, names)));
  }
  static constexpr std::pair<std::string_view, Handler> kRoutes[] = {
      {"/v1/report", &Api::report},       {"/v1/queue", &Api::queue},
      {"/v1/workloads", &Api::workloads}, {"/v1/fabric", &Api::fabric},
      {"/v1/ledger", &Api::ledger},       {"/v1/ledger/verify", &Api::ledger_check},
      {"/v1/decisions", &Api::decisions}, {"/v1/fabric/diff", &Api::fabric_diff},
      {"/v1/teams", &Api::teams},         {"/v1/suggestions", &Api::suggestions},
  };
  for (const auto& [route, handler] : kRoutes) {
    if (path == route) return with_etag(request, (this->*handler)(*site, request));
  }
  if (path == "/v1/simulate") return with_etag(request, simulated(*site, request));
  if (path == "/v1/place") return with_etag(request, placed(*site, request));
  constexpr std::string_view kWorkloads = "/v1/workloads/", kExplain = "/explain";
  if (path.starts_with(kWorkloads)) {
    std::string_view label = std::string_view(path).substr(kWorkloads.size());
    if (label.ends_with(kExplain)) label.remove_suffix(kExplain.size());
    return with_etag(request, explain(*site, label));
  }
  std::vector<std::string> known;
  for (const Route& route : routes()) known.emplace_back(route.path);
  const std::string nearest = nearest_word(path, known);
  return problem(404, "not-found",
                 fmt::format("no route {}; {}", path,
                             nearest.empty() ? "/v1/openapi.json lists them"
                                             : fmt::format("did you mean {}?", nearest)));
}

io::HttpResponse Api::report(const Site& site, const io::HttpRequest& request) {
  return json_of(
      report_of(site.state(), {.from = begin_of(request, "since", site.state().now),
                               .waiting_max = number_of(request, "waiting", 200, 10'000)}));
}

io::HttpResponse Api::queue(const Site& site, const io::HttpRequest& request) {
  return json_of(queue_of(site.state(), number_of(request, "limit", 500, 10'000)));
}

io::HttpResponse Api::teams(const Site& site, const io::HttpRequest&) {
  return json_of(teams_of(site.state()));
}

io::HttpResponse Api::workloads(const Site& site, const io::HttpRequest& request) {
  WorkloadFilter filter{.state = request.param("state").value_or(""),
                        .team = request.param("team").value_or(""),
                        .user = request.param("user").value_or(""),
                        .most = number_of(request, "limit", 500, 10'000),
                        .after = number_of(request, "cursor", 0, SIZE_MAX)};
  return json_of(workloads_of(site.state(), filter));
}

io::HttpResponse Api::explain(const Site& site, std::string_view label) {
  Explainer explainer(site.engine());
  const auto told = explainer.explain(label);
  if (told) return json_of(*told);
  return problem(404, "workload-unknown",
                 fmt::format("no workload {}: the scheduler does not list it, and we have not seen "
                             "it before",
                             label));
}

io::HttpResponse Api::fabric(const Site& site, const io::HttpRequest&) {
  return json_of(fabric_of(site.state()));
}

io::HttpResponse Api::fabric_diff(const Site& site, const io::HttpRequest& request) {
  const Instant now = site.state().now;
  const Instant to = begin_of(request, "to", now);
  const auto diff =
      logs_[site.state().site].between(begin_of(request, "from", now), to.known() ? to : now);
  return diff ? json_of(*diff)
              : problem(404, diff.error().code, diff.error().message + "; " + diff.error().hint);
}

io::HttpResponse Api::ledger(const Site& site, const io::HttpRequest& request) {
  return json_of(ledger_of(site.state(), begin_of(request, "since", site.state().now)));
}

io::HttpResponse Api::ledger_check(const Site& site, const io::HttpRequest&) {
  return json_of(check_ledger(site.engine()));
}

io::HttpResponse Api::decisions(const Site& site, const io::HttpRequest& request) {
  DecisionList list;
  const size_t most = number_of(request, "limit", 200, kRecentMax);
  for (auto it = recent_.rbegin(); it != recent_.rend() && list.decisions.size() < most; ++it) {
    if (it->first == site.state().site) list.decisions.push_back(it->second);
  }
  return json_of(list);
}

io::HttpResponse Api::suggestions(const Site& site, const io::HttpRequest& request) {
  const bool since = request.param("since").has_value();
  return json_of(comparison_of(
      site.state(), {.from = since ? begin_of(request, "since", site.state().now) : Instant{},
                     .kind = request.param("kind").value_or(""),
                     .team = request.param("team").value_or(""),
                     .most = number_of(request, "limit", 500, 10'000),
                     .after = number_of(request, "cursor", 0, SIZE_MAX)}));
}

io::HttpResponse Api::placed(const Site& site, const io::HttpRequest& request) {
  const auto label = request.param("workload");
  if (!label) {
    const auto job = job_of(request);
    return job ? json_of(placement_of(site.engine(), *job))
               : problem(400, job.error().code, job.error().message);
  }
  const auto told = placement_of(site.engine(), *label);
  if (told) return json_of(*told);
  return problem(404, "workload-unknown",
                 fmt::format("no workload {} waits: `fairlead queue` lists what does", *label));
}

io::HttpResponse Api::simulated(const Site& site, const io::HttpRequest& request) {
  const auto job = job_of(request);
  return job ? json_of(simulate(site.engine(), *job))
             : problem(400, job.error().code, job.error().message);
}

io::HttpResponse Api::sites() const {
  SiteList list{.version = version_, .started = started_, .sites = {}};
  for (const ApiSite& s : sites_) {
    const State& state = s.site->state();
    list.now = std::max(list.now, state.now);
    list.sites.push_back({.site = s.name,
                          .scheduler = "slurm",
                          .release = state.scheduler.release,
                          .stage = stage_of(state),
                          .as_of = state.now,
                          .scheduler_ok = state.source(Source::scheduler).ok,
                          .telemetry_ok = state.source(Source::telemetry).ok,
                          .gpus = state.fleet.present_devices(),
                          .store = s.store,
                          .journal_problem = s.site->journal_problem(),
                          .organisation = organisation_title(state),
                          .organisation_problem = s.site->organisation_problem(),
                          .sources = sources_of(state)});
  }
  return json_of(list);
}

io::HttpResponse Api::ready() const {
  std::string text;
  bool good = true;
  for (const ApiSite& s : sites_) {
    const SourceState& source = s.site->state().source(Source::scheduler);
    const bool ok = source.ok && s.site->journal_problem().empty();
    good = good && ok;
    text += fmt::format("{}: {}\n", s.name,
                        ok                                   ? "ok"
                        : !s.site->journal_problem().empty() ? s.site->journal_problem()
                        : source.known                       ? source.detail
                                                             : "no look at the scheduler yet");
  }
  return io::make_response(good ? 200 : 503, "text/plain", text);
}

}  // namespace fairlead
