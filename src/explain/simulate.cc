#include "explain/simulate.h"

#include "explain/explain.h"

namespace fairlead {

Job as_submitted_now(Job job, Instant now) {
  job.id = UINT32_MAX;  // unused
  job.label = kSimulated;
  job.state = JobState::pending;
  job.reason = "None";
  job.priority = 1;  // not held; where it stands in the queue the scheduler alone knows
  job.submit = now;
  job.held.clear();
  return job;
}

Explanation simulate(const Engine& engine, Job job) {
  const Workload workload = engine.suppose(as_submitted_now(std::move(job), engine.state().now));
  Explanation x = Explainer(engine).explain_supposed(workload);
  std::erase_if(x.blockers, [](const Blocker& b) { return b.code == BlockerCode::PRIORITY; });
  x.priority = 0;
  x.ahead = 0;
  x.note = "its place in the scheduler's own order";
  return x;
}

}  // namespace fairlead
