// A modelled Slurm with an engine that watches it, as the daemon would: polls and looks in virtual
// time.
//
// What the adapter would put on the wire goes through `wire`, where a test may lose, double or
// delay events. Our own restarts go through a snapshot's text and back.
#pragma once

#include <functional>
#include <vector>

#include "core/engine.h"
#include "sim/slurm_model.h"

namespace fairlead {

struct WatchRules {
  Duration poll_every = seconds(10);
  Duration look_every = seconds(30);  // zero: no telemetry
  EngineRules engine;
};

class WatchedSite {
 public:
  WatchedSite(Instant start, WatchRules rules, ModelRules model = {});

  SlurmModel& slurm() { return slurm_; }
  const SlurmModel& slurm() const { return slurm_; }
  const Engine& engine() const { return engine_; }
  WatchRules& rules() { return rules_; }

  // Runs the model and our looks until `to`; those due at `to` itself happen with `inclusive`.
  void run_until(Instant to, bool inclusive);
  void poll(bool full = false);
  void look();
  void tick();
  void state_organisation(OrganisationStated stated);

  void set_telemetry_away(bool away) { telemetry_away_ = away; }
  void set_clock_ahead(Duration by) { clock_ahead_ = by; }    // of our own clock
  void set_answer_takes(Duration by) { answer_takes_ = by; }  // a poll arrives so much later
  Duration answer_takes() const { return answer_takes_; }
  void stop_watching() { watching_ = false; }
  void start_watching();  // from a snapshot, as after a restart of ours

  // Each may be empty.
  std::function<void(std::vector<Event>&)> wire;  // changes what a poll or look brings
  std::function<void(const Decision&)> decision;
  std::function<void(const Event&)> stepped;  // after each step

  Instant our_now() const { return slurm_.now() + clock_ahead_; }

 private:
  void take(std::vector<What> records);

  WatchRules rules_;
  SlurmModel slurm_;
  Engine engine_;
  Instant next_poll_, next_look_;
  uint64_t seq_ = 0;
  bool watching_ = true;
  bool telemetry_away_ = false;
  bool full_next_ = false;
  Duration clock_ahead_, answer_takes_;
};

// What the engine holds against what the model says is held, device by device. Returns the first
// difference, or an empty text. Requires: the last poll was full and came through as it was.
std::string compare_holds(const WatchedSite& site);

}  // namespace fairlead
