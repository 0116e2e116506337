#include "sim/synthetic.h"

#include <gtest/gtest.h>

#include "sim/replay.h"

namespace fairlead {
namespace {

TEST(Synthetic, TheSameSeedIsTheSameSiteAndItsReplayTheSameState) {
  const SyntheticSite site{.jobs = 3000, .devices = 64, .span_s = 40 * 86400};
  const std::string text = synthetic_sacct(site);
  EXPECT_EQ(text, synthetic_sacct(site));
  const auto replayed = [&] {
    std::vector<HistoryInput> inputs{{"synthetic", text}};
    const auto history = read_history(std::move(inputs));
    EXPECT_TRUE(history);
    EXPECT_EQ(history->notes().skipped_rows(), 0);
    EXPECT_EQ(history->notes().workloads, 3000);
    ReplayResult result = replay(*history);
    EXPECT_EQ(result.engine.recount(), "");
    EXPECT_EQ(result.engine.state().past.size(), 3000u);
    return result.engine.digest();
  };
  const Digest digest = replayed();
  EXPECT_EQ(digest, replayed());
}

}  // namespace
}  // namespace fairlead
