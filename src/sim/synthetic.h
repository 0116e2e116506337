// A made-up year of a site, as `sacct -P` prints it: for benchmarks and tests, never for claims
// about real sites. The same seed gives the same text.
//
// Sizes and lengths follow what public traces agree on: most jobs take one device and minutes, few
// take hundreds and days. A fleet of `devices` serves them first come first served, so that waits
// and load are of one piece.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace fairlead {

struct SyntheticSite {
  uint64_t seed = 1;
  int64_t jobs = 1000;
  int64_t devices = 6000;
  Instant from = instant_of_seconds(1'767'225'600);  // 2026-01-01
  int64_t span_s = 365 * 86400;
  int32_t teams = 24, users = 300;
  uint64_t requeued_ppm = 10'000;  // of jobs are thrown away once and run again
  uint64_t cpu_only_ppm = 150'000;
};

std::string synthetic_sacct(const SyntheticSite& site);

}  // namespace fairlead
