// Several exporters' looks at one device, made into one row of looks. For normalise.cc alone.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "evidence/normalise_metrics.h"
#include "model/sample.h"

namespace fairlead::evidence {

struct SliceValue {
  uint32_t slice = 0;  // 0: the whole device
  uint8_t rank = 0;
  int64_t value = 0;
};

// What one exporter says of a device at one time.
struct ExporterLook {
  Instant at;
  std::string uuid = {};
  std::array<int64_t, kFields> values = filled(-1);
  std::array<int64_t, kFields> slices = filled(-1);  // slice that was taken last
  std::array<int64_t, kFields> ranks = filled(-1);
  int64_t taken = 0;

  // Requires: in order of whole before slices, rank, slice, largest first.
  void take(Field field, const SliceValue& value);

  int64_t operator[](Field field) const { return values[static_cast<size_t>(field)]; }
  bool has_activity() const;
  bool says_something() const;  // something that a DeviceSample can hold
  DeviceSample to_sample() const;

  static constexpr std::array<int64_t, kFields> filled(int64_t value) {
    std::array<int64_t, kFields> all{};
    all.fill(value);
    return all;
  }
};

using ExporterLooks = std::vector<ExporterLook>;  // by time

struct Merged {
  ExporterLooks looks;
  int64_t dropped = 0;         // values of exporters that were not taken
  int64_t contradictions = 0;  // fields
};

// The exporter that reports activity and looked last is the one; the others fill in fields that it
// never reports, with what they said last before its look.
Merged merge_looks(const std::vector<ExporterLooks>& exporters);

}  // namespace fairlead::evidence
