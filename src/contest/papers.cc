// Rules of papers, by the protocol of Muri's simulator (Zhao et al., SIGCOMM '22; it follows that
// of Tiresias, Gu et al., NSDI '19), in our own words. At every submission and every end all jobs
// are ordered anew and given devices from an empty fleet, each that fits; who had devices and gets
// none is stopped, and goes on later where it was. They move running jobs at no cost, and SRTF and
// SRSF know how long jobs run; so they bound what a scheduler without such means can reach.
//
//   srtf      by remaining time
//   srsf      by remaining time times devices
//   tiresias  by attained service: three queues, of which a job leaves the first two after 3,250
//             and 7,200 device-seconds; in a queue those that run come first, then those that wait,
//             each in the order in which they came to be so
//
// And of Gavel (Narayanan et al., OSDI '20), where a job runs on several classes of devices:
//
//   FIFO with performance   in order of arrival each is given the class on which it runs fastest
//                           of those with room, until one fits nowhere; all are given anew when
//                           something changes
#include <algorithm>
#include <array>

#include "contest/rivals.h"

namespace fairlead::contest {
namespace {

constexpr std::array<int64_t, 2> kQueueBounds = {3250, 7200};  // given by the protocol

// Stops all at each look; who is started again goes on.
class Restarting : public Rival {
 public:
  explicit Restarting(Overhead overhead) : overhead_(std::move(overhead)) {}

  void waits(const Arena&, JobIndex job) override {
    if (!stopping_) came(job);
  }
  void left(const Arena& arena, JobIndex job) override {
    if (!stopping_) ended(job);
    running_.erase(job);
    ran(job, arena.now() - arena.run(job).start);
  }
  void look(Arena& arena) override {
    stopping_ = true;
    for (const JobIndex job : std::set(running_))
      arena.stop(job, overhead_ ? overhead_(arena.job(job)) : 0);
    stopping_ = false;
    give(arena);
  }
  bool always_looks() const override { return static_cast<bool>(overhead_); }

 protected:
  bool start(Arena& arena, JobIndex job) {
    if (!arena.start(job)) return false;
    running_.insert(job);
    return true;
  }
  bool start(Arena& arena, JobIndex job, size_t form) {
    auto places = arena.board().places_for(arena.match().form_of(arena.job(job), form).gang);
    if (!places) return false;
    arena.start_on(job, std::move(*places), form);
    running_.insert(job);
    return true;
  }
  virtual void came(JobIndex job) = 0;
  virtual void ended(JobIndex job) = 0;
  virtual void ran(JobIndex, int64_t) {}  // so many seconds
  virtual void give(Arena& arena) = 0;    // nothing runs

 private:
  const Overhead overhead_;
  bool stopping_ = false;
  std::set<JobIndex> running_;
};

class Shortest : public Restarting {
 public:
  Shortest(bool by_devices, Overhead overhead)
      : Restarting(std::move(overhead)), by_devices_(by_devices) {}

 private:
  void came(JobIndex job) override { active_.insert(job); }
  void ended(JobIndex job) override { active_.erase(job); }
  void give(Arena& arena) override {
    std::vector<std::pair<int64_t, JobIndex>> order;
    for (const JobIndex job : active_) {
      const int64_t left = arena.job(job).length - arena.fate(job).done;
      order.emplace_back(by_devices_ ? left * arena.job(job).gang.total() : left, job);
    }
    std::ranges::sort(order);
    for (const auto& [key, job] : order) start(arena, job);
  }

  const bool by_devices_;
  std::set<JobIndex> active_;
};

class FastestInOrder : public Restarting {
 public:
  FastestInOrder() : Restarting({}) {}
  bool always_looks() const override { return true; }

 private:
  void came(JobIndex job) override { active_.insert(job); }
  void ended(JobIndex job) override { active_.erase(job); }
  void give(Arena& arena) override {
    for (const JobIndex job : active_)
      if (!start_fastest(arena, job)) return;
  }
  bool start_fastest(Arena& arena, JobIndex job) {
    const Match& match = arena.match();
    const Job& j = arena.job(job);
    std::optional<size_t> best;
    for (size_t i = 0; i < match.forms_of(j); ++i) {
      const Form form = match.form_of(j, i);
      if (best && form.speed_ppm <= match.form_of(j, *best).speed_ppm) continue;
      if (arena.board().fits(form.gang)) best = i;
    }
    return best && start(arena, job, *best);
  }

  std::set<JobIndex> active_;  // by arrival
};

class Tiresias : public Restarting {
 public:
  Tiresias(const Match& match, Overhead overhead)
      : Restarting(std::move(overhead)), attained_s_(match.jobs.size()) {}
  bool always_looks() const override { return true; }
  int64_t wake_at() const override { return wake_at_; }

 private:
  void came(JobIndex job) override { queues_[0].push_back(job); }
  void ended(JobIndex job) override {
    for (auto& queue : queues_) std::erase(queue, job);
  }
  void ran(JobIndex job, int64_t seconds) override { attained_s_[job] += seconds; }

  void give(Arena& arena) override {
    const auto service = [&](JobIndex job) {
      return attained_s_[job] * arena.job(job).gang.total();
    };
    for (size_t q = 0; q < kQueueBounds.size(); ++q) {
      std::vector<JobIndex> stays;
      for (const JobIndex job : queues_[q])
        (service(job) >= kQueueBounds[q] ? queues_[q + 1] : stays).push_back(job);
      queues_[q] = std::move(stays);
    }
    wake_at_ = kNever;
    for (size_t q = 0; q < queues_.size(); ++q) {
      std::vector<JobIndex> run, wait;
      for (const JobIndex job : queues_[q]) {
        const bool started = start(arena, job);
        (started ? run : wait).push_back(job);
        if (!started || q == kQueueBounds.size()) continue;
        const int64_t devices = arena.job(job).gang.total();
        const int64_t left = (kQueueBounds[q] - service(job) + devices - 1) / devices;
        wake_at_ = std::min(wake_at_, arena.now() + left);
      }
      run.insert(run.end(), wait.begin(), wait.end());
      queues_[q] = std::move(run);
    }
  }

  std::array<std::vector<JobIndex>, kQueueBounds.size() + 1> queues_;
  std::vector<int64_t> attained_s_;
  int64_t wake_at_ = kNever;
};

}  // namespace

std::unique_ptr<Rival> make_paper(const Match& match, PaperRule rule, Overhead overhead) {
  if (rule == PaperRule::tiresias) return std::make_unique<Tiresias>(match, std::move(overhead));
  return std::make_unique<Shortest>(rule == PaperRule::srsf, std::move(overhead));
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

std::unique_ptr<Rival> make_gavel_fifo_perf(const Match&) {
  return std::make_unique<FastestInOrder>();
}

}  // namespace fairlead::contest
