// Rules of papers, by the protocol of Muri's simulator (Zhao et al., SIGCOMM '22; it follows that
// of Tiresias, Gu et al., NSDI '19), in our own words. At every submission and every end all jobs
// are sorted anew and given devices from an empty fleet, each that fits; who had devices and gets
// none is stopped, and goes on later where it was. They know how long a job runs (SRTF, SRSF) and
// move running jobs at no cost, so they bound what a scheduler without such means can reach.
//
//   srtf      by remaining time
//   srsf      by remaining time times devices
//   tiresias  by the devices times time it had (3,250 and 7,200 device-seconds are the bounds of
//             three queues), in a queue running ones first, then by when they came; by counts, for
//             its placement is free
#include <algorithm>
#include <map>

#include "contest/rivals.h"

namespace fairlead::contest {
namespace {

constexpr int64_t kQueueBounds[] = {3250, 7200};  // given by the protocol

class Paper : public Rival {
 public:
  Paper(const Match& match, PaperRule rule, Overhead overhead)
      : rule_(rule), overhead_(std::move(overhead)), queue_(match.jobs.size()) {}

  void waits(const Arena&, JobIndex job) override { active_.insert(job); }
  void left(const Arena&, JobIndex job) override { active_.erase(job); }
  bool always_looks() const override { return overhead_ || rule_ == PaperRule::tiresias; }
  int64_t wake_at() const override { return wake_at_; }

  void look(Arena& arena) override {
    const std::set<JobIndex> active = active_;
    std::set<JobIndex> ran;
    for (const JobIndex job : active) {
      if (!arena.runs(job)) continue;
      ran.insert(job);
      arena.stop(job, overhead_ ? overhead_(arena.job(job)) : 0);
    }
    std::vector<std::pair<Key, JobIndex>> order;
    for (const JobIndex job : active)
      order.emplace_back(key_of(arena, job, ran.contains(job)), job);
    std::ranges::sort(order);
    wake_at_ = kNever;
    for (const auto& [key, job] : order) {
      if (!arena.start(job)) continue;
      if (rule_ == PaperRule::tiresias) wake_for_demotion(arena, job);
    }
  }

 private:
  using Key = std::tuple<int64_t, int64_t, int64_t>;

  int64_t remaining(const Arena& arena, JobIndex job) const {
    return arena.job(job).length - arena.fate(job).done;
  }
  int64_t service(const Arena& arena, JobIndex job) const {
    return arena.fate(job).done * arena.job(job).gang.total();
  }
  Key key_of(const Arena& arena, JobIndex job, bool ran) {
    if (rule_ == PaperRule::srtf) return {remaining(arena, job), 0, 0};
    if (rule_ == PaperRule::srsf)
      return {remaining(arena, job) * arena.job(job).gang.total(), 0, 0};
    auto& queue = queue_[job];
    while (queue < std::ssize(kQueueBounds) && service(arena, job) >= kQueueBounds[queue]) ++queue;
    return {queue, ran ? 0 : 1, arena.job(job).submit};
  }
  void wake_for_demotion(const Arena& arena, JobIndex job) {
    const auto queue = queue_[job];
    if (queue >= std::ssize(kQueueBounds)) return;
    const int64_t devices = arena.job(job).gang.total();
    const int64_t left = kQueueBounds[queue] - service(arena, job);
    wake_at_ =
        std::min(wake_at_, arena.now() + std::max<int64_t>(1, (left + devices - 1) / devices));
  }

  const PaperRule rule_;
  const Overhead overhead_;
  std::set<JobIndex> active_;
  std::vector<int64_t> queue_;  // of tiresias, by job
  int64_t wake_at_ = kNever;
};

}  // namespace

std::unique_ptr<Rival> make_paper(const Match& match, PaperRule rule, Overhead overhead) {
  return std::make_unique<Paper>(match, rule, std::move(overhead));
}
std::unique_ptr<Rival> make_srtf(const Match& match) {
  return make_paper(match, PaperRule::srtf, {});
}
std::unique_ptr<Rival> make_srsf(const Match& match) {
  return make_paper(match, PaperRule::srsf, {});
}
std::unique_ptr<Rival> make_tiresias(const Match& match) {
  return make_paper(match, PaperRule::tiresias, {});
}

}  // namespace fairlead::contest
