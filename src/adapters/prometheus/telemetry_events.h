// What both telemetry sources tell the engine: a bracketed poll with samples in pieces.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <string>
#include <vector>

#include "evidence/normalise.h"
#include "model/event.h"

namespace fairlead::prometheus {

using Emit = std::function<void(Event)>;

constexpr size_t kSamplesPerEvent = 4096;

// Remembers up to when each device's looks were handed on, since two polls overlap.
class Delivered {
 public:
  // Leaves in `samples` (by time for each device) what is newer than all handed on before.
  void keep_new(std::vector<DeviceSample>& samples);
  // Forgets devices not seen since then.
  void forget_before(Instant at);
  size_t size() const { return newest_.size(); }

 private:
  boost::unordered_flat_map<std::string, Instant> newest_;
};

// What came of one poll.
struct PollOutcome {
  bool ok = true;
  int64_t unreadable = 0;
  std::string detail;

  // Adds a sentence. The first that makes it fail stands in front.
  void add(std::string text);
  void fail(std::string text);
  void fail(const Diagnostic& diagnostic);  // its message and its hint
};

// Takes in what the normaliser left out.
void note_dropped(PollOutcome& outcome, const evidence::DropCounts& dropped);

void emit_began(const Emit& emit, Instant at);
// Samples of hosts and devices that nobody knows are handed on too: the engine counts them.
void emit_samples(const Emit& emit, Instant at, evidence::Normalised normalised,
                  Delivered& delivered);
void emit_ended(const Emit& emit, Instant at, PollOutcome outcome);

}  // namespace fairlead::prometheus
