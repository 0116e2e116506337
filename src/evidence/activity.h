// What one look at a device says about its work, and what a row of looks says about a hold.
//
// A look is `active` when any activity signal that is reported reaches `active_ppm_min`. It is
// `stuck` when utilisation is at the top while the units behind it stand still: tensor and memory
// activity both reported and both near zero, or, where an exporter has neither, power within the
// model's idle draw. It is `idle` when activity is reported and below the threshold. With no
// activity signal at all it is `unknown`: memory or power alone say nothing about work.
//
// Thresholds follow what sites use (zero utilisation, DCGM's activity ratios; see
// docs/design/idle-hold.md) and are policy: a site may set its own.
#pragma once

#include <string_view>

#include "base/describe.h"
#include "model/column.h"
#include "model/sample.h"

namespace fairlead {

enum class Look : uint8_t { unknown, active, idle, stuck };
BOOST_DESCRIBE_ENUM(Look, unknown, active, idle, stuck)

struct EvidenceRules {
  int64_t active_ppm_min = 10'000;  // 1 %: below it the device does nothing
  int64_t stuck_utilisation_ppm_min = 950'000;
  int64_t stuck_unit_ppm_max = 5'000;       // 0.5 %: tensor and memory units stand still
  int64_t process_memory_mib_min = 200;     // a context alone holds more, an empty device less
  Duration stale_after = seconds(90);       // a look counts for so long; three default intervals
  Duration idle_hold_after = seconds(900);  // an idle stretch so long is an idle hold
  bool operator==(const EvidenceRules&) const = default;
};
BOOST_DESCRIBE_STRUCT(EvidenceRules, (),
                      (active_ppm_min, stuck_utilisation_ppm_min, stuck_unit_ppm_max,
                       process_memory_mib_min, stale_after, idle_hold_after))

Look look_at(const DeviceSample& sample, std::string_view model, const EvidenceRules& rules);

// All that a sample says about work.
struct Seen {
  Look look = Look::unknown;
  bool process = false;        // memory says that a process holds the device
  bool process_known = false;  // memory is reported at all
  bool operator==(const Seen&) const = default;
};
Seen seen_in(const DeviceSample& sample, std::string_view model, const EvidenceRules& rules);

// What is known about one device since its present run began.
struct Activity {
  Instant at;  // of the last look; zero: never looked
  Look look = Look::unknown;
  bool process = false;  // these two as in Seen
  bool process_known = false;
  bool ever_active = false;     // since the run began
  bool ever_process = false;    // since the run began
  bool seen_from_start = true;  // looks began soon after the run: "ever" covers all of it
  Instant run_start;
  Instant quiet_since;  // start of the stretch without activity; zero while active
  bool operator==(const Activity&) const = default;
};
BOOST_DESCRIBE_STRUCT(Activity, (),
                      (at, look, process, process_known, ever_active, ever_process, seen_from_start,
                       run_start, quiet_since))

// Takes in one look. Looks that are not newer than the last one change nothing.
void take_in(Activity& activity, Instant at, Seen seen, const EvidenceRules& rules);

// What the last look saw: taking it in again says "unchanged".
inline Seen last_seen(const Activity& a) { return {a.look, a.process, a.process_known}; }

// Forgets what belongs to the run before.
void begin_run(Activity& activity, Instant start);

// Why the device of a hold is idle; `none` while it works or nobody knows. `peer_gone` says that
// another device of the same gang has lost its process.
IdleKind idle_kind(const Activity& activity, bool peer_gone);

}  // namespace fairlead
