// When what waits will start, and how that compares with when it did.
#include <algorithm>

#include "core/belonging.h"
#include "core/engine.h"

namespace fairlead {
namespace {

// Microseconds for each step: one is about five (tests/bench/decide_bench.cc), so that estimates
// take a hundredth of the time.
constexpr int64_t kPause = 500;

constexpr int64_t kPpm = 1'000'000;

// Nothing where fewer than half of the futures have a start.
Promise promise_of(std::array<Instant, kFutures> starts, Instant made) {
  const auto known = std::ranges::partition(starts, &Instant::known).begin();
  std::sort(starts.begin(), known);
  const auto nth = [&](size_t n) {
    return n <= static_cast<size_t>(known - starts.begin()) ? starts[n - 1] : Instant{};
  };
  const Instant median = nth((kFutures + 1) / 2);
  return {.made = made, .p50 = median, .p90 = nth(kFutures), .foreseen = median};
}

bool is_soon(const Promise& p) { return p.foreseen <= p.made + kEstimateResolution; }

// How waits came out that were foreseen.
class Correction {
 public:
  explicit Correction(const EstimateCard& card) {
    for (const ScoredEstimate& s : card.last) {
      const int64_t wait = std::max<int64_t>(0, (s.started - s.first.made).us);
      if (is_soon(s.first))
        soon_.push_back(wait);
      else
        parts_.push_back(part(wait, (s.first.foreseen - s.first.made).us));
    }
    std::ranges::sort(soon_);
    std::ranges::sort(parts_);
  }

  void correct(Promise& p) const {
    const std::vector<int64_t>& learned = is_soon(p) ? soon_ : parts_;
    if (!p.foreseen.known() || learned.size() < kCorrectionLeast) return;
    const auto wait = [&](size_t tenths) {
      const int64_t value = learned[learned.size() * tenths / 10];
      if (is_soon(p)) return Duration{value};
      return Duration{(p.foreseen - p.made).us / kPpm * value};
    };
    p.p50 = p.made + wait(5);
    if (p.p90.known()) p.p90 = p.made + wait(9);
  }

 private:
  static int64_t part(int64_t wait, int64_t foreseen) {
    constexpr int64_t kPartMax = 1000 * kPpm;
    return std::min(kPartMax, wait / 1000 * kPpm / std::max<int64_t>(1, foreseen / 1000));
  }

  std::vector<int64_t> soon_;   // us of waits where a start now was foreseen
  std::vector<int64_t> parts_;  // millionths of the wait that was foreseen
};

}  // namespace

void Engine::estimate() {
  Estimates& estimates = state_.estimates;
  if (estimates.made.known() &&
      state_.now - estimates.made < Duration{static_cast<int64_t>(estimates.steps) * kPause})
    return;
  const Foreseen foreseen = allocator_.foresee(state_, lengths_);
  const Correction correction(estimates.card);
  std::map<WorkloadId, StartEstimate> now;
  for (const auto& [id, starts] : foreseen.starts) {
    Promise promise = promise_of(starts, state_.now);
    correction.correct(promise);
    const auto before = estimates.now.find(id);
    if (before == estimates.now.end() && !promise.p50.known()) continue;
    now[id] = {.first = before == estimates.now.end() ? promise : before->second.first,
               .latest = promise,
               .by_history = lengths_.like(state_.workloads.at(id)) != nullptr};
  }
  // What was told first is kept until the start, also where others come before it for a while.
  for (const auto& [id, before] : estimates.now) {
    const auto waits = state_.workloads.find(id);
    if (waits == state_.workloads.end() || waits->second.job.state != JobState::pending) continue;
    const auto [kept, is_new] = now.try_emplace(id, before);
    if (is_new) kept->second.latest = {.made = before.latest.made};
  }
  estimates.now = std::move(now);
  estimates.made = state_.now;
  estimates.steps = foreseen.steps;
  estimates.asked = std::ssize(foreseen.starts);
  estimates.behind = foreseen.behind;
}

// A workload that waited may have started.
void Engine::score_estimate(const Workload& workload, bool waited) {
  if (!waited || stage_of(state_) == Stage::observe || workload.job.state == JobState::pending)
    return;
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
    // The first task of an array that starts is scored; those that start with it were told as one.
    card.not_told += estimates.made.known() && record == nullptr ? 1 : 0;
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
