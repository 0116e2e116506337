// How fast a kind of work runs on which devices, as Gavel measured and publishes it (Narayanan et
// al., OSDI '20): for each worker type, kind of job and number of devices, steps a second.
//
// The table is JSON: {"v100": {"('ResNet-18 (batch size 16)', 1)": {"null": 42.1, …}, …}, …}, where
// "null" is the job alone on its devices. What shares devices with others is not read.
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>

#include "contest/match.h"

namespace fairlead::contest {

class Throughputs {
 public:
  // Fails with throughputs-bad, at the worker type and kind of job.
  static Result<Throughputs> read(std::string_view json, const std::string& source);

  // Nothing: not measured, or it does not run there.
  std::optional<double> steps_per_second(const std::string& device, const std::string& kind,
                                         int64_t devices) const;
  size_t size() const { return steps_.size(); }

 private:
  std::map<std::tuple<std::string, std::string, int64_t>, double> steps_;
};

// Lets each job run on any of `devices`, the first of which its length is stated for; its kind is
// the name of its class. Devices are counted: a gang stands on any nodes that have some.
// Fails with throughputs-unknown-device, throughputs-unknown-kind.
Result<void> accept_devices(Match& match, const Throughputs& table,
                            std::span<const std::string> devices);

}  // namespace fairlead::contest
