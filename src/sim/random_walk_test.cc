#include "sim/random_walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace fairlead {
namespace {

int64_t from_environment(const char* name, int64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoll(value);
}

WalkResult walk(WalkOptions options) {
  const WalkResult result = random_walk(options);
  fmt::print("seed {} steps {}{}: {} events, {} decisions, {} comparisons, digest {}\n",
             options.seed, options.steps, options.faults ? "" : " without faults", result.events,
             result.decisions, result.comparisons, to_text(result.digest));
  EXPECT_EQ(result.problem, "") << "at step " << result.step
                                << "; to repeat: FAIRLEAD_SEED=" << options.seed
                                << " FAIRLEAD_STEPS=" << result.step + 1
                                << " FAIRLEAD_FAULTS=" << options.faults
                                << " build/dev/sim_test --gtest_filter=RandomWalk.ThatIsAskedFor";
  return result;
}

TEST(RandomWalk, BooksAgreeAfterEachOfTwentyThousandSteps) {
  for (uint64_t seed = 1; seed <= 5; ++seed) walk({.seed = seed, .steps = 4000});
}

TEST(RandomWalk, WithoutFaultsToo) { walk({.seed = 101, .steps = 2000, .faults = false}); }

TEST(RandomWalk, EverySecondThatWasHeldIsInTheBooks) {
  for (uint64_t seed = 201; seed <= 202; ++seed) walk({.seed = seed, .steps = 800, .calm = true});
}

TEST(RandomWalk, TheSameSeedIsTheSameWalk) {
  EXPECT_EQ(walk({.seed = 7, .steps = 1000}).digest, walk({.seed = 7, .steps = 1000}).digest);
  EXPECT_NE(walk({.seed = 7, .steps = 500}).digest, walk({.seed = 8, .steps = 500}).digest);
}

TEST(RandomWalk, ThinnedSamplesTellTheSame) {
  for (uint64_t seed = 301; seed <= 303; ++seed) {
    const WalkResult thinned = walk({.seed = seed, .steps = 1000, .thin = true});
    EXPECT_EQ(thinned.digest, walk({.seed = seed, .steps = 1000}).digest);
  }
}

// FAIRLEAD_SEED, FAIRLEAD_STEPS, FAIRLEAD_FAULTS choose; FAIRLEAD_WALKS takes so many seeds from
// there.
TEST(RandomWalk, ThatIsAskedFor) {
  const int64_t first = from_environment("FAIRLEAD_SEED", 0);
  if (first == 0) GTEST_SKIP() << "FAIRLEAD_SEED asks for a walk";
  for (int64_t seed = first; seed < first + from_environment("FAIRLEAD_WALKS", 1); ++seed) {
    walk({.seed = static_cast<uint64_t>(seed),
          .steps = from_environment("FAIRLEAD_STEPS", 5000),
          .faults = from_environment("FAIRLEAD_FAULTS", 1) != 0});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace fairlead
