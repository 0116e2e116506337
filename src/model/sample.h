// One look at one device, already in our units (evidence/normalise.h makes it from exporters'
// names).
//
// -1 is "not reported": absence is never zero.
#pragma once

#include <string>

#include "base/describe.h"

namespace fairlead {

struct DeviceSample {
  std::string node;
  int32_t index = -1;
  Instant at;                      // when the exporter looked, not when we asked
  int64_t utilisation_ppm = -1;    // some kernel ran
  int64_t engine_active_ppm = -1;  // graphics or compute engine
  int64_t sm_active_ppm = -1;
  int64_t tensor_active_ppm = -1;
  int64_t memory_active_ppm = -1;  // memory interface
  int64_t memory_used_mib = -1;
  int64_t memory_total_mib = -1;
  int64_t power_mw = -1;
  int64_t clock_mhz = -1;
  int64_t temperature_c = -1;
  int64_t fault_code = -1;  // vendor's last error (XID); 0: none
  std::string uuid;
  bool operator==(const DeviceSample&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeviceSample, (),
                      (node, index, at, utilisation_ppm, engine_active_ppm, sm_active_ppm,
                       tensor_active_ppm, memory_active_ppm, memory_used_mib, memory_total_mib,
                       power_mw, clock_mhz, temperature_c, fault_code, uuid))

}  // namespace fairlead
