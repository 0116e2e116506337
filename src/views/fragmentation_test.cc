#include "views/fragmentation.h"

#include <gtest/gtest.h>

#include <set>

#include "core/engine.h"

namespace fairlead {
namespace {

Job waiting(uint32_t id) {
  Job job{.id = id, .label = std::to_string(id), .account = "research"};
  job.partition = "all";
  job.state = JobState::pending;
  job.request.devices = {.per_node = 8, .total = 8};
  job.request.nodes_min = 1;
  return job;
}

// What is told beside gang and partition, one row after the other.
std::vector<std::string> constraints(const std::vector<Job>& jobs) {
  Engine engine("alpha", {});
  for (const Job& job : jobs) engine.step({.at = instant_of_seconds(7200), .what = job});
  std::vector<std::string> told;
  for (const ShapeRow& row : fragmentation_of(engine.state()).waiting_shapes)
    told.push_back(row.constraint);
  return told;
}

TEST(Fragmentation, ShapesOfOneGangCanBeToldApart) {
  Job picky = waiting(2), tied = waiting(3), large = waiting(4);
  picky.request.features = "nvl72";
  tied.request.nodes_required = "n012";
  EXPECT_EQ(constraints({waiting(1)}), std::vector<std::string>{""});
  const auto told = constraints({waiting(1), picky, tied});
  EXPECT_EQ(std::set(told.begin(), told.end()),
            (std::set<std::string>{"", "features nvl72", "nodes n012"}));
  large.request.memory_per_node_mb = 2048;
  const auto sizes = constraints({waiting(1), large});
  EXPECT_EQ(std::set(sizes.begin(), sizes.end()),
            (std::set<std::string>{"0 CPUs and 0 MiB a node", "0 CPUs and 2048 MiB a node"}));
}

}  // namespace
}  // namespace fairlead
