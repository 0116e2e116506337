#include "adapters/prometheus/exporter_source.h"

#include <fmt/format.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace fairlead::prometheus {
namespace {

namespace asio = io::asio;

struct Page {
  std::string url;
  std::string node;  // whose page it is, where the address says so
};

std::vector<Page> list_pages(const std::vector<std::string>& urls,
                             const std::vector<std::string>& nodes) {
  static constexpr std::string_view kNode = "{node}";
  std::vector<Page> pages;
  for (const std::string& url : urls) {
    if (!url.contains(kNode)) {
      pages.push_back({url, std::string(evidence::bare_host(url))});
      continue;
    }
    for (const std::string& node : nodes) {
      std::string filled = url;
      for (size_t at = filled.find(kNode); at != filled.npos;
           at = filled.find(kNode, at + node.size()))
        filled.replace(at, kNode.size(), node);
      pages.push_back({std::move(filled), node});
    }
  }
  return pages;
}

// What the workers of one poll share; the last of them lets go of it.
struct Round {
  Round(const asio::any_io_executor& executor, NodesPtr known, Instant now, ExporterOptions wanted)
      : nodes(std::move(known)),
        normaliser(*nodes, now),
        options(std::move(wanted)),
        done(executor, asio::steady_timer::time_point::max()) {}
  NodesPtr nodes;
  evidence::Normaliser normaliser;
  ExporterOptions options;
  asio::steady_timer done;
  std::vector<Page> pages;
  std::vector<io::Header> secrets;
  std::function<Instant()> now;
  size_t next = 0;
  size_t workers = 0;
  int64_t failed = 0;  // pages
  int64_t bad_lines = 0;
  int64_t points = 0;  // of metrics that we know
  Diagnostic first_failure;
  std::string first_failed;

  void page_failed(const Page& page, const Diagnostic& diagnostic) {
    // The first in the order of the list, whichever ended first.
    if (failed++ == 0 || page.url < first_failed) {
      first_failed = page.url;
      first_failure = diagnostic;
    }
  }
};
using RoundPtr = std::shared_ptr<Round>;

void read_page(Round& round, const Page& page, std::string_view text) {
  const Instant came = round.now();
  const auto report = evidence::read_exposition(text, [&](const evidence::Point& point) {
    const auto series = round.normaliser.open(point.metric, point.labels, page.node);
    if (!series) return;
    round.normaliser.add(*series, point.at.value_or(came), point.value);
    ++round.points;
  });
  if (report) {
    round.bad_lines += report->bad_lines;
  } else {
    Diagnostic diagnostic = report.error();
    diagnostic.message = page.url + ": " + diagnostic.message;
    round.page_failed(page, diagnostic);
  }
}

asio::awaitable<Result<std::string>> get_page(RoundPtr round, std::string address) {
  const auto url = io::parse_url(address);
  if (!url) co_return std::unexpected(url.error());
  io::HttpOptions http;
  http.headers = round->secrets;
  http.headers.push_back({"Accept", "text/plain;version=0.0.4"});
  http.limit = round->options.limit;
  http.body_max = round->options.page_max;
  http.tls = round->options.tls;
  auto response = co_await io::http_get(*url, std::move(http));
  if (!response) co_return std::unexpected(response.error());
  auto good = io::expect_ok(*url, std::move(*response));
  if (!good) co_return std::unexpected(good.error());
  co_return std::move(good->body);
}

asio::awaitable<void> work(RoundPtr round) {
  while (round->next < round->pages.size()) {
    const Page& page = round->pages[round->next++];
    const auto text = co_await get_page(round, page.url);
    if (text)
      read_page(*round, page, *text);
    else
      round->page_failed(page, text.error());
  }
  if (--round->workers == 0) round->done.cancel();
}

void judge(const Round& round, PollOutcome& outcome) {
  outcome.unreadable += round.failed + round.bad_lines;
  if (round.failed > 0) {
    const std::string said =
        fmt::format("{} of {} exporters gave no page: {} ({})", round.failed, round.pages.size(),
                    round.first_failure.message, round.first_failure.hint);
    if (round.failed == static_cast<int64_t>(round.pages.size()))
      outcome.fail(said);
    else
      outcome.add(said);
  }
  if (outcome.ok && round.points == 0) {
    outcome.fail(
        "the exporters' pages hold none of the GPU metrics that we know (is it the GPU exporter's "
        "port? dcgm-exporter's is 9400)");
  }
}

}  // namespace

ExporterSource::ExporterSource(ExporterOptions options, std::function<Instant()> now)
    : options_(std::move(options)), now_(std::move(now)) {}

asio::awaitable<bool> ExporterSource::poll(NodesPtr nodes, std::vector<std::string> node_names,
                                           Emit emit) {
  const auto executor = co_await asio::this_coro::executor;
  const Instant began = now_();
  PollOutcome outcome;
  emit_began(emit, began);
  const auto round = std::make_shared<Round>(executor, nodes, began, options_);
  round->pages = list_pages(options_.urls, node_names);
  round->now = now_;
  auto secrets = io::authorization(options_.credentials);
  if (!secrets) {
    outcome.fail(secrets.error());
  } else if (round->pages.empty()) {
    outcome.fail(
        "there is no exporter to ask (name its address, or wait for the scheduler's nodes)");
  } else {
    round->secrets = std::move(*secrets);
    round->workers = std::min(options_.side_by_side, round->pages.size());
    for (size_t i = 0, count = round->workers; i < count; ++i) io::spawn(executor, work(round));
    io::error_code ignored;
    if (round->workers > 0)
      co_await round->done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    judge(*round, outcome);
  }
  evidence::Normalised normalised = round->normaliser.finish();
  note_dropped(outcome, normalised.dropped);
  emit_samples(emit, began, std::move(normalised), delivered_);
  delivered_.forget_before(began - seconds(3600));
  const bool ok = outcome.ok;
  emit_ended(emit, now_(), std::move(outcome));
  co_return ok;
}

}  // namespace fairlead::prometheus
