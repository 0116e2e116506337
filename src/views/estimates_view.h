// How what was told of starts compares with when they were (core/estimate.h).
#pragma once

#include "core/state.h"

namespace fairlead {

struct EstimatesTold {
  Instant made;  // the last; zero: none was
  int64_t told = 0, asked = 0, behind = 0;
  // Of first promises of a wait, since the score is kept; shares in millionths, -1: none yet.
  int64_t started = 0;
  int64_t by_p50_ppm = -1;  // half of them would be right
  int64_t by_p90_ppm = -1;  // nine tenths
  int64_t at_once = 0;      // told to start now
  int64_t at_once_ppm = -1;
  int64_t not_told = 0;
  // How far starts were from their P50, the median of the newest that are kept; -1: none.
  int64_t error_us = -1;         // of what was told first
  int64_t error_latest_us = -1;  // of what was told last
  bool operator==(const EstimatesTold&) const = default;
};
BOOST_DESCRIBE_STRUCT(EstimatesTold, (),
                      (made, told, asked, behind, started, by_p50_ppm, by_p90_ppm, at_once,
                       at_once_ppm, not_told, error_us, error_latest_us))

EstimatesTold estimates_of(const State& state);

}  // namespace fairlead
