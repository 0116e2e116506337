#include "fabric/fleet.h"

#include "base/check.h"

namespace fairlead {

Fleet::Fleet(FleetData data) : data_(std::move(data)) {
  for (NodeIndex i = 0; i < data_.nodes.size(); ++i) by_name_.emplace(data_.nodes[i].facts.name, i);
  for (const Device& device : data_.devices) present_ += device.present ? 1 : 0;
}

std::optional<bool> usable(const Node& facts) {
  if (facts.drain || facts.fail || facts.not_responding || facts.maintenance) return false;
  switch (facts.state) {
    case NodeState::unknown:
      return std::nullopt;
    case NodeState::idle:
    case NodeState::mixed:
    case NodeState::allocated:
      return true;
    case NodeState::down:
    case NodeState::error:
    case NodeState::future:
      return false;
  }
  return std::nullopt;
}

std::optional<NodeIndex> Fleet::find(std::string_view name) const {
  const auto it = by_name_.find(std::string(name));
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

std::optional<DeviceIndex> Fleet::device_at(NodeIndex node, int32_t index) const {
  const auto& devices = data_.nodes[node].devices;
  if (index < 0 || static_cast<size_t>(index) >= devices.size()) return std::nullopt;
  return devices[static_cast<size_t>(index)];
}

namespace {

constexpr int32_t kDevicesPerNodeMax = 1024;  // chosen: far above any node; guards a broken count

// The model of each device, by index, as the facts state them.
std::vector<NameId> stated_models(const Node& facts, NameTable& names) {
  std::vector<NameId> models;
  for (const DeviceGroup& group : facts.devices) {
    const NameId model = names.intern(group.model);
    for (int32_t i = 0; i < group.count && models.size() < kDevicesPerNodeMax; ++i)
      models.push_back(model);
  }
  return models;
}

}  // namespace

FleetChange Fleet::state(const Node& facts, Instant at, NameTable& names) {
  const auto [it, fresh] =
      by_name_.try_emplace(facts.name, static_cast<NodeIndex>(data_.nodes.size()));
  if (fresh) data_.nodes.emplace_back();
  FleetNode& node = data_.nodes[it->second];
  FleetChange change{.node = it->second, .changed = fresh || !node.present || node.facts != facts};
  node.present = true;
  node.seen = at;
  node.usable = usable(facts).value_or(node.usable);
  if (!change.changed) return change;
  node.facts = facts;
  const std::vector<NameId> models = stated_models(facts, names);
  while (node.devices.size() > models.size()) {
    change.removed.push_back(node.devices.back());
    node.devices.pop_back();
  }
  for (size_t i = 0; i < models.size(); ++i) {
    if (i < node.devices.size() && data_.devices[node.devices[i]].model == models[i]) continue;
    const auto device = static_cast<DeviceIndex>(data_.devices.size());
    data_.devices.push_back(
        {.node = it->second, .index = static_cast<int32_t>(i), .model = models[i]});
    change.added.push_back(device);
    if (i < node.devices.size()) {
      change.removed.push_back(node.devices[i]);
      node.devices[i] = device;
    } else {
      node.devices.push_back(device);
    }
  }
  for (const DeviceIndex device : change.removed) data_.devices[device].present = false;
  present_ +=
      static_cast<int64_t>(change.added.size()) - static_cast<int64_t>(change.removed.size());
  return change;
}

std::optional<FleetChange> Fleet::remove(std::string_view name) {
  const auto found = find(name);
  if (!found || !data_.nodes[*found].present) return std::nullopt;
  FleetNode& node = data_.nodes[*found];
  node.present = false;
  node.usable = false;
  FleetChange change{.node = *found, .removed = std::move(node.devices), .changed = true};
  node.devices.clear();
  for (const DeviceIndex device : change.removed) data_.devices[device].present = false;
  present_ -= static_cast<int64_t>(change.removed.size());
  return change;
}

bool is_slice_model(std::string_view model) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t g = model.find("g."); g != model.npos; g = model.find("g.", g + 1)) {
    size_t end = g + 2;
    while (end < model.size() && digit(model[end])) ++end;
    if (g > 0 && digit(model[g - 1]) && end > g + 2 && model.substr(end).starts_with("gb"))
      return true;
  }
  return false;
}

}  // namespace fairlead
