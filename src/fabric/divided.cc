#include "fabric/divided.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead {

std::span<const DividedDevice> DividedDevices::on(Position at) const {
  const auto node = by_node_.find(at);
  if (node == by_node_.end()) return {};
  return node->second;
}

DividedDevice DividedDevices::get(Position at, uint8_t number, bool sliced) const {
  for (const DividedDevice& device : on(at)) {
    if (device.number == number) return device;
  }
  return {.number = number,
          .sliced = sliced,
          .state = static_cast<uint16_t>(sliced ? 0 : kMilliOfDevice)};
}

void DividedDevices::put(Position at, DividedDevice device) {
  std::vector<DividedDevice>& devices = by_node_[at];
  const auto place = std::ranges::lower_bound(devices, device.number, {}, &DividedDevice::number);
  if (place != devices.end() && place->number == device.number) {
    unlist(at, *place);
    *place = device;
  } else {
    devices.insert(place, device);
  }
  of(device)[device.state].insert({at, device.number});
}

void DividedDevices::drop(Position at, uint8_t number) {
  const auto node = by_node_.find(at);
  CHECK(node != by_node_.end());
  std::vector<DividedDevice>& devices = node->second;
  const auto place = std::ranges::find(devices, number, &DividedDevice::number);
  CHECK(place != devices.end());
  unlist(at, *place);
  devices.erase(place);
  if (devices.empty()) by_node_.erase(node);
}

uint8_t DividedDevices::unused_number(Position at, int32_t skip) const {
  const std::span<const DividedDevice> devices = on(at);
  size_t next = 0;
  for (uint8_t number = 0;; ++number) {
    if (next < devices.size() && devices[next].number == number)
      ++next;
    else if (skip-- == 0)
      return number;
  }
}

void DividedDevices::unlist(Position at, const DividedDevice& device) {
  ByState& list = of(device);
  const auto spots = list.find(device.state);
  CHECK(spots != list.end() && spots->second.erase({at, device.number}) == 1);
  if (spots->second.empty()) list.erase(spots);
}

}  // namespace fairlead
