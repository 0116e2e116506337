// From what exporters say to samples in our units.
//
//   Normaliser normaliser(nodes, now);
//   for each series:  if (const auto series = normaliser.open(metric, labels)) for each point:
//   normaliser.add(*series, at, value); Normalised result = normaliser.finish();
//
// A value that is none (NaN, blank, negative, impossible, from the future) is left out and counted:
// it never becomes a zero. Of a device that several exporters describe, the one with the newest
// look counts, and the others only fill in what it does not say; where they contradict each other,
// that is counted. A slice (MIG instance, tile) counts for its device where nothing is said of the
// whole: the busiest slice for activity, the sum for memory. One series repeated for several jobs
// counts once.
//
// Same input in any order, same result.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "evidence/normalise_device.h"
#include "evidence/normalise_metrics.h"
#include "model/sample.h"

namespace fairlead::evidence {

enum class Dropped : uint8_t {
  not_a_number,
  negative,
  blank,       // the exporter's mark for "not supported" or "not available"
  impossible,  // more than is physically possible
  future,      // stamped more than five minutes ahead of us
  no_time,
  no_host,         // the series names no host
  no_device,       // and no device
  other_exporter,  // the same device, described by a newer look of another exporter
};
inline constexpr size_t kDropped = 9;

struct DropCounts {
  std::array<int64_t, kDropped> values{};
  std::array<std::string, kDropped> examples;  // a device that it happened to
  int64_t contradictions = 0;  // fields on which two exporters of one device disagree

  int64_t operator[](Dropped why) const { return values[static_cast<size_t>(why)]; }
  // "12 values from the future (n012 gpu 3); 2 contradictions"; empty where nothing was dropped.
  std::string to_text() const;
};

struct Normalised {
  std::vector<DeviceSample> samples;    // by node, index and time
  std::vector<DeviceSample> unmatched;  // of a host or device that the scheduler does not know
  DropCounts dropped;
};

class Normaliser {
 public:
  struct Series {
    const Metric* metric;
    uint32_t device;
  };

  // Requires: `nodes` outlives this. With an empty directory every host counts as known.
  Normaliser(const NodeDirectory& nodes, Instant now) : nodes_(nodes), now_(now) {}

  // Returns nothing where the metric is not one of ours, or where no device can be told.
  std::optional<Series> open(std::string_view metric, std::span<const Label> labels,
                             std::string_view page_host = {});
  void add(const Series& series, Instant at, double value);

  Normalised finish();

 private:
  struct Value {
    uint32_t device;  // of devices_
    Instant at;
    Field field;
    uint8_t rank;
    int64_t value;
  };
  struct Order;
  void drop(Dropped why, const DeviceName& device, int64_t count = 1);
  void learn_indices();
  std::vector<Order> find_order();
  void merge_exporters(std::span<const Value> values, std::span<const Order> order,
                       Normalised& out);

  const NodeDirectory& nodes_;
  Instant now_;
  boost::unordered_flat_map<std::string, uint32_t> ids_;
  std::vector<DeviceName> devices_;
  std::vector<Value> values_;
  DropCounts dropped_;
};

}  // namespace fairlead::evidence
