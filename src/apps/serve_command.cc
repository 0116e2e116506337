// fairlead serve: the daemon.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "api/routes.h"
#include "apps/arguments.h"
#include "apps/commands.h"
#include "apps/organisation_files.h"
#include "base/words.h"
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

// Defaults, then the file, then FAIRLEAD_* variables, then options. Says all that is wrong but the
// last, which is returned.
Result<Config> config_of(const ServeOptions& o, const std::vector<Setting>& settings) {
  ConfigResult read;
  if (!o.config_file.empty()) {
    const auto text = io::read_file(o.config_file, 1 << 20);
    if (!text) return std::unexpected(text.error());
    read = read_config(*text, o.config_file);
  } else {
    read.config.sites.emplace_back();
    read.config.listen = default_socket();
    read.config.store = default_store();
  }
  overlay(read, [](const char* name) { return std::getenv(name); }, settings);
  for (size_t i = 1; i < read.problems.size(); ++i) complain(read.problems[i - 1]);
  if (!read.problems.empty()) return std::unexpected(read.problems.back());
  Config config = std::move(read.config);
  if (!o.store.empty()) config.store = o.store;
  if (!o.listen.empty()) config.listen = o.listen;
  if (!o.listen_http.empty()) config.listen_http = o.listen_http;
  for (const std::string& address : {config.listen, config.listen_http}) {
    if (!beyond_loopback(address)) continue;
    return fail(
        "listen-not-allowed",
        fmt::format("'{}' is beyond this machine, and this version has neither tls nor identity",
                    address),
        "127.0.0.1:7077 or unix:/run/fairlead.sock");
  }
  for (const SiteConfig& site : config.sites)
    if (stage_of(config, site) == Stage::suggest && config.organisation.empty())
      return fail("config-not-allowed",
                  fmt::format("site {} is to suggest, and no organisation is given", site.name),
                  "organisation: /etc/fairlead/policy, or stage: observe");
  if (!config.store.starts_with("sqlite:"))
    return fail("usage", fmt::format("store '{}' is not of this version", config.store),
                "sqlite:/var/lib/fairlead/fairlead.db");
  return config;
}

// One journal for each site: the store's path, with the site's name where there are several.
std::string store_path(const Config& config, const SiteConfig& site) {
  const std::string path = config.store.substr(std::string_view("sqlite:").size());
  return config.sites.size() == 1 ? path : path + "." + site.name;
}

// Returns the addresses once all of them are ours.
Result<std::vector<std::string>> listen_on(io::HttpServer& server, const Config& config) {
  std::vector<std::string> all;
  for (const std::string& address : {config.listen, config.listen_http}) {
    if (address.empty()) continue;
    auto where = server.listen(address);
    if (!where) return std::unexpected(where.error());
    all.push_back(std::move(*where));
  }
  return all;
}

// Whether the store's file could be opened or made, without touching it.
Result<void> check_store_file(const std::string& path) {
  const bool there = ::access(path.c_str(), F_OK) == 0;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const std::string& wanted = there ? path : folder;
  if (::access(wanted.empty() ? "." : wanted.c_str(), R_OK | W_OK | (there ? 0 : X_OK)) == 0)
    return {};
  return fail(errno == EACCES || errno == EROFS ? "store-not-writable" : "file-unwritable",
              fmt::format("the store '{}' cannot be {}: {}", path, there ? "written" : "made",
                          std::strerror(errno)),
              "may this user write there, and does the folder exist?");
}

struct Served {
  std::string store;  // empty: nothing is kept
  std::unique_ptr<Journal> journal;
  std::unique_ptr<LiveSite> live;
  std::vector<std::optional<bool>> seen;  // each source, as the log has it
};

// One line in the log when a source goes and one when it comes back.
void log_sources(Served& served) {
  const State& state = served.live->site().state();
  served.seen.resize(state.sources.size());
  for (size_t i = 0; i < state.sources.size(); ++i) {
    const SourceState& source = state.sources[i];
    std::optional<bool>& seen = served.seen[i];
    if (!source.known || seen == source.ok) continue;
    const bool first = !std::exchange(seen, source.ok).has_value();
    if (first && source.ok) continue;  // as it should be
    fmt::print(stderr, "{} {}: {} {}\n", to_rfc3339(state.now), state.site,
               enum_name(static_cast<Source>(i)),
               source.ok ? "is seen again" : "is not seen: " + source.detail);
  }
}

class Daemon {
 public:
  Daemon(Config config, std::string version)
      : config_(std::move(config)), version_(std::move(version)) {}

