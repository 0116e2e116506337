#include "sim/replay.h"

namespace fairlead {
namespace {

constexpr Duration kPauseMax =
    seconds(86400);  // a longer pause is walked through: no jump of a clock

class Replay {
 public:
  Replay(const History& history, ReplayOptions options)
      : options_(std::move(options)),
        judges_(history.notes().has_fleet && !history.notes().has_polls),
        walks_(!history.notes().has_polls),
        result_{.engine = Engine(options_.site, options_.rules), .progress = {}, .decisions = {}} {
    result_.progress.workloads_total = history.workloads();
  }

  ReplayResult run(const History& history) {
    HistoryCursor cursor(history);
    while (const Event* event = cursor.next()) {
      walk_to(event->at);
      take(*event);
      result_.progress.workloads_done = cursor.workloads_done();
      if (!report_progress()) return std::move(result_);
    }
    if (walks_ && history.until().known()) {
      walk_to(history.until());
      take({.at = history.until(), .what = Tick{}});
    }
    return std::move(result_);
  }

 private:
  // Judges what is free in between, and never lets the clock seem to jump.
  void walk_to(Instant at) {
    if (!next_judgement_.known()) next_judgement_ = at + options_.judge_every;
    while (judges_ && next_judgement_ < at) {
      take({.at = next_judgement_, .what = PollEnded{}});
      next_judgement_ = next_judgement_ + options_.judge_every;
    }
    Instant now = result_.engine.state().now;
    while (walks_ && now.known() && now + kPauseMax < at) {
      now = now + kPauseMax;
      take({.at = now, .what = Tick{}});
    }
  }

  void take(const Event& event) {
    for (const Decision& decision : result_.engine.step(event)) {
      ++result_.decisions[decision.kind];
      if (options_.decision) options_.decision(decision);
    }
    ++result_.progress.events;
  }

  bool report_progress() {
    if (!options_.progress || result_.progress.events % options_.progress_every != 0) return true;
    result_.progress.at = result_.engine.state().now;
    result_.stopped = !options_.progress(result_.progress);
    return !result_.stopped;
  }

  ReplayOptions options_;
  bool judges_, walks_;
  Instant next_judgement_;
  ReplayResult result_;
};

}  // namespace

ReplayResult replay(const History& history, ReplayOptions options) {
  if (!history.notes().has_polls)
    options.rules.source_grace = options.rules.jump_max;  // nobody polls
  return Replay(history, std::move(options)).run(history);
}

}  // namespace fairlead
