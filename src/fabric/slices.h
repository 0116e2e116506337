// Which slices of a device may stand where: NVIDIA's MIG.
//
// The memory of a device has eight parts (four on an A30), and an instance takes some of them in a
// row, beginning at one of the places that its profile allows ("3g.40gb" of an A100-80G: four parts
// from 0 or from 4). Places within the rules never use more compute than there is, so what is used
// is told by a mask of the memory's parts alone: at most 256 states, each answered from a table.
// Source: NVIDIA, MIG user guide, "supported profiles" of each model.
//
// Of the places that are free an instance gets the one after which the most places of all profiles
// are left; of several the first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace fairlead {

struct SliceProfile {
  std::string_view name;  // "1g.10gb"
  int32_t compute = 0;    // of the device's slices of compute, 7 or 4
  int32_t parts = 0;      // of memory
  uint8_t starts = 0;     // mask of the parts at which it may begin
};

class SliceTable {
 public:
  explicit SliceTable(std::span<const SliceProfile> profiles);

  std::span<const SliceProfile> profiles() const { return profiles_; }
  std::optional<int32_t> find(std::string_view name) const;
  // How many more instances of a profile fit onto a device of which `used` is in use.
  int32_t room(uint8_t used, int32_t profile) const;
  // Where to put one, or nothing where none fits.
  std::optional<int32_t> start(uint8_t used, int32_t profile) const;
  // The parts that an instance takes.
  uint8_t mask(int32_t profile, int32_t start) const;
  // Places of all profiles that are left.
  int32_t places_left(uint8_t used) const { return left_[used]; }

 private:
  std::span<const SliceProfile> profiles_;
  std::array<int32_t, 256> left_{};
  std::vector<std::array<int8_t, 256>> room_, start_;  // by profile
};

// By the catalogue's name of the model ("H100-80G"); nothing for one that cannot be sliced or whose
// size of memory the name leaves open.
const SliceTable* slice_table(std::string_view model);

}  // namespace fairlead
