// One site, live: what sources tell is journaled, then decided, then shown.
//
//   source lines → (a whole poll) → journal → Engine::step → decisions → whoever listens
//
// A poll is journaled as a whole, in one transaction, before any of it is decided; what is lost in
// a crash is a poll that nobody was told of, and the source restates it. The engine is fed with
// what the journal holds, byte for byte, so that a replay of the journal is the same run again.
//
// A line that cannot be read is left out and counted in the poll's `unreadable`, so that nothing is
// dropped for want of it. While the journal cannot be written (disk full) polls are not taken in:
// facts grow old, and the site says so; the source is asked for everything again afterwards.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/engine.h"
#include "runtime/ports.h"

namespace fairlead {

struct SiteOptions {
  std::string name = "site";
  EngineRules rules;
  // A snapshot is due after so much journal, and never before twice its own size: replaying that
  // much takes about three seconds at 10,000 nodes.
  uint64_t snapshot_every_bytes = 16 << 20;
};

class Site {
 public:
  // Recovers: the newest snapshot, then the journal after it.
  // Fails with what the journal fails with, state-version, event-version.
  static Result<std::unique_ptr<Site>> open(SiteOptions options, Journal& journal);

  // Takes lines of an event stream, without the header. Complete polls are decided at once.
  void take_line(std::string_view line);

  // Takes a whole poll that was made in this process. Samples are thinned (core/thin.h).
  void take_poll(std::vector<Event> events);

  // The source ended or cannot be reached: half a poll is dropped, and its end is told.
  void source_failed(Source source, Instant at, const std::string& why);

  void tick(Instant at);

  // Journals and decides on an organisation that is another than the one in force.
  void state_organisation(Instant at, OrganisationStated stated);
  // The files say another one, and it has errors: the one in force stays.
  void refuse_organisation(std::string why) { organisation_problem_ = std::move(why); }
  const std::string& organisation_problem() const { return organisation_problem_; }

  // What can wait and must not take long. Call it every second.
  void upkeep();

  // Writes a snapshot now, e.g. before the process ends.
  Result<void> snapshot();

  const Engine& engine() const { return engine_; }
  const State& state() const { return engine_.state(); }
  uint64_t polls_ended(Source source) const { return polls_[static_cast<size_t>(source)]; }
  const std::string& journal_problem() const {
    return journal_problem_;
  }  // empty while all is well
  bool wants_full_poll() const { return wants_full_; }
  void full_poll_asked() { wants_full_ = false; }
  uint64_t replayed() const { return replayed_; }

  std::function<void(const std::vector<Decision>&)> on_decisions = [](const auto&) {};
  std::function<void()> on_change = [] {};               // after each poll
  std::function<void(double)> on_taken = [](double) {};  // with the seconds that a poll took

 private:
  Site(SiteOptions options, Journal& journal, Engine engine);
  Result<void> replay();
  struct Batch {  // events and the lines that they were read from
    std::vector<std::string> lines;
    std::vector<Event> events;
  };
  void take(Event event, std::string line);
  void commit(Batch batch);
  void drop_half_poll(Source source);
  void decide(const Event& event);
  void begin_snapshot();

  struct Pending {
    Source source = Source::scheduler;
    Batch batch;
    int64_t unreadable = 0;
  };

  SiteOptions options_;
  Journal& journal_;
  Engine engine_;
  std::vector<Pending> open_;  // polls that have not ended, one per source at most
  uint64_t polls_[3] = {};
  uint64_t since_snapshot_ = 0;  // bytes of journal
  uint64_t snapshot_bytes_ = 0;  // of the last one
  bool snapshot_due() const {
    return since_snapshot_ >= std::max(options_.snapshot_every_bytes, 2 * snapshot_bytes_);
  }
  uint64_t replayed_ = 0;
  std::string journal_problem_, organisation_problem_;
  bool wants_full_ = false;
};

}  // namespace fairlead
