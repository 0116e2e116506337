#include "explain/simulate.h"

#include "core/engine.h"
#include "explain/explain.h"

namespace fairlead {

Explanation simulate(const State& state, Job job) {
  Engine engine{State(state)};
  constexpr uint32_t kUnusedId = UINT32_MAX;
  job.id = kUnusedId;
  job.label = kSimulated;
  job.state = JobState::pending;
  job.reason = "None";
  job.priority = 1;  // not held; where it stands in the queue the scheduler alone knows
  job.submit = state.now;
  job.held.clear();
  const auto step = [&](What what) { engine.step({.at = state.now, .what = std::move(what)}); };
  step(PollBegan{});
  step(std::move(job));
  step(PollEnded{});
  Explainer explainer(engine.state());
  Explanation x = explainer.explain(*explainer.find(kSimulated));
  std::erase_if(x.blockers, [](const Blocker& b) { return b.code == BlockerCode::PRIORITY; });
  x.priority = 0;
  x.ahead = 0;
  x.note = "its place in the scheduler's own order";
  return x;
}

}  // namespace fairlead
