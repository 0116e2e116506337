// What exporters call a thing, and what it is in our units.
//
// One row per metric name. A name is compared without case and without a leading "amd_", since
// exporters render it either way. Where a device is described by two metrics of one meaning, the
// row of the lower rank wins.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead::evidence {

// The members of DeviceSample that exporters fill, and three that only help to find others.
enum class Field : uint8_t {
  utilisation,
  engine_active,
  sm_active,
  tensor_active,
  memory_active,
  memory_used,
  memory_total,
  power,
  clock,
  temperature,
  fault_code,
  memory_free,
  memory_kept,   // by the driver: neither used nor free
  device_index,  // the number of the device that the series names by its UUID
};
inline constexpr size_t kFields = 14;

struct Metric {
  std::string_view name;  // in lower case
  Field field;
  double scale;  // theirs times this is ours
  uint8_t rank = 0;
  std::string_view label = {}, label_value = {};  // counts only where the series has this label
};

// Returns the row, or null where we do not know the name.
const Metric* find_metric(std::string_view name);

struct FieldRule {
  int64_t most;      // physically possible, in our unit
  int64_t disagree;  // two exporters that differ by more contradict each other
  bool adds_up;      // over the slices of a device; else the largest counts
};
const FieldRule& rule_of(Field field);

enum class BadValue : uint8_t { none, not_a_number, negative, blank, impossible };

struct Reading {
  int64_t value = -1;
  BadValue bad = BadValue::none;
};

// `raw` in our unit, or why it is none. NVIDIA's libraries write certain large numbers for "not
// supported" and the like; those are blank, and never a measurement.
Reading read_value(const Metric& metric, double raw);

}  // namespace fairlead::evidence
