#include "views/workloads_view.h"

#include <gtest/gtest.h>

#include "core/engine.h"

namespace fairlead {
namespace {

TEST(WorkloadsView, PagesAndTakesAtLeastOneRow) {
  Engine engine("alpha", {});
  for (uint32_t id = 1; id <= 3; ++id) {
    Job job{.id = id, .label = std::to_string(id), .account = "research"};
    job.state = JobState::pending;
    engine.step({.at = instant_of_seconds(7200), .what = job});
  }
  const WorkloadList none = workloads_of(engine.state(), {.most = 0});
  EXPECT_EQ(none.workloads.size(), 1u);
  EXPECT_NE(none.next_cursor, 0u);
  const WorkloadList rest = workloads_of(engine.state(), {.most = 2, .after = none.next_cursor});
  EXPECT_EQ(rest.workloads.size(), 2u);
  EXPECT_EQ(rest.next_cursor, 0u);
}

}  // namespace
}  // namespace fairlead
