// What the engine concluded from an event. In the observe stage it concludes and never acts.
#pragma once

#include <string>

#include "base/describe.h"
#include "model/column.h"

namespace fairlead {

enum class DecisionKind : uint8_t {
  idle_hold_opened,
  idle_hold_closed,
  work_lost,          // an eviction or failure threw work away: useful seconds became lost
  workload_vanished,  // the scheduler forgot a workload that had not ended
  source_lost,        // facts of a source grow old; what it reported stays as it was
  source_back,
  start_suggested,      // the planner would start it now
  take_back_suggested,  // the planner would take its devices back, for somebody else
  make_room_suggested,  // others would move to other nodes, and it would start
};
BOOST_DESCRIBE_ENUM(DecisionKind, idle_hold_opened, idle_hold_closed, work_lost, workload_vanished,
                    source_lost, source_back, start_suggested, take_back_suggested,
                    make_room_suggested)

struct Decision {
  std::string id;  // "<seq>.<n>": made from its cause, so the same cause gives the same id
  Instant at;
  DecisionKind kind = DecisionKind::idle_hold_opened;
  std::string workload;  // label; empty where it is about a source
  std::string team;
  IdleKind idle_kind = IdleKind::none;
  int64_t devices = 0;
  int64_t device_seconds = 0;
  std::string reason;  // one sentence with its numbers
  bool operator==(const Decision&) const = default;
};
BOOST_DESCRIBE_STRUCT(Decision, (),
                      (id, at, kind, workload, team, idle_kind, devices, device_seconds, reason))

}  // namespace fairlead
