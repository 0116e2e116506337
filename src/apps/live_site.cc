#include "apps/live_site.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "adapters/prometheus/exporter_source.h"
#include "adapters/prometheus/prometheus_source.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

fs::path own_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

// The program, where it can be run: named, beside us, or in PATH; else nothing.
std::string find_program(const std::string& named, const std::string& name) {
  const auto runs = [](const fs::path& p) { return ::access(p.c_str(), X_OK) == 0; };
  if (!named.empty()) return runs(named) ? named : "";
  if (runs(own_folder() / name)) return own_folder() / name;
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (runs(candidate)) return candidate;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return "";
}

std::string interval_text(Duration d) {
  return std::to_string(std::max<int64_t>(1, whole_seconds(d))) + "s";
}

}  // namespace

Result<std::vector<std::string>> slurm_command(const SlurmConfig& config, bool once) {
  std::vector<std::string> argv;
  const bool any = config.via == "auto";
  const std::string bridge = find_program(config.bridge, "fairlead-slurm");
  const bool wanted = config.via == "bridge" || (any && !config.bridge.empty());
  if (wanted && bridge.empty()) {
    return fail("slurm-none",
                fmt::format("the bridge {} is not there, or may not be run",
                            config.bridge.empty() ? "fairlead-slurm" : config.bridge),
                "install it, or set slurm.via to rest or commands");
  }
  if (config.via == "bridge" || (any && !bridge.empty() && config.rest.empty())) {
    argv = {bridge};
  } else if (config.via == "rest" || (any && !config.rest.empty())) {
    if (config.rest.empty())
      return fail("slurm-none", "slurm.via is rest, and slurm.rest names no address",
                  "rest: unix:/run/slurmrestd.sock");
    argv = {own_folder() / "fairlead", "poll-slurm", "--via", "rest", "--rest", config.rest};
    if (!config.rest_token_file.empty())
      argv.insert(argv.end(), {"--token-file", config.rest_token_file});
    if (!config.rest_user.empty()) argv.insert(argv.end(), {"--rest-user", config.rest_user});
  } else {
    if (find_program("", "squeue").empty()) {
      return fail(
          "slurm-none",
          "no Slurm is here: neither the bridge fairlead-slurm nor the command squeue can be run",
          "run fairlead where squeue works, or set slurm.rest to an address of slurmrestd");
    }
    argv = {own_folder() / "fairlead", "poll-slurm", "--via", "commands"};
  }
  if (once)
    argv.push_back("--once");
  else
    argv.insert(argv.end(), {"--interval", interval_text(config.interval)});
  if (!config.conf.empty()) argv.insert(argv.end(), {"--conf", config.conf});
  return argv;
}

struct LiveSite::Telemetry {
  std::unique_ptr<prometheus::PrometheusSource> prometheus;
  std::unique_ptr<prometheus::ExporterSource> exporters;
};

LiveSite::LiveSite(io::asio::io_context& io, io::Clock& clock, SiteConfig config)
    : io_(io), clock_(clock), config_(std::move(config)) {}

LiveSite::~LiveSite() = default;

Result<std::unique_ptr<LiveSite>> LiveSite::open(io::asio::io_context& io, io::Clock& clock,
                                                 const SiteConfig& config, Journal& journal) {
  std::unique_ptr<LiveSite> live(new LiveSite(io, clock, config));
  const auto command = slurm_command(config.slurm, false);
  if (!command) return std::unexpected(command.error());
  auto site = Site::open(
      {.name = config.name, .rules = {.evidence = config.evidence, .source_grace = config.grace}},
      journal);
  if (!site) return std::unexpected(site.error());
  live->site_ = std::move(*site);
  live->feed_ =
      std::make_unique<ChildFeed>(io, *live->site_, clock, ChildFeedOptions{.argv = *command});
  if (!config.telemetry.any()) return live;
  live->telemetry_ = std::make_unique<Telemetry>();
  const auto now = [&clock] { return clock.now(); };
  if (!config.telemetry.prometheus.empty()) {
    const auto url = io::parse_url(config.telemetry.prometheus);
    if (!url) return std::unexpected(url.error());
    live->telemetry_->prometheus = std::make_unique<prometheus::PrometheusSource>(
        prometheus::PrometheusOptions{.url = *url,
                                      .credentials = {.bearer_file = config.telemetry.bearer_file}},
        now);
  } else {
    live->telemetry_->exporters = std::make_unique<prometheus::ExporterSource>(
        prometheus::ExporterOptions{.urls = config.telemetry.exporters,
                                    .credentials = {.bearer_file = config.telemetry.bearer_file}},
        now);
  }
  return live;
}

