#include "contest/contest.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/rng.h"
#include "contest/rivals.h"

namespace fairlead::contest {

std::span<const RivalKind> rival_kinds() {
  static constexpr std::array kKinds = {
      RivalKind{"fifo", "the first that waits blocks all behind it", true, make_fifo},
      RivalKind{"easy", "EASY backfill behind the first that waits", true, make_easy},
      RivalKind{"conservative", "backfill that delays nobody ahead", true, make_conservative},
      RivalKind{"slurm-multifactor", "Slurm's multifactor priority and backfill", true, make_slurm},
      RivalKind{"kueue", "Kueue's ClusterQueues in cohorts", true, make_kueue},
      RivalKind{"fairlead", "ours, by the organisation file", true, make_fairlead},
      RivalKind{"srtf", "shortest remaining time first; stops without loss", false, make_srtf},
      RivalKind{"srsf", "shortest remaining time by devices first; stops without loss", false,
                make_srsf},
      RivalKind{"tiresias", "least attained service first; stops without loss", false,
                make_tiresias},
  };
  return kKinds;
}

const RivalKind* rival_kind(std::string_view name) {
  const auto kinds = rival_kinds();
  const auto it = std::ranges::find(kinds, name, &RivalKind::name);
  return it == kinds.end() ? nullptr : &*it;
}

std::vector<std::string> usual_rules() {
  std::vector<std::string> names{std::string(kNative)};
  for (const RivalKind& kind : rival_kinds())
    if (kind.usual) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names{std::string(kNative)};
  for (const RivalKind& kind : rival_kinds()) names.emplace_back(kind.name);
  return names;
}

Match with_seed(const Match& match, uint64_t seed) {
  Match out = match;
  if (seed == 0) return out;
  constexpr int64_t kMoveMost = 1800, kStretchMost = 100;  // seconds; thousandths
  Rng rng(seed);
  const int64_t first = match.jobs.front().submit;
  for (Job& job : out.jobs) {
    const int64_t before = job.length;
    const bool limited = job.limit > before;
    job.submit = std::max(first, job.submit + rng.between(-kMoveMost, kMoveMost));
    job.length =
        std::max<int64_t>(1, before * (1000 + rng.between(-kStretchMost, kStretchMost)) / 1000);
    if (limited)
      job.length = std::min(job.length, job.limit);
    else
      job.limit =
          std::max<int64_t>(1, job.limit + job.length -
                                   before);  // it knew its length, or ran over its limit by as much
  }
  sort_by_submission(out.jobs);
  out.native = false;
  return out;
}

namespace {

using Metric = std::pair<std::string, int64_t>;

std::vector<Metric> metrics_of(const Score& s) {
  std::vector<Metric> out = {{"wait_mean_us", s.all.wait_us.mean},
                             {"wait_p50_us", s.all.wait_us.p50},
                             {"wait_p90_us", s.all.wait_us.p90},
                             {"wait_p99_us", s.all.wait_us.p99},
                             {"completion_mean_us", s.all.completion_us.mean},
                             {"slowdown_mean_milli", s.all.slowdown_milli.mean},
                             {"makespan_us", s.makespan_us},
                             {"utilisation_ppm", s.utilisation_ppm},
                             {"useful_ppm", s.useful_ppm},
                             {"evictions", s.all.evictions},
                             {"lost_gpu_seconds", s.all.lost_gpu_seconds}};
  if (s.fragmentation_ppm) out.emplace_back("fragmentation_ppm", *s.fragmentation_ppm);
  if (s.share_error_ppm) out.emplace_back("share_error_ppm", *s.share_error_ppm);
  if (s.finish_time_fairness) {
    out.emplace_back("finish_time_fairness_mean_milli", s.finish_time_fairness->mean_milli);
    out.emplace_back("unfair_ppm", s.finish_time_fairness->unfair_ppm);
  }
  return out;
}

// Requires: each has the same metrics, or fewer.
std::vector<Interval> intervals_of(const std::vector<std::vector<Metric>>& seeds) {
  std::vector<Interval> out;
  if (seeds.empty()) return out;
  for (const auto& [name, ignored] : seeds.front()) {
    std::vector<int64_t> values;
    __int128 sum = 0;
    for (const auto& metrics : seeds) {
      const auto it = std::ranges::find(metrics, name, &Metric::first);
      if (it == metrics.end()) continue;
      values.push_back(it->second);
      sum += it->second;
    }
    std::ranges::sort(values);
    const size_t cut = values.size() / 40;  // 2.5 % at each end
    out.push_back({.metric = name,
                   .mean = static_cast<int64_t>(sum / std::ssize(values)),
                   .low = values[cut],
                   .high = values[values.size() - 1 - cut]});
  }
  return out;
}

class Player {
 public:
  explicit Player(const ContestOptions& options) : options_(options) {}

  // Nothing: stopped, or the history does not tell.
  std::optional<Score> play(const Match& match, const std::string& rule, int64_t seed,
                            const std::vector<int64_t>& alone) {
    if (rule == kNative) {
      if (!match.native) return std::nullopt;
      Score score = score_of(match, native_outcome(match), alone);
      score.rule = rule;
      score.about = "as the history states it";
      return score;
    }
    const RivalKind* kind = rival_kind(rule);
    CHECK(kind != nullptr);
    const auto rival = kind->make(match);
    Arena arena(match);
    const Outcome outcome = arena.play(*rival, [&](size_t done) {
      stopped_ = options_.progress &&
                 !options_.progress(
                     {.rule = rule, .seed = seed, .done = done, .total = match.jobs.size()});
      return !stopped_;
    });
    if (stopped_) return std::nullopt;
    Score score = score_of(match, outcome, alone);
    score.rule = rule;
    score.about = kind->about;
    return score;
  }
  bool stopped() const { return stopped_; }

 private:
  const ContestOptions& options_;
  bool stopped_ = false;
};

}  // namespace

std::vector<Score> play_contest(const Match& match, const ContestOptions& options) {
  Player player(options);
  std::vector<Score> scores;
  const std::vector<int64_t> alone = completions_alone(match);
  for (const std::string& rule : options.rules) {
    if (auto score = player.play(match, rule, 0, alone)) scores.push_back(std::move(*score));
    if (player.stopped()) return scores;
  }
  std::vector<std::vector<std::vector<Metric>>> seeds(scores.size());
  for (int64_t seed = 1; seed <= options.seeds; ++seed) {
    const Match changed = with_seed(match, static_cast<uint64_t>(seed));
    const std::vector<int64_t> alone_here = completions_alone(changed);
    for (size_t i = 0; i < scores.size(); ++i) {
      const auto score = player.play(changed, scores[i].rule, seed, alone_here);
      if (player.stopped()) return scores;
      if (score) seeds[i].push_back(metrics_of(*score));
    }
  }
  for (size_t i = 0; i < scores.size(); ++i) scores[i].seeds = intervals_of(seeds[i]);
  return scores;
}

Digest digest_of(const std::vector<Score>& scores) {
  Hasher hasher;
  for (const Score& score : scores) {
    hasher.add(std::string_view(score.rule));
    hasher.add(std::string_view(score.digest));
    for (const Interval& i : score.seeds) {
      hasher.add(static_cast<uint64_t>(i.mean));
      hasher.add(static_cast<uint64_t>(i.low));
      hasher.add(static_cast<uint64_t>(i.high));
    }
  }
  return hasher.digest();
}

}  // namespace fairlead::contest
