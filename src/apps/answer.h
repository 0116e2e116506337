// Where a reading command gets its view from: a daemon that runs, else a look of its own.
//
// The daemon answers in JSON views; a look of our own builds the same views. So a command shows
// both in the same way. A daemon is asked where --server, FAIRLEAD_SERVER or the local socket names
// one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/config_keys.h"
#include "apps/live_site.h"
#include "codec/json.h"
#include "io/http_client.h"

namespace fairlead {

struct AskOptions {
  std::string server;  // unix:/path or http://host:port; empty: the default
  std::string site;
  bool local = false;             // do not ask a daemon
  std::vector<Setting> settings;  // for a look of our own, over the variables
  Duration watch_for;             // a look of our own goes on for so long, or until Ctrl-C
  bool progress = false;
};

// How a look of our own is made, for its one site: defaults, FAIRLEAD_* variables, options.
Result<Config> look_config(const AskOptions& options);

// One look at the scheduler (and telemetry) without a daemon or a database.
class LocalLook {
 public:
  // Fails with slurm-none, look-failed.
  static Result<std::unique_ptr<LocalLook>> take(const AskOptions& options);
  const Engine& engine() const { return live_->site().engine(); }
  Duration cut_short_at() const { return cut_short_at_; }  // zero: it went on to its end
  ~LocalLook();

 private:
  LocalLook() = default;
  io::asio::awaitable<void> run(Duration watch_for, bool progress);
  io::asio::awaitable<void> await_interrupt();

  io::asio::io_context io_;
  io::Clock clock_;
  NoJournal journal_;
  std::unique_ptr<LiveSite> live_;
  bool interrupted_ = false;
  Duration cut_short_at_;
};

class Asker {
 public:
  explicit Asker(AskOptions options) : options_(std::move(options)) {}

  // `path` as the daemon's, posted to where there is a body; `local` builds the view from our own
  // look.
  template <class View>
  Result<View> ask(const std::string& path, const std::function<Result<View>(const Engine&)>& local,
                   const std::string& body_to_post = "") {
    if (const auto server = server_address()) {
      auto body = fetch(*server, path, body_to_post);
      if (!body) return std::unexpected(body.error());
      return json::from_json<View>(*body);
    }
    if (!look_) {
      auto look = LocalLook::take(options_);
      if (!look) return std::unexpected(look.error());
      look_ = std::move(*look);
    }
    return local(look_->engine());
  }

  // Of the look that was made last; zero where there was none or it went on to its end.
  Duration cut_short_at() const { return look_ ? look_->cut_short_at() : Duration{}; }

  std::optional<std::string> server_address() const;  // nothing: no daemon is named or runs
  Result<std::string> fetch(const std::string& server, const std::string& path,
                            const std::string& body_to_post = "") const;
  void forget_look() { look_.reset(); }
  const AskOptions& options() const { return options_; }

 private:
  AskOptions options_;
  std::unique_ptr<LocalLook> look_;
};

// Where `serve` listens and reading commands ask when nothing else is said.
std::string default_socket();

}  // namespace fairlead
