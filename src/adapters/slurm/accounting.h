// Slurm's accounting as a source: runs that are over and that nobody may have seen.
//
// slurmctld forgets a job MinJobAge after its end, and we see nothing while we are down. slurmdbd
// remembers. It is asked through sacct, whose text all releases share, for what ended since a time;
// it is never asked for what waits or runs. A look costs it one query over the ends of that window.
//
// slurmctld keeps what it could not deliver and hands it over once slurmdbd is back. So after a
// failure, and after our own start, the window stays open for a while (AccountingWindow).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/asio.h"
#include "model/event.h"

namespace fairlead::slurm {

// Chosen: how late an end may reach slurmdbd while both it and slurmctld are well.
constexpr Duration kAccountingOverlap = seconds(15 * 60);

// From when on the next look has to ask.
class AccountingWindow {
 public:
  explicit AccountingWindow(Instant from) : from_(from) {}
  Instant from() const { return from_; }
  void looked(Instant at, bool ok);

 private:
  Instant from_;
  Instant well_since_;  // of looks that went well without a failure between; zero: none did
};

// The arguments of sacct for the runs that ended from `from` on. Wants accounting_environment().
std::vector<std::string> accounting_words(Instant from);
std::vector<std::string> accounting_environment(const std::string& conf);

struct AccountedRuns {
  std::vector<AccountedRun> runs;  // by start
  int64_t unreadable = 0;
};
AccountedRuns parse_accounting(std::string_view text);

struct AccountingOptions {
  std::string program = "sacct";
  std::string conf;              // SLURM_CONF; empty: as it is
  Instant from;                  // what ended before is known
  Duration limit = seconds(10);  // chosen: 100,000 ends take about 5 s
};

class AccountingSource {
 public:
  AccountingSource(AccountingOptions options, std::function<Instant()> now);

  // One look, as a whole poll without the runs that `knows` says are known. Nothing where the site
  // keeps no accounting.
  io::asio::awaitable<std::vector<Event>> look(std::function<bool(const Job&)> knows);

  bool none() const { return none_; }  // the site keeps no accounting

 private:
  AccountingOptions options_;
  std::function<Instant()> now_;
  AccountingWindow window_;
  bool none_ = false;
};

}  // namespace fairlead::slurm
