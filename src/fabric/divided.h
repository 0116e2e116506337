// Devices of which parts are taken: shared by thousandths, or cut into slices.
//
// A device is divided from its first part to its last; whole devices are only counted
// (CapacityIndex), so the divided ones of a node have numbers of their own, the lowest that is
// unused. They are few, and are found by what is left of them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace fairlead {

using Position = uint32_t;  // of a node in the index's order, leaf by leaf

constexpr int32_t kMilliOfDevice = 1000;

struct DividedDevice {
  uint8_t number = 0;   // among the node's divided devices
  bool sliced = false;  // else shared
  uint16_t state = 0;   // shared: thousandths left, 0…999; sliced: mask of the parts in use, 1…255
  bool operator==(const DividedDevice&) const = default;
};

class DividedDevices {
 public:
  struct Spot {
    Position at = 0;
    uint8_t number = 0;
    auto operator<=>(const Spot&) const = default;
  };
  using ByState = std::map<uint16_t, std::set<Spot>>;

  bool empty() const { return by_node_.empty(); }
  std::span<const DividedDevice> on(Position at) const;  // by number
  const ByState& shared() const { return shared_; }
  const ByState& sliced() const { return sliced_; }

  // The device of that number, or one that is not divided yet: shared with all of it left, or
  // without a slice in use.
  DividedDevice get(Position at, uint8_t number, bool sliced) const;
  void put(Position at, DividedDevice device);  // new, or in place of the one of its number
  void drop(Position at, uint8_t number);       // Requires: it is there.
  uint8_t unused_number(Position at, int32_t skip = 0) const;  // the lowest, but for so many

  bool operator==(const DividedDevices&) const = default;

 private:
  ByState& of(const DividedDevice& device) { return device.sliced ? sliced_ : shared_; }
  void unlist(Position at, const DividedDevice& device);

  std::map<Position, std::vector<DividedDevice>> by_node_;
  ByState shared_, sliced_;
};

}  // namespace fairlead
