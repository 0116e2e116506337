#include "adapters/prometheus/prometheus_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "adapters/prometheus/query_answer.h"

namespace fairlead::prometheus {
namespace {

namespace asio = io::asio;

constexpr int kPollsPerNames = 40;  // new exporters are found within so many polls
constexpr Duration kSkewMax = seconds(300);
constexpr Duration kSkewNoted = seconds(30);

}  // namespace

PrometheusSource::PrometheusSource(PrometheusOptions options, std::function<Instant()> now)
    : options_(std::move(options)), now_(std::move(now)) {}

asio::awaitable<Result<std::string>> PrometheusSource::ask(std::string path_and_query) {
  auto secrets = io::authorization(options_.credentials);
  if (!secrets) co_return std::unexpected(secrets.error());
  io::HttpOptions http;
  http.headers = std::move(*secrets);
  http.headers.push_back({"Accept", "application/json"});
  http.body_max = options_.answer_max;
  http.limit = options_.limit;
  http.tls = options_.tls;
  const io::Url url = io::url_below(options_.url, path_and_query);
  auto response = co_await io::http_get(url, std::move(http));
  if (!response) co_return std::unexpected(response.error());
  // Refused queries come with a status of their own and say why in the body.
  const bool explains =
      (response->status == 400 || response->status == 422 || response->status == 503) &&
      response->body.starts_with('{');
  if (explains) co_return std::move(response->body);
  auto good = io::expect_ok(url, std::move(*response));
  if (!good) co_return std::unexpected(good.error());
  co_return std::move(good->body);
}

asio::awaitable<Result<std::string>> PrometheusSource::query(std::string expression, Instant at) {
  std::string path = "/api/v1/query?query=" + io::percent_encode(expression);
  if (at.known())
    path += fmt::format("&time={}.{:03}", floor_seconds(at), at.us % kMicrosPerSecond / 1000);
  auto answer = co_await ask(std::move(path));
  co_return answer;
}

// Its own time, since the samples bear it.
asio::awaitable<Result<Instant>> PrometheusSource::ask_time(PollOutcome& outcome) {
  auto answer = co_await query("time()", Instant{});
  if (!answer) co_return std::unexpected(answer.error());
  auto time = read_time(*answer);
  if (!time) {
    time.error().message = options_.url.shown() + ": " + time.error().message;
    co_return time;
  }
  const Duration ahead = *time - now_();
  const std::string skew =
      fmt::format("{}'s clock is {} {} ours (set both by NTP)", options_.url.shown(),
                  to_short_text({std::abs(ahead.us)}), ahead.us > 0 ? "ahead of" : "behind");
  if (std::abs(ahead.us) > kSkewMax.us)
    outcome.fail(skew);
  else if (std::abs(ahead.us) > kSkewNoted.us)
    outcome.add(skew);
  co_return time;
}

asio::awaitable<Result<void>> PrometheusSource::ask_names() {
  if (!metrics_.empty() && ++polls_since_names_ < kPollsPerNames) co_return Result<void>{};
  auto answer = co_await ask("/api/v1/label/__name__/values");
  if (!answer) co_return std::unexpected(answer.error());
  auto names = read_names(*answer);
  if (!names) co_return std::unexpected(names.error());
  std::erase_if(*names,
                [](const std::string& name) { return evidence::find_metric(name) == nullptr; });
  metrics_ = std::move(*names);
  polls_since_names_ = 0;
  if (!metrics_.empty()) co_return Result<void>{};
  co_return fail(
      "prometheus-no-gpus",
      fmt::format("{} has none of the GPU metrics that we know", options_.url.shown()),
      "let it scrape dcgm-exporter (port 9400) or another GPU exporter; see its page /targets");
}

asio::awaitable<void> PrometheusSource::ask_metrics(Instant until, evidence::Normaliser& normaliser,
                                                    PollOutcome& outcome) {
  Duration window = options_.first_window;
  if (last_until_.known())
    window.us = options_.slack.us + std::max<int64_t>(0, (until - last_until_).us);
  window = std::min(window, options_.window_max);
  const std::string selector =
      fmt::format("{{{}}}[{}s]", options_.matchers, std::max<int64_t>(1, whole_seconds(window)));
  MatrixCounts all;
  for (const std::string& metric : metrics_) {
    auto answer = co_await query(metric + selector, until);
    Result<MatrixCounts> counts =
        answer ? read_matrix(*answer, normaliser) : std::unexpected(answer.error());
    if (!counts) {
      outcome.fail(fmt::format("{}: {} ({})", metric, counts.error().message, counts.error().hint));
      if (!answer && answer.error().code.starts_with("net-"))
        co_return;  // the next would fare no better
      continue;
    }
    all.series += counts->series;
    all.points += counts->points;
    outcome.unreadable += counts->unreadable;
  }
  if (all.points > 0) last_heard_ = until;
  const bool silent = !last_heard_.known() || until - last_heard_ >= options_.silent_after;
  if (silent && outcome.ok) {
    outcome.fail(fmt::format(
        "{} has had no GPU samples for {} (are the exporters up? see its page /targets)",
        options_.url.shown(), to_short_text(options_.silent_after)));
  }
  if (outcome.ok) last_until_ = until;
}

asio::awaitable<bool> PrometheusSource::poll(NodesPtr nodes, Emit emit) {
  const Instant began = now_();
  PollOutcome outcome;
  emit_began(emit, began);
  evidence::Normaliser normaliser(*nodes, began);
  const auto time = co_await ask_time(outcome);
  Result<void> named;
  if (time) named = co_await ask_names();
  if (!time)
    outcome.fail(time.error());
  else if (!named)
    outcome.fail(named.error());
  else
    co_await ask_metrics(*time - options_.settle, normaliser, outcome);

  evidence::Normalised normalised = normaliser.finish();
  note_dropped(outcome, normalised.dropped);
  emit_samples(emit, began, std::move(normalised), delivered_);
  delivered_.forget_before(began - seconds(3600));
  const bool ok = outcome.ok;
  emit_ended(emit, now_(), std::move(outcome));
  co_return ok;
}

}  // namespace fairlead::prometheus
