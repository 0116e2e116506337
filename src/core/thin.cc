#include "core/thin.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>

namespace fairlead {
namespace {

// Samples come by node, device and time: of one node there may be several looks.
void add(std::vector<UnchangedLook>& unchanged, const DeviceSample& sample) {
  for (auto look = unchanged.rbegin(); look != unchanged.rend() && look->node == sample.node;
       ++look) {
    if (look->at != sample.at) continue;
    look->devices.push_back(sample.index);
    return;
  }
  unchanged.push_back({.node = sample.node, .at = sample.at, .devices = {sample.index}});
}

}  // namespace

void thin_samples(const State& state, std::span<Event> poll) {
  boost::unordered_flat_set<DeviceIndex> changed;  // by an earlier sample of this poll
  const auto is_unchanged = [&](const DeviceSample& sample) {
    const auto node = state.fleet.find(sample.node);
    const auto device = node ? state.fleet.device_at(*node, sample.index) : std::nullopt;
    if (!device || changed.contains(*device)) return false;
    const std::string& model = state.names.name(state.fleet.device(*device).model);
    if (seen_in(sample, model, state.rules.evidence) == last_seen(state.devices[*device].activity))
      return true;
    changed.insert(*device);
    return false;
  };
  for (Event& event : poll) {
    if (std::holds_alternative<PollBegan>(event.what)) continue;
    Samples* samples = std::get_if<Samples>(&event.what);
    if (samples == nullptr) return;  // from here on looks may have grown too old
    std::erase_if(samples->samples, [&](const DeviceSample& sample) {
      if (!is_unchanged(sample)) return false;
      add(samples->unchanged, sample);
      return true;
    });
  }
}

}  // namespace fairlead
