// A site with its feeds: what `serve` runs for good and `observe` for one look.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/slurm/accounting.h"
#include "apps/config.h"
#include "io/asio.h"
#include "io/clock.h"
#include "runtime/feeds.h"
#include "runtime/site.h"

namespace fairlead {

// The command line that prints the event stream of the site's Slurm.
// Fails with slurm-none where nothing can be asked.
Result<std::vector<std::string>> slurm_command(const SlurmConfig& config, bool once);

class LiveSite {
 public:
  static Result<std::unique_ptr<LiveSite>> open(io::asio::io_context& io, io::Clock& clock,
                                                const SiteConfig& config, Journal& journal);
  ~LiveSite();

  // Asks Slurm's accounting too, where there is one: of use to those who look for long.
  void follow_accounting();

  void start();
  void stop();

  Site& site() { return *site_; }
  const SiteConfig& config() const { return config_; }

  // The first look is over: the scheduler's, and telemetry's where there is any.
  bool looked() const;

 private:
  LiveSite(io::asio::io_context& io, io::Clock& clock, SiteConfig config);
  io::asio::awaitable<void> keep_time();
  io::asio::awaitable<void> poll_telemetry();
  io::asio::awaitable<void> look_at_devices();
  io::asio::awaitable<void> follow();
  io::asio::awaitable<void> ask_accounting();

  struct Telemetry;
  io::asio::io_context& io_;
  io::Clock& clock_;
  SiteConfig config_;
  std::unique_ptr<Site> site_;
  std::unique_ptr<ChildFeed> feed_;
  std::unique_ptr<Telemetry> telemetry_;
  std::unique_ptr<slurm::AccountingSource> accounting_;  // nothing: it is not asked
  bool stopped_ = false;
};

}  // namespace fairlead
