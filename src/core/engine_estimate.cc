// When what waits will start, and how that compares with when it did.
#include <algorithm>

#include "core/engine.h"

namespace fairlead {
namespace {

// A step is about a microsecond (tests/bench/estimate_bench.cc), and so estimates take a hundredth
// of the time.
constexpr int64_t kPause = 100;

// Nothing where fewer than half of the futures have a start.
Promise promise_of(std::array<Instant, kFutures> starts, Instant made) {
  const auto known = std::ranges::partition(starts, &Instant::known).begin();
  std::sort(starts.begin(), known);
  const auto nth = [&](size_t n) {
    return n <= static_cast<size_t>(known - starts.begin()) ? starts[n - 1] : Instant{};
  };
  return {.made = made, .p50 = nth((kFutures + 1) / 2), .p90 = nth(kFutures)};
}

}  // namespace

void Engine::estimate() {
  Estimates& estimates = state_.estimates;
  if (estimates.made.known() &&
      state_.now - estimates.made < Duration{static_cast<int64_t>(estimates.steps) * kPause})
    return;
  const Foreseen foreseen = allocator_.foresee(state_, lengths_);
  std::map<WorkloadId, StartEstimate> now;
  for (const auto& [id, starts] : foreseen.starts) {
    const Promise promise = promise_of(starts, state_.now);
    const auto before = estimates.now.find(id);
    if (before == estimates.now.end() && !promise.p50.known()) continue;
    now[id] = {.first = before == estimates.now.end() ? promise : before->second.first,
               .latest = promise,
               .by_history = lengths_.like(state_.workloads.at(id)) != nullptr};
  }
  estimates.now = std::move(now);
  estimates.made = state_.now;
  estimates.steps = foreseen.steps;
  estimates.asked = std::ssize(foreseen.starts);
  estimates.behind = foreseen.behind;
}

// A workload that waited may have started.
void Engine::score_estimate(const Workload& workload, bool waited) {
  if (!waited || workload.job.state == JobState::pending) return;
  Estimates& estimates = state_.estimates;
  auto told = estimates.now.find(workload.id);
  const Workload* record = array_of(workload.job);
  if (told == estimates.now.end() && record != nullptr) told = estimates.now.find(record->id);
  if (!workload.holding || workload.devices.empty()) {
    if (told != estimates.now.end() && told->first == workload.id) estimates.now.erase(told);
    return;
  }
  EstimateCard& card = estimates.card;
  if (told == estimates.now.end()) {
    card.not_told += estimates.made.known() ? 1 : 0;
    return;
  }
  const StartEstimate estimate = told->second;
  const Instant start = workload.run_start - kEstimateResolution;
  if (!estimate.first.is_for_a_wait()) {
    ++card.at_once;
    card.at_once_came += start <= estimate.first.p50 ? 1 : 0;
  } else {
    ++card.started;
    card.by_p50 += start <= estimate.first.p50 ? 1 : 0;
    card.with_p90 += estimate.first.p90.known() ? 1 : 0;
    card.by_p90 += estimate.first.p90.known() && start <= estimate.first.p90 ? 1 : 0;
  }
  if (card.last.size() == kEstimatesScored) card.last.erase(card.last.begin());
  card.last.push_back({.workload = workload.job.label,
                       .team = state_.names.name(workload.team),
                       .klass = state_.names.name(workload.klass),
                       .started = workload.run_start,
                       .first = estimate.first,
                       .latest = estimate.latest});
  // The tasks that still wait are estimated anew.
  estimates.now.erase(told);
}

}  // namespace fairlead
