// How time moves in the modelled Slurm: what is due by itself, and when.
#include <algorithm>

#include "base/check.h"
#include "sim/slurm_model.h"

namespace fairlead {

// When the run ends by itself or by its limit; nothing while it is suspended.
std::optional<Instant> SlurmModel::run_end(const ModelJob& j) const {
  if (j.facts.state != JobState::running) return std::nullopt;
  int64_t runs_s = j.asked.runs_s;
  if (j.facts.request.time_limit_s >= 0) runs_s = std::min(runs_s, j.facts.request.time_limit_s);
  return j.facts.start + seconds(runs_s + j.suspended_s);
}

// The earliest instant after now at which something is due by itself; far away where nothing is.
Instant SlurmModel::next_change() const {
  Instant next{INT64_MAX};
  const auto consider = [&](Instant at) {
    if (at > now_) next = std::min(next, at);
  };
  if (away_) return next;
  if (unsaved_) consider(save_at_);
  if (dirty_) consider(slow_until_);
  for (const auto& [id, j] : jobs_) {
    if (const auto end = run_end(j)) consider(*end);
    if (j.facts.state == JobState::pending) consider(j.facts.begin);
    if (has_ended(j.facts.state)) consider(j.facts.end + seconds(rules_.min_job_age_s));
  }
  for (const auto& [name, r] : reservations_) {
    consider(r.start);
    consider(r.end);
  }
  return next;
}

void SlurmModel::settle() {
  for (auto& [id, j] : jobs_) {
    const auto end_at = run_end(j);
    if (!end_at || *end_at > now_) continue;
    const int64_t limit = j.facts.request.time_limit_s;
    const bool over = limit >= 0 && limit < j.asked.runs_s;
    end(j, over ? JobState::timeout : JobState::completed, j.asked.fails);
  }
  const auto old = [&](const auto& item) {
    return has_ended(item.second.facts.state) &&
           item.second.facts.end + seconds(rules_.min_job_age_s) <= now_;
  };
  std::erase_if(jobs_, old);
  for (const auto& [name, r] : reservations_) dirty_ = dirty_ || r.start == now_ || r.end == now_;
  for (const auto& [id, j] : jobs_)
    dirty_ = dirty_ || (j.facts.state == JobState::pending && j.facts.begin == now_);
  if (dirty_ && now_ >= slow_until_) schedule();
  if (unsaved_ && now_ >= save_at_) save();
}

void SlurmModel::advance(Instant to) {
  CHECK(to >= now_);
  if (!away_ && dirty_) settle();
  for (Instant next = next_change(); next <= to; next = next_change()) {
    now_ = next;
    settle();
  }
  now_ = to;
}

}  // namespace fairlead
