// fairlead serve: the daemon.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "api/routes.h"
#include "apps/commands.h"
#include "io/file.h"
#include "io/http_server.h"
#include "runtime/store_journal.h"

namespace fairlead {
namespace {

struct ServeOptions {
  std::string config_file, store, listen, listen_http;
  bool check = false, keys = false, no_store = false;
};

// Where the ledger of this user's daemon is kept when nothing is said; its folder is made.
std::string default_store() {
  namespace fs = std::filesystem;
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path folder = ::geteuid() == 0   ? fs::path("/var/lib/fairlead")
                          : state != nullptr ? fs::path(state) / "fairlead"
                          : home != nullptr  ? fs::path(home) / ".local/state/fairlead"
                                             : fs::path("/tmp");
  std::error_code error;
  fs::create_directories(folder, error);
  return fmt::format("sqlite:{}", (folder / "fairlead.db").string());
}

// Defaults, then the file, then FAIRLEAD_* variables, then options.
Result<Config> config_of(const ServeOptions& o, const SiteConfig& look) {
  Config config;
  if (!o.config_file.empty()) {
    const auto text = io::read_file(o.config_file, 1 << 20);
    if (!text) return std::unexpected(text.error());
    ConfigResult read = read_config(*text, o.config_file);
    for (size_t i = 1; i < read.problems.size(); ++i) complain(read.problems[i - 1]);
    if (!read.problems.empty()) return std::unexpected(read.problems.back());
    config = std::move(read.config);
  } else {
    config.sites = {look};
    config.listen = default_socket();
    config.store = default_store();
  }
  const auto variable = [](const char* name, std::string& out) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') out = value;
  };
  variable("FAIRLEAD_STORE", config.store);
  variable("FAIRLEAD_LISTEN", config.listen);
  variable("FAIRLEAD_LISTEN_HTTP", config.listen_http);
  if (!o.store.empty()) config.store = o.store;
  if (!o.listen.empty()) config.listen = o.listen;
  if (!o.listen_http.empty()) config.listen_http = o.listen_http;
  for (const std::string& address : {config.listen, config.listen_http}) {
    if (!beyond_loopback(address)) continue;
    return fail(
        "config-not-allowed",
        fmt::format("'{}' is beyond this machine, and this version has neither tls nor identity",
                    address),
        "127.0.0.1:7077 or unix:/run/fairlead.sock");
  }
  return config;
}

// One journal for each site: the store's path, with the site's name where there are several.
std::string store_path(const Config& config, const SiteConfig& site) {
  const std::string path = config.store.substr(std::string_view("sqlite:").size());
  return config.sites.size() == 1 ? path : path + "." + site.name;
}

struct Served {
  std::unique_ptr<Journal> journal;
  std::unique_ptr<LiveSite> live;
};

class Daemon {
 public:
  explicit Daemon(Config config) : config_(std::move(config)) {}

  int run(bool keep_store) {
    if (const int code = open_sites(keep_store); code != kExitGood) return code;
    std::vector<ApiSite> sites;
    for (const Served& s : served_) sites.push_back({s.live->site().state().site, &s.live->site()});
    api_ = std::make_unique<Api>(std::move(sites), clock_.now());
    for (Served& s : served_) {
      Site& site = s.live->site();
      site.on_decisions = [this, &site](const std::vector<Decision>& d) {
        api_->publish(site.state().site, d);
      };
      site.on_taken = [this](double seconds) { api_->metrics().observe_step(seconds); };
      site.on_change = [this, &site] { api_->poll_ended(site.state().site); };
    }
    server_ = std::make_unique<io::HttpServer>(
        io_, [this](const io::HttpRequest& r) { return api_->answer(r); });
    for (const std::string& address : {config_.listen, config_.listen_http}) {
      if (address.empty()) continue;
      const auto where = server_->listen(address);
      if (!where) return complain(where.error());
      fmt::print(stderr, "fairlead: listening on {}\n",
                 where->starts_with("unix:") ? *where : "http://" + *where);
    }
    for (Served& s : served_) s.live->start();
    io::spawn(io_, until_signal());
    io_.run();
    return close();
  }

