#include "contest/arena.h"

#include <algorithm>

#include "base/check.h"
#include "contest/entitlement.h"

namespace fairlead::contest {
namespace {

constexpr int64_t kSamples = 2000;  // chosen: of a year one in four hours
constexpr size_t kProgressEvery = 1 << 12;

}  // namespace

Digest digest_of(const Outcome& outcome) {
  Hasher hasher;
  for (const Fate& f : outcome.fates) {
    hasher.add(static_cast<uint64_t>(f.start));
    hasher.add(static_cast<uint64_t>(f.end));
    hasher.add(static_cast<uint64_t>(f.epoch()));
  }
  return hasher.digest();
}

Arena::Arena(const Match& match)
    : match_(match),
      board_(match.board()),
      running_(match.jobs.size()),
      due_(match.organisation.devices.size()),
      held_by_team_(match.organisation.teams.size() * due_.size()),
      waiting_by_team_(held_by_team_.size()) {
  outcome_.fates.resize(match.jobs.size());
  for (DeviceId d = 0; d < due_.size(); ++d) {
    waiting_parts_.emplace_back(static_cast<size_t>(board_.node_size(d)) + 1);
    outcome_.use.capacity += board_.capacity(d);  // times the span, at the end
  }
  if (match.jobs.empty()) return;
  Use& use = outcome_.use;
  use.from = now_ = match.jobs.front().submit;
  use.until = match.jobs.back().submit;
  if (use.until == use.from) use.until = kNever;  // all at once: until the last has ended
  sample_every_ =
      use.until == kNever ? 600 : std::max<int64_t>(60, (use.until - use.from) / kSamples);
  next_sample_ = use.from + sample_every_;
}

Outcome Arena::play(Rival& rival, const std::function<bool(size_t)>& progress) {
  rival_ = &rival;
  size_t next = 0;
  bool changed = false;  // since the last look
  const auto& jobs = match_.jobs;
  for (;;) {
    while (!ends_.empty() && outcome_.fates[ends_.top().job].epoch() != ends_.top().epoch)
      ends_.pop();  // of a run that was taken back
    int64_t at = next < jobs.size() ? jobs[next].submit : kNever;
    if (!ends_.empty()) at = std::min(at, ends_.top().at);
    if (waiting_ > 0 || rival.always_looks()) {
      at = std::min(at, look_at(std::max(now_ + 1, rival.wake_at())));
      if (changed) at = std::min(at, look_at(now_ + 1));
    }
    if (at == kNever) break;  // what still waits never starts
    advance(at);
    while (!ends_.empty() && ends_.top().at == at) {
      const End end = ends_.top();
      ends_.pop();
      if (outcome_.fates[end.job].epoch() != end.epoch) continue;
      leave(end.job);
      outcome_.fates[end.job].end = at;
      changed = true;
      if (++ended_ % kProgressEvery == 0 && progress && !progress(ended_)) return outcome_;
    }
    for (; next < jobs.size() && jobs[next].submit == at; ++next) {
      enter(static_cast<JobIndex>(next));
      changed = true;
    }
    if (look_at(at) == at && (waiting_ > 0 || rival.always_looks())) {
      changed = false;
      ++outcome_.looks;
      rival.look(*this);
    }
  }
  Use& use = outcome_.use;
  if (use.until == kNever) use.until = now_;
  use.capacity *= use.until - use.from;
  if (samples_ > 0) use.share_error_ppm = share_error_sum_ / samples_;
  return std::move(outcome_);
}

// The first instant from `at` on at which a rule may look.
int64_t Arena::look_at(int64_t at) const {
  if (match_.round == 0 || at == kNever) return at;
  const int64_t since = at - outcome_.use.from;
  return at + (match_.round - since % match_.round) % match_.round;
}

void Arena::advance(int64_t to) {
  const int64_t stop = std::min(to, outcome_.use.until);
  while (next_sample_ <= stop) {
    sample();
    next_sample_ += sample_every_;
  }
  if (now_ < stop) measure(stop - now_);
  now_ = to;
}

void Arena::measure(int64_t span) {
  Use& use = outcome_.use;
  for (DeviceId d = 0; d < due_.size(); ++d) {
    const int64_t free = board_.free(d);
    use.held += (board_.capacity(d) - free) * span;
    if (free == 0) continue;
    const auto& parts = waiting_parts_[d];
    const auto least = std::ranges::find_if(parts, [](int64_t n) { return n > 0; });
    if (least == parts.end()) continue;
    use.free_while_waiting += free * span;
    use.stranded += board_.free_below(d, static_cast<int32_t>(least - parts.begin())) * span;
  }
}

void Arena::sample() {
  const auto error = share_error_ppm(match_, held_by_team_, waiting_by_team_);
  if (!error) return;
  share_error_sum_ += *error;
  ++samples_;
}

void Arena::count_waiting(const Job& job, int64_t by) {
  waiting_ += static_cast<size_t>(by);
  waiting_parts_[job.gang.device][static_cast<size_t>(job.gang.least_part())] += by;
  waiting_by_team_[job.team * due_.size() + job.gang.device] += by * job.gang.total();
}

void Arena::enter(JobIndex index) {
  count_waiting(job(index), 1);
  rival_->waits(*this, index);
}

bool Arena::fits(JobIndex index) const {
  const Job& j = job(index);
  for (size_t i = 0; i < match_.forms_of(j); ++i)
    if (board_.fits(match_.form_of(j, i).gang)) return true;
  return false;
}

bool Arena::start(JobIndex index) {
  const Job& j = job(index);
  for (size_t i = 0; i < match_.forms_of(j); ++i) {
    auto places = board_.places_for(match_.form_of(j, i).gang);
    if (!places) continue;
    start_on(index, std::move(*places), i);
    return true;
  }
  return false;
}

void Arena::start_on(JobIndex index, Places places, size_t form_index) {
  CHECK(!runs(index));
  const Job& j = job(index);
  const Form form = match_.form_of(j, form_index);
  board_.take(form.gang, places);
  count_waiting(j, -1);
  held_by_team_[j.team * due_.size() + form.gang.device] += form.gang.total();
  Fate& fate = outcome_.fates[index];
  fate.start = now_;
  fate.speed_ppm = form.speed_ppm;
  const int64_t due = now_ + form.seconds_for(std::max<int64_t>(1, j.limit - fate.done));
  running_[index] = std::make_unique<Run>(
      Run{.places = std::move(places), .form = form, .start = now_, .due = due});
  due_[form.gang.device].emplace(due, index);
  ends_.push({.at = now_ + form.seconds_for(std::max<int64_t>(1, j.length - fate.done)),
              .job = index,
              .epoch = fate.epoch()});
}

void Arena::leave(JobIndex index) {
  const Gang& gang = run(index).form.gang;
  board_.give_back(gang, run(index).places);
  held_by_team_[job(index).team * due_.size() + gang.device] -= gang.total();
  due_[gang.device].erase({run(index).due, index});
  rival_->left(*this, index);
  running_[index].reset();
}

void Arena::take_back(JobIndex index) {
  CHECK(runs(index));
  Fate& fate = outcome_.fates[index];
  fate.lost += (now_ - fate.start) * job(index).gang.total();
  ++fate.evictions;
  fate.start = 0;
  leave(index);
  enter(index);
}

void Arena::stop(JobIndex index, int64_t less) {
  CHECK(runs(index));
  Fate& fate = outcome_.fates[index];
  const int64_t worked = std::max<int64_t>(0, now_ - fate.start - less);
  fate.done += static_cast<int64_t>(static_cast<__int128>(worked) * fate.speed_ppm / 1'000'000);
  ++fate.stops;
  fate.start = 0;
  leave(index);
  enter(index);
}

}  // namespace fairlead::contest