void LiveSite::follow_accounting() {
  const std::string sacct = find_program("", "sacct");
  if (sacct.empty()) return;
  const Instant seen = site_->state().source(Source::scheduler).last_ok;
  accounting_ = std::make_unique<slurm::AccountingSource>(
      slurm::AccountingOptions{
          .program = sacct,
          .conf = config_.slurm.conf,
          .from = (seen.known() ? seen : clock_.now()) - slurm::kAccountingOverlap},
      [this] { return clock_.now(); });
}

void LiveSite::start() {
  io::spawn(io_, follow());
  io::spawn(io_, keep_time());
  if (telemetry_) io::spawn(io_, poll_telemetry());
}

void LiveSite::stop() {
  stopped_ = true;
  feed_->stop();
}

bool LiveSite::looked() const {
  return site_->polls_ended(Source::scheduler) > 0 &&
         (!telemetry_ || site_->polls_ended(Source::telemetry) > 0);
}

// Time passes also when no source says anything.
io::asio::awaitable<void> LiveSite::keep_time() {
  constexpr int64_t kTickSeconds = 10;
  while (!stopped_) {
    co_await io::sleep_for(io::milliseconds(1000));
    if (stopped_) co_return;
    if (site_->wants_full_poll() && site_->journal_problem().empty()) {
      site_->full_poll_asked();
      feed_->restart();
    }
    site_->upkeep();
    if (clock_.now() > site_->state().now + seconds(kTickSeconds)) site_->tick(clock_.now());
  }
}

io::asio::awaitable<void> LiveSite::ask_accounting() {
  site_->tick(clock_.now());  // whether a run is known depends on how long nobody has looked
  const std::vector<Event> poll =
      co_await accounting_->look([this](const Job& run) { return site_->engine().knows_run(run); });
  if (!stopped_ && !poll.empty()) site_->take_poll(poll);
}

// What ended while we were down is told before what is there now: only then is each device's time
// booked in the order in which it passed.
io::asio::awaitable<void> LiveSite::follow() {
  if (accounting_ && site_->state().source(Source::scheduler).last_ok.known())
    co_await ask_accounting();
  if (stopped_) co_return;
  feed_->start();
  if (!accounting_) co_return;
  // Chosen: an end is with slurmdbd within a second or two, and a look costs it one query.
  constexpr Duration kEvery = seconds(120), kSoon = seconds(5), kRetry = seconds(15);
  Instant asked = clock_.now();
  size_t open = site_->state().queues.unsettled();
  while (!stopped_ && !accounting_->none()) {
    co_await io::sleep_for(io::milliseconds(1000));
    const bool vanished = site_->state().queues.unsettled() > open;
    const Instant now = clock_.now();
    const bool well = site_->state().source(Source::accounting).ok;
    if (stopped_ || now < asked + (!well ? kRetry : vanished ? kSoon : kEvery)) continue;
    asked = now;
    co_await ask_accounting();
    open = site_->state().queues.unsettled();
  }
}

io::asio::awaitable<void> LiveSite::look_at_devices() {
  auto directory = std::make_shared<evidence::NodeDirectory>();
  std::vector<std::string> names;
  for (const FleetNode& node : site_->state().fleet.nodes()) {
    if (!node.present || node.devices.empty()) continue;
    directory->add(node.facts);
    names.push_back(node.facts.name);
  }
  std::vector<Event> events;
  const prometheus::Emit emit = [&events](Event event) { events.push_back(std::move(event)); };
  const prometheus::NodesPtr nodes = directory;
  if (telemetry_->prometheus) {
    co_await telemetry_->prometheus->poll(nodes, emit);
  } else {
    co_await telemetry_->exporters->poll(nodes, names, emit);
  }
  if (!stopped_) site_->take_poll(std::move(events));
}

io::asio::awaitable<void> LiveSite::poll_telemetry() {
  // The first look waits for the nodes: samples are joined to what the scheduler states.
  while (!stopped_ && site_->polls_ended(Source::scheduler) == 0)
    co_await io::sleep_for(io::milliseconds(20));
  const auto period = io::milliseconds(config_.telemetry.interval.us / 1000);
  while (!stopped_) {
    const auto begun = std::chrono::steady_clock::now();
    co_await look_at_devices();
    const auto took =
        std::chrono::duration_cast<io::milliseconds>(std::chrono::steady_clock::now() - begun);
    co_await io::sleep_for(std::max(io::milliseconds(100), period - took));
  }
}

}  // namespace fairlead