 private:
  int open_sites(bool keep_store) {
    for (const SiteConfig& site : config_.sites) {
      Served s;
      if (keep_store) {
        auto journal = StoreJournal::open(store_path(config_, site));
        if (!journal) return complain(journal.error());
        s.journal = std::move(*journal);
      } else {
        s.journal = std::make_unique<NoJournal>();
      }
      auto live = LiveSite::open(io_, clock_, site, *s.journal);
      if (!live) return complain(live.error());
      s.live = std::move(*live);
      s.live->follow_accounting();
      if (s.live->site().replayed() > 0)
        fmt::print(stderr, "fairlead: site {}: replayed {} events\n", site.name,
                   s.live->site().replayed());
      served_.push_back(std::move(s));
    }
    return kExitGood;
  }

  io::asio::awaitable<void> until_signal() {
    const std::vector<int> signals = {SIGINT, SIGTERM};
    co_await io::wait_for_signal(signals);
    fmt::print(stderr, "fairlead: stopping\n");
    for (Served& s : served_) s.live->stop();
    co_await server_->stop(io::milliseconds(3000));
    io_.stop();
  }

  int close() {
    int code = kExitGood;
    for (Served& s : served_) {
      if (const auto saved = s.live->site().snapshot(); !saved) code = complain(saved.error());
    }
    return code;
  }

  Config config_;
  io::asio::io_context io_;
  io::Clock clock_;
  std::vector<Served> served_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<io::HttpServer> server_;
};

void say_plan(const Config& config, bool keep_store) {
  for (const SiteConfig& site : config.sites) {
    const auto command = slurm_command(site.slurm, false);
    fmt::print("site {}: stage observe, nothing is written to the scheduler\n", site.name);
    fmt::print("  scheduler  {}\n",
               command ? fmt::format("{}", fmt::join(*command, " ")) : to_text(command.error()));
    fmt::print("  telemetry  {}\n",
               !site.telemetry.prometheus.empty() ? site.telemetry.prometheus
               : site.telemetry.any() ? fmt::format("{}", fmt::join(site.telemetry.exporters, ", "))
                                      : "none: what is held cannot be measured");
  }
  fmt::print("store   {}\nlisten  {} {}\n", keep_store ? config.store : "none", config.listen,
             config.listen_http);
}

int serve(Program& p, const ServeOptions& o) {
  if (o.keys) return print(config_keys());
  ::umask(0027);  // the journal names users and their jobs
  const auto config = config_of(o, p.ask.look);
  if (!config) return complain(config.error());
  if (o.check) {
    say_plan(*config, !o.no_store);
    return kExitGood;
  }
  return Daemon(*config).run(!o.no_store);
}

}  // namespace

void add_serve_command(Program& p) {
  auto o = std::make_shared<ServeOptions>();
  CLI::App* c = p.app.add_subcommand(
      "serve", "the daemon: looks, keeps the ledger, answers the API, the console and /metrics");
  c->footer(
      "examples:\n  fairlead serve --config /etc/fairlead/fairlead.yaml\n  fairlead serve "
      "--no-store --listen-http 127.0.0.1:7077");
  c->add_option("--config", o->config_file, "fairlead.yaml");
  c->add_option("--store", o->store, "sqlite:/path, instead of the file's");
  c->add_option("--listen", o->listen, "unix:/path or 127.0.0.1:port, instead of the file's");
  c->add_option("--listen-http", o->listen_http,
                "a second address, for browsers (port 0: any free one)");
  c->add_flag("--no-store", o->no_store, "keep nothing: the ledger begins anew with each start");
  c->add_flag("--check", o->check, "read the configuration, say what would be done, and end");
  c->add_flag("--keys", o->keys, "every key of fairlead.yaml, with what it means");
  add_look_options(*c, p);
  c->callback([&p, o] { p.run = [&p, o] { return serve(p, *o); }; });
}

}  // namespace fairlead
