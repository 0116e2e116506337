// Room for a claimant by moves of others: who goes from where to where, and what it loses.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/running_work.h"
#include "core/state.h"

namespace fairlead {

struct MovedWork {
  policy::WorkId work = 0;
  NodeIndex from = 0, to = 0;
  int32_t devices = 0, cpus = 0;
  int64_t memory_mb = 0;
  int64_t lost_device_seconds = 0;
  bool operator==(const MovedWork&) const = default;
};

struct MadeRoom {
  policy::WorkId claimant = 0;
  std::vector<NodeIndex> nodes;  // where it would start, ascending
  std::vector<MovedWork> moves;  // in the order in which they can be done
  int64_t lost_device_seconds = 0;
  bool operator==(const MadeRoom&) const = default;
};

// Device-seconds that are lost by moving it; nothing: the organisation's rules do not let it.
using PriceOfMove = std::function<std::optional<int64_t>(policy::WorkId)>;

// As they are suggested, with their names.
std::vector<SuggestedMove> moves_of(const State& state, const MadeRoom& made);

}  // namespace fairlead
