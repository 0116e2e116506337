#include "contest/score.h"

#include <algorithm>
#include <map>

namespace fairlead::contest {
namespace {

constexpr int64_t kBoundedAt = 10;  // seconds, given by the definition
constexpr int64_t kPartsOfTime = 100, kQuantiles = 20;

// Of its run, in the form that it had.
int64_t length_of(const Job& job, const Fate& fate) {
  return Form{.gang = {}, .speed_ppm = fate.speed_ppm}.seconds_for(job.length);
}
int64_t wait_of(const Job& job, const Fate& fate) {
  return std::max<int64_t>(0, fate.end - job.submit - length_of(job, fate));
}
int64_t slowdown_milli(const Job& job, const Fate& fate) {
  const int64_t length = std::max(length_of(job, fate), kBoundedAt);
  return std::max<int64_t>(1000, (fate.end - job.submit) * 1000 / length);
}

// Nearest rank.
int64_t quantile(const std::vector<int64_t>& sorted, int64_t percent) {
  if (sorted.empty()) return 0;
  const auto n = std::ssize(sorted);
  const int64_t rank = std::clamp<int64_t>((n * percent + 99) / 100, 1, n);
  return sorted[static_cast<size_t>(rank - 1)];
}

Quantiles quantiles_of(std::vector<int64_t>& values, int64_t unit) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  __int128 sum = 0;
  for (const int64_t v : values) sum += v;
  return {.mean = static_cast<int64_t>(sum * unit / std::ssize(values)),
          .p50 = quantile(values, 50) * unit,
          .p90 = quantile(values, 90) * unit,
          .p99 = quantile(values, 99) * unit};
}

struct Sample {
  std::vector<int64_t> waits, completions, slowdowns;
  int64_t never = 0, evictions = 0, lost = 0;

  void add(const Job& job, const Fate& fate) {
    evictions += fate.evictions;
    lost += fate.lost;
    if (fate.end == 0) {
      ++never;
      return;
    }
    waits.push_back(wait_of(job, fate));
    completions.push_back(fate.end - job.submit);
    slowdowns.push_back(slowdown_milli(job, fate));
  }
  Group group(std::string name) {
    return {.name = std::move(name),
            .workloads = std::ssize(waits) + never,
            .never_started = never,
            .wait_us = quantiles_of(waits, kMicrosPerSecond),
            .completion_us = quantiles_of(completions, kMicrosPerSecond),
            .slowdown_milli = quantiles_of(slowdowns, 1),
            .evictions = evictions,
            .lost_gpu_seconds = lost};
  }
};

int64_t ppm(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<int64_t>(static_cast<__int128>(part) * 1'000'000 / whole);
}

// Device-seconds of last runs in each part of the time from `from` until `until`.
std::vector<int64_t> held_in_parts(const Match& match, const Outcome& outcome, int64_t capacity) {
  const Use& use = outcome.use;
  const int64_t span = use.until - use.from;
  if (span < kPartsOfTime || capacity == 0) return {};
  std::vector<int64_t> held(kPartsOfTime);
  const auto edge = [&](int64_t part) { return use.from + span * part / kPartsOfTime; };
  for (size_t i = 0; i < outcome.fates.size(); ++i) {
    const Fate& f = outcome.fates[i];
    if (f.end == 0 || f.start >= use.until) continue;
    const int64_t begin = std::max(f.start, use.from), end = std::min(f.end, use.until);
    for (int64_t p = (begin - use.from) * kPartsOfTime / span; p < kPartsOfTime && edge(p) < end;
         ++p)
      held[static_cast<size_t>(p)] +=
          std::max<int64_t>(0, std::min(end, edge(p + 1)) - std::max(begin, edge(p))) *
          match.jobs[i].gang.total();
  }
  for (int64_t p = 0; p < kPartsOfTime; ++p)
    held[static_cast<size_t>(p)] = std::min<int64_t>(
        1'000'000, ppm(held[static_cast<size_t>(p)], capacity * (edge(p + 1) - edge(p))));
  return held;
}

std::optional<Fairness> fairness_of(const Match& match, const Outcome& outcome,
                                    const std::vector<int64_t>& alone) {
  Fairness f;
  int64_t sum = 0, unfair = 0;
  for (size_t i = 0; i < alone.size(); ++i) {
    const Fate& fate = outcome.fates[i];
    if (alone[i] == 0 || fate.end == 0) continue;
    const int64_t ratio = (fate.end - match.jobs[i].submit) * 1000 / alone[i];
    ++f.workloads;
    sum += ratio;
    f.worst_milli = std::max(f.worst_milli, ratio);
    unfair += ratio > 1050 ? 1 : 0;
  }
  if (f.workloads == 0) return std::nullopt;
  f.mean_milli = sum / f.workloads;
  f.unfair_ppm = ppm(unfair, f.workloads);
  return f;
}

}  // namespace

Score score_of(const Match& match, const Outcome& outcome, const std::vector<int64_t>& alone) {
  Sample all;
  std::map<std::string, Sample> classes, teams;
  std::vector<Sample*> by_class, by_team;
  for (const auto& c : match.organisation.classes) by_class.push_back(&classes[c.name]);
  for (const auto& t : match.organisation.teams) by_team.push_back(&teams[t.path]);
  int64_t first = kNever, last = 0;
  for (size_t i = 0; i < outcome.fates.size(); ++i) {
    const Job& job = match.jobs[i];
    const Fate& fate = outcome.fates[i];
    all.add(job, fate);
    by_class[job.klass]->add(job, fate);
    by_team[job.team]->add(job, fate);
    first = std::min(first, job.submit);
    last = std::max(last, fate.end);
  }
  Score score{.all = all.group("all"),
              .makespan_us = std::max<int64_t>(0, last - first) * kMicrosPerSecond,
              .finish_time_fairness = fairness_of(match, outcome, alone),
              .digest = fairlead::to_text(digest_of(outcome))};
  for (int64_t q = 0; q <= kQuantiles; ++q)
    score.wait_quantiles_us.push_back(
        all.waits.empty()
            ? 0
            : (q == 0 ? all.waits.front() : quantile(all.waits, q * 100 / kQuantiles)) *
                  kMicrosPerSecond);
  for (auto& [name, sample] : classes)
    if (auto g = sample.group(name); g.workloads > 0) score.classes.push_back(std::move(g));
  for (auto& [name, sample] : teams)
    if (auto g = sample.group(name); g.workloads > 0) score.teams.push_back(std::move(g));
  const Use& use = outcome.use;
  const int64_t lost = std::min(use.held, score.all.lost_gpu_seconds);
  score.utilisation_ppm = ppm(use.held, use.capacity);
  score.useful_ppm = ppm(use.held - lost, use.capacity);
  if (outcome.placed) score.fragmentation_ppm = ppm(use.stranded, use.free_while_waiting);
  score.share_error_ppm = use.share_error_ppm;
  const int64_t span = use.until - use.from;
  score.held_ppm = held_in_parts(match, outcome, span > 0 ? use.capacity / span : 0);
  return score;
}

}  // namespace fairlead::contest
