#include "apps/answer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "apps/organisation_files.h"

namespace fairlead {

std::string default_socket() {
  if (::geteuid() == 0) return "unix:/run/fairlead.sock";
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return fmt::format("unix:{}/fairlead.sock", runtime != nullptr ? runtime : "/tmp");
}

std::optional<std::string> Asker::server_address() const {
  if (options_.local) return std::nullopt;
  if (!options_.server.empty()) return options_.server;
  if (const char* named = std::getenv("FAIRLEAD_SERVER"); named != nullptr && *named != '\0')
    return named;
  for (const std::string& socket : {default_socket(), std::string("unix:/run/fairlead.sock")}) {
    std::error_code error;
    if (std::filesystem::is_socket(socket.substr(5), error)) return socket;
  }
  return std::nullopt;
}

namespace {

struct ProblemBody {  // of a problem document
  std::string detail, code;
  bool operator==(const ProblemBody&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProblemBody, (), (detail, code))

}  // namespace

Result<std::string> Asker::fetch(const std::string& server, const std::string& path,
                                 const std::string& body_to_post) const {
  const std::string address = server.starts_with("unix:") || server.find("://") != std::string::npos
                                  ? server
                                  : "http://" + server;
  auto base = io::parse_url(address);
  if (!base) return std::unexpected(base.error());
  std::string target = path;
  if (!options_.site.empty())
    target += (path.find('?') == std::string::npos ? "?" : "&") +
              ("site=" + io::percent_encode(options_.site));
  io::Url url = *base;
  url.target = target;
  std::optional<Result<io::HttpResponse>> response;
  io::asio::io_context io;
  io::asio::co_spawn(
      io,
      io::http_get(url, {.method = body_to_post.empty() ? "GET" : "POST",
                         .body = body_to_post,
                         .body_max = size_t{1} << 30,
                         .limit = io::milliseconds(60'000)}),
      [&](std::exception_ptr, Result<io::HttpResponse> got) { response.emplace(std::move(got)); });
  io.run();
  if (!response) return fail("net-refused", fmt::format("{} did not answer", server));
  if (!*response) {
    Diagnostic d = response->error();
    if (d.code != "net-not-allowed")
      d.hint = "is the daemon running? `fairlead serve` starts it; --local looks without it";
    return std::unexpected(d);
  }
  if ((*response)->status == 200) return (*response)->body;
  const auto told = json::from_json<ProblemBody>((*response)->body);
  if (told && !told->code.empty()) return fail(told->code, told->detail);
  return fail(fmt::format("http-{}", (*response)->status), (*response)->body.substr(0, 300));
}

LocalLook::~LocalLook() = default;

Result<Config> look_config(const AskOptions& options) {
  ConfigResult result;
  result.config.sites.emplace_back();
  overlay(result, [](const char* name) { return std::getenv(name); }, options.settings);
  if (!result.problems.empty()) return std::unexpected(result.problems[0]);
  SiteConfig& site = result.config.sites[0];
  constexpr Duration kWatchedInterval = seconds(5);  // chosen: a short watch should see much
  if (options.watch_for.us > 0)
    site.telemetry.interval = std::min(site.telemetry.interval, kWatchedInterval);
  return std::move(result.config);
}

io::asio::awaitable<void> LocalLook::await_interrupt() {
  const std::vector<int> signals = {SIGINT, SIGTERM};
  co_await io::wait_for_signal(signals);
  interrupted_ = true;
}

// Ends after one look and `watch_for`. Ctrl-C ends it sooner: what was seen until then counts.
io::asio::awaitable<void> LocalLook::run(Duration watch_for, bool progress) {
  constexpr int64_t kLimitSeconds = 120;  // chosen: a site of 150,000 jobs needs a few seconds
  const auto begun = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return Duration{std::chrono::duration_cast<std::chrono::microseconds>(
                        std::chrono::steady_clock::now() - begun)
                        .count()};
  };
  while (!live_->looked() && passed() < seconds(kLimitSeconds) && !interrupted_)
    co_await io::sleep_for(io::milliseconds(10));
  while (passed() < watch_for && !interrupted_) {
    if (progress)
      fmt::print(stderr, "\rlooking: {} of {}; Ctrl-C shows what was seen so far ",
                 to_short_text(seconds(whole_seconds(passed()))), to_short_text(watch_for));
    co_await io::sleep_for(io::milliseconds(200));
  }
  if (progress && watch_for.us > 0) fmt::print(stderr, "\r{:70}\r", "");
  if (interrupted_) cut_short_at_ = passed();
  if (watch_for.us > 0 && live_->looked())
    live_->site().tick(clock_.now());  // what was watched is booked to its end
  live_->stop();
  io_.stop();
}

Result<std::unique_ptr<LocalLook>> LocalLook::take(const AskOptions& options) {
  const auto config = look_config(options);
  if (!config) return std::unexpected(config.error());
  std::unique_ptr<LocalLook> look(new LocalLook());
  auto live = LiveSite::open(look->io_, look->clock_, config->sites[0], look->journal_);
  if (!live) return std::unexpected(live.error());
  look->live_ = std::move(*live);
  if (!config->organisation.empty()) {
    OrganisationFeed organisation(config->organisation, look->clock_);
    organisation.add(look->live_->site(), Stage::suggest);
    if (const auto begun = organisation.begin(); !begun) return std::unexpected(begun.error());
  }
  look->live_->start();
  io::spawn(look->io_, look->run(options.watch_for, options.progress));
  if (options.watch_for.us > 0) io::spawn(look->io_, look->await_interrupt());
  look->io_.run();
  const SourceState& scheduler = look->engine().state().source(Source::scheduler);
  if (!scheduler.last_ok.known()) {
    return fail("look-failed",
                scheduler.detail.empty() ? "the scheduler did not answer" : scheduler.detail,
                "`fairlead doctor` says what is missing");
  }
  return look;
}

}  // namespace fairlead
