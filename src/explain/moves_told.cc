#include "explain/moves_told.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fairlead {

std::vector<MoveTold> moves_told(const State& state, const std::vector<SuggestedMove>& suggested) {
  std::vector<MoveTold> moves;
  for (const SuggestedMove& move : suggested) {
    const auto who = state.workloads.find(move.workload);
    moves.push_back({.workload = who == state.workloads.end() ? "" : who->second.job.label,
                     .from = move.from,
                     .to = move.to,
                     .gpus = move.devices,
                     .lost_gpu_seconds = move.lost_device_seconds});
  }
  return moves;
}

std::string to_text(const std::vector<MoveTold>& moves) {
  int64_t gpus = 0;
  std::vector<std::string> each;
  for (const MoveTold& move : moves) {
    gpus += move.gpus;
    each.push_back(fmt::format("{} from {} to {}", move.workload, move.from, move.to));
  }
  return fmt::format("{} job{} ({} GPU{}), {}", moves.size(), moves.size() == 1 ? "" : "s", gpus,
                     gpus == 1 ? "" : "s", fmt::join(each, ", "));
}

const Suggestion* room_for(const State& state, WorkloadId id) {
  const auto found = state.suggested.now.find(id);
  const bool is_made =
      found != state.suggested.now.end() && found->second.kind == SuggestionKind::make_room;
  return is_made ? &found->second : nullptr;
}

}  // namespace fairlead