  int run(bool keep_store) {
    if (const int code = open_sites(keep_store); code != kExitGood) return code;
    std::vector<ApiSite> sites;
    for (const Served& s : served_)
      sites.push_back({s.live->site().state().site, &s.live->site(), s.store});
    api_ = std::make_unique<Api>(std::move(sites), clock_.now(), version_);
    for (Served& s : served_) {
      Site& site = s.live->site();
      site.on_decisions = [this, &site](const std::vector<Decision>& d) {
        api_->publish(site.state().site, d);
      };
      site.on_taken = [this](double seconds) { api_->metrics().observe_step(seconds); };
      site.on_change = [this, &s, &site] {
        log_sources(s);
        api_->poll_ended(site.state().site);
      };
    }
    server_ = std::make_unique<io::HttpServer>(
        io_, [this](const io::HttpRequest& r) { return api_->answer(r); });
    if (const auto begun = begin_organisation(); !begun) return complain(begun.error());
    const auto listening = listen_on(*server_, config_);
    if (!listening) return complain(listening.error());
    for (const std::string& where : *listening)
      fmt::print(stderr, "fairlead: listening on {}\n",
                 where.starts_with("unix:") ? where : "http://" + where);
    for (Served& s : served_) s.live->start();
    io::spawn(io_, follow_organisation());
    io::spawn(io_, io::on_signal(SIGHUP, [this] { on_hangup(); }));
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
        s.store = store_path(config_, site);
      } else {
        s.journal = std::make_unique<NoJournal>();
      }
      auto live = LiveSite::open(io_, clock_, site, *s.journal);
      if (!live) return complain(live.error());
      s.live = std::move(*live);
      s.live->follow_accounting();
      if (s.live->site().replayed() > 0)
        fmt::print(stderr, "fairlead: site {}: replayed {}\n", site.name,
                   plural(static_cast<int64_t>(s.live->site().replayed()), "event"));
      served_.push_back(std::move(s));
    }
    return kExitGood;
  }

  // A site whose organisation is no longer configured goes on without one.
  Result<void> begin_organisation() {
    for (size_t i = 0; i < served_.size(); ++i) {
      Site& site = served_[i].live->site();
      if (!config_.organisation.empty())
        organisation_.add(site, stage_of(config_, config_.sites[i]));
      else if (site.state().organisation)
        site.state_organisation(clock_.now(), {});
    }
    if (config_.organisation.empty()) return {};
    return organisation_.begin();
  }
  io::asio::awaitable<void> follow_organisation() {
    constexpr auto kEvery = io::milliseconds(2000);  // chosen: as long as an editor's user waits
    while (!config_.organisation.empty()) {
      co_await io::sleep_for(kEvery);
      organisation_.reload_if_changed();
    }
  }
  void on_hangup() {
    if (!config_.organisation.empty()) organisation_.reload();
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
  std::string version_;
  io::asio::io_context io_;
  io::Clock clock_;
  std::vector<Served> served_;
  OrganisationFeed organisation_{config_.organisation, clock_};
  std::unique_ptr<Api> api_;
  std::unique_ptr<io::HttpServer> server_;
};

void say_plan(const Config& config, bool keep_store) {
  for (const SiteConfig& site : config.sites) {
    const auto command = slurm_command(site.slurm, false);
    fmt::print("site {}: stage {}, nothing is written to the scheduler\n", site.name,
               enum_name(stage_of(config, site)));
    fmt::print("  scheduler  {}\n",
               command ? fmt::format("{}", fmt::join(*command, " ")) : "cannot be asked");
    fmt::print("  telemetry  {}\n",
               !site.telemetry.prometheus.empty() ? site.telemetry.prometheus
               : site.telemetry.any() ? fmt::format("{}", fmt::join(site.telemetry.exporters, ", "))
                                      : "none: what is held cannot be measured");
  }
  if (!config.organisation.empty()) fmt::print("org     {}\n", config.organisation);
  fmt::print("store   {}\nlisten  {} {}\n", keep_store ? config.store : "none", config.listen,
             config.listen_http);
}

Result<void> check_organisation(const std::string& path) {
  const auto read = read_organisation(path);
  if (!read) return std::unexpected(read.error());
  tell_problems(read->loaded);
  if (read->stated) return {};
  return fail("policy-refused", fmt::format("the organisation in {} has errors", path),
              "mend what is told above");
}

// Tries all that a start would need, and says all that is wrong. Returns the first's exit code.
int check(const Config& config, bool keep_store) {
  int code = kExitGood;
  const auto take = [&code](const auto& result) {
    if (result) return;
    const int own = complain(result.error());
    if (code == kExitGood) code = own;
  };
  for (const SiteConfig& site : config.sites) {
    take(slurm_command(site.slurm, false));
    for (const std::string& file :
         {site.slurm.conf, site.slurm.rest_token_file, site.telemetry.bearer_file}) {
      if (!file.empty()) take(io::read_file(file, 1 << 20));
    }
    if (keep_store) take(check_store_file(store_path(config, site)));
  }
  if (!config.organisation.empty()) take(check_organisation(config.organisation));
  io::asio::io_context io;
  io::HttpServer server(io, [](const io::HttpRequest&) { return io::HttpResponse{}; });
  take(listen_on(server, config));
  return code;
}

int serve(Program& p, const ServeOptions& o) {
  if (o.keys) return print(config_keys());
  ::umask(0027);  // the journal names users and their jobs
  const auto config = config_of(o, p.ask.settings);
  if (!config) return complain(config.error());
  if (!o.check) return Daemon(*config, p.version).run(!o.no_store);
  say_plan(*config, !o.no_store);
  std::fflush(stdout);
  return check(*config, !o.no_store);
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
  c->add_option("--store", o->store, "sqlite:/path, instead of the file's (FAIRLEAD_STORE)");
  c->add_option("--listen", o->listen,
                "unix:/path or 127.0.0.1:port, instead of the file's (FAIRLEAD_LISTEN)")
      ->check(a_listen_address());
  c->add_option("--listen-http", o->listen_http,
                "a second address, for browsers; port 0: any free one (FAIRLEAD_LISTEN_HTTP)")
      ->check(a_listen_address());
  c->add_flag("--no-store", o->no_store, "keep nothing: the ledger begins anew with each start");
  c->add_flag("--check", o->check, "say what would be done, try all that it needs, and end");
  c->add_flag("--keys", o->keys,
              "every key of fairlead.yaml, with what it means and its FAIRLEAD_* variable");
  add_look_options(*c, p);
  c->callback([&p, o] { p.run = [&p, o] { return serve(p, *o); }; });
}

}  // namespace fairlead
