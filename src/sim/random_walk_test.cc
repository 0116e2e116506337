// Walks from seeds. Each is made in a process of its own, so that one which stops us (a CHECK)
// fails as any other: with its seed, and with the fewest of its steps that still fail.
#include "sim/random_walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "sim/shrink.h"

namespace fairlead {
namespace {

int64_t from_environment(const char* name, int64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoll(value);
}

std::string all_of(int fd) {
  std::string text;
  char block[4096];
  for (ssize_t n = 0; (n = ::read(fd, block, sizeof block)) > 0;)
    text.append(block, static_cast<size_t>(n));
  return text;
}

WalkResult walk_apart(std::span<const WalkStep> steps, const WalkOptions& options) {
  int ends[2];
  if (::pipe(ends) != 0) return {.problem = "no pipe"};
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    const WalkResult r = [&]() noexcept { return walk(steps, options); }();
    const std::string text = fmt::format("{} {} {} {} {} {} {}", r.digest.value, r.step, r.events,
                                         r.decisions, r.comparisons, r.submitted, r.problem);
    const auto written = ::write(ends[1], text.data(), text.size());
    ::_exit(written == std::ssize(text) ? 0 : 1);
  }
  ::close(ends[1]);
  const std::string text = all_of(ends[0]);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  WalkResult r{.step = std::ssize(steps) - 1};
  int problem_at = 0;
  if (status != 0 ||
      std::sscanf(text.c_str(), "%lu %ld %lu %ld %ld %ld %n", &r.digest.value, &r.step, &r.events,
                  &r.decisions, &r.comparisons, &r.submitted, &problem_at) != 6) {
    r.problem = "the walk stopped the process; what it said stands above";
    return r;
  }
  r.problem = text.substr(static_cast<size_t>(problem_at));
  return r;
}

struct Shrunk {
  std::vector<WalkStep> steps;
  std::string problem;
  int64_t runs = 0;
};

Shrunk shrunk(std::span<const WalkStep> steps, const WalkOptions& options) {
  // Chosen: as long as sixty walks take.
  ShrinkBudget budget{.steps_max = 60 * std::ssize(steps)};
  Shrunk out;
  out.steps = shrink(std::vector(steps.begin(), steps.end()), budget,
                     [&](const std::vector<WalkStep>& some) -> size_t {
                       const WalkResult r = walk_apart(some, options);
                       if (r.problem.empty()) return 0;
                       out.problem = r.problem;
                       return static_cast<size_t>(r.step) + 1;
                     });
  out.runs = budget.runs;
  return out;
}

std::string how_to_repeat(const WalkOptions& o, int64_t step) {
  return fmt::format(
      "FAIRLEAD_SEED={} FAIRLEAD_STEPS={} FAIRLEAD_FAULTS={:d} FAIRLEAD_CALM={:d} "
      "build/dev/sim_test --gtest_filter=RandomWalk.ThatIsAskedFor",
      o.seed, step + 1, o.faults, o.calm);
}

// As a test that can be pasted.
std::string as_test(const Shrunk& s, const WalkOptions& o) {
  return fmt::format(
      "TEST(RandomWalk, Seed{}) {{\n  const std::vector<WalkStep> steps = {{\n{}  }};\n"
      "  EXPECT_EQ(walk(steps, {{.calm = {}, .thin = {}}}).problem, \"\");\n}}\n",
      o.seed, to_text(s.steps), o.calm, o.thin);
}

WalkResult walk_of(const WalkOptions& options) {
  const std::vector<WalkStep> steps = draw_walk(options);
  const WalkResult result = walk_apart(steps, options);
  fmt::print("seed {} steps {}{}: {} events, {} decisions, {} comparisons, digest {}\n",
             options.seed, options.steps, options.faults ? "" : " without faults", result.events,
             result.decisions, result.comparisons, to_text(result.digest));
  if (!result.problem.empty())
    fmt::print("step {}: {}\nto repeat: {}\n", result.step, result.problem,
               how_to_repeat(options, result.step));
  std::fflush(stdout);  // what follows may take long
  if (result.problem.empty()) return result;
  const Shrunk s = shrunk(std::span(steps).first(static_cast<size_t>(result.step) + 1), options);
  ADD_FAILURE() << fmt::format(
      "seed {}, step {}: {}\nto repeat: {}\n{} of these steps are enough ({} walks tried): {}\n{}",
      options.seed, result.step, result.problem, how_to_repeat(options, result.step),
      s.steps.size(), s.runs, s.problem, as_test(s, options));
  return result;
}

TEST(RandomWalk, BooksAgreeAfterEachOfTwentyThousandSteps) {
  for (uint64_t seed = 1; seed <= 5; ++seed) walk_of({.seed = seed, .steps = 4000});
}

TEST(RandomWalk, WithoutFaultsToo) { walk_of({.seed = 101, .steps = 2000, .faults = false}); }

TEST(RandomWalk, EverySecondThatWasHeldIsInTheBooks) {
  for (uint64_t seed = 201; seed <= 202; ++seed)
    walk_of({.seed = seed, .steps = 800, .calm = true});
}

TEST(RandomWalk, TheSameSeedIsTheSameWalk) {
  EXPECT_EQ(walk_of({.seed = 7, .steps = 1000}).digest, walk_of({.seed = 7, .steps = 1000}).digest);
  EXPECT_NE(walk_of({.seed = 7, .steps = 500}).digest, walk_of({.seed = 8, .steps = 500}).digest);
}

TEST(RandomWalk, ThinnedSamplesTellTheSame) {
  for (uint64_t seed = 301; seed <= 303; ++seed) {
    const WalkResult thinned = walk_of({.seed = seed, .steps = 1000, .thin = true});
    EXPECT_EQ(thinned.digest, walk_of({.seed = seed, .steps = 1000}).digest);
  }
}

// --- what walks have found

// A node failed, the controller crashed before it had saved that, and came back with the job on a
// node that was down; when the node left, the job held what was not there: the model's own mistake.
TEST(RandomWalk, AJobThatWasSavedOnANodeThatFailedSince) {
  const std::vector<WalkStep> steps = {
      {StepKind::submit, 0xc4e9422d6c69f2ed},  {StepKind::pass, 0x8561cf71d21eb816},
      {StepKind::node, 0x5af8b42fce7c6e8f},    {StepKind::controller, 0x3f682e0b73778664},
      {StepKind::compare, 0xf5765399c455b85d}, {StepKind::node, 0xd3f98856c840a548},
      {StepKind::compare, 0xc9dea4bcf0ddef6},
  };
  EXPECT_EQ(walk(steps, {}).problem, "");
}

// --- planted faults

TEST(RandomWalk, AFailureShrinksToThePairThatMakesIt) {
  WalkOptions options{.seed = 11, .steps = 100};
  const std::vector<WalkStep> steps = draw_walk(options);
  const std::vector<WalkStep> pair = {steps[17], steps[90]};
  options.also = [&](std::span<const WalkStep> made) -> std::string {
    const auto first = std::ranges::find(made, pair[0]);
    return std::find(first, made.end(), pair[1]) == made.end() ? "" : "planted";
  };
  const WalkResult result = walk_apart(steps, options);
  EXPECT_EQ(result.problem, "planted");
  EXPECT_EQ(result.step, 90);
  const Shrunk s = shrunk(std::span(steps).first(91), options);
  EXPECT_EQ(s.steps, pair);
  EXPECT_EQ(s.problem, "planted");
  const std::string text = as_test(s, options);
  EXPECT_NE(
      text.find(fmt::format("{{StepKind::{}, 0x{:x}}},", enum_name(pair[0].kind), pair[0].draws)),
      std::string::npos)
      << text;
}

TEST(RandomWalk, AWalkThatStopsTheProcessShrinksToo) {
  WalkOptions options{.seed = 12, .steps = 80};
  const std::vector<WalkStep> steps = draw_walk(options);
  const WalkStep fatal = steps[60];
  options.also = [&](std::span<const WalkStep> made) -> std::string {
    if (made.back() == fatal) ::_exit(9);
    return "";
  };
  EXPECT_NE(walk_apart(steps, options).problem, "");
  EXPECT_EQ(shrunk(steps, options).steps, std::vector{fatal});
}

TEST(RandomWalk, EveryKindOfStepIsDrawn) {
  const std::vector<WalkStep> steps = draw_walk({.seed = 1, .steps = 2000});
  for (const StepKind kind :
       {StepKind::pass, StepKind::pause, StepKind::submit, StepKind::job, StepKind::node,
        StepKind::controller, StepKind::organisation, StepKind::fault, StepKind::compare})
    EXPECT_GT(std::ranges::count(steps, kind, &WalkStep::kind), 5) << enum_name(kind);
}

// FAIRLEAD_SEED, FAIRLEAD_STEPS, FAIRLEAD_FAULTS, FAIRLEAD_CALM choose; FAIRLEAD_WALKS takes so
// many seeds from there.
TEST(RandomWalk, ThatIsAskedFor) {
  const int64_t first = from_environment("FAIRLEAD_SEED", 0);
  if (first == 0) GTEST_SKIP() << "FAIRLEAD_SEED asks for a walk";
  for (int64_t seed = first; seed < first + from_environment("FAIRLEAD_WALKS", 1); ++seed) {
    walk_of({.seed = static_cast<uint64_t>(seed),
             .steps = from_environment("FAIRLEAD_STEPS", 5000),
             .faults = from_environment("FAIRLEAD_FAULTS", 1) != 0,
             .calm = from_environment("FAIRLEAD_CALM", 0) != 0});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace fairlead
