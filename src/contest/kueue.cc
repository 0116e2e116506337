// Kueue's admission and preemption (kueue.sigs.k8s.io: ClusterQueue, Cohort, Preemption; the
// scheduler's `preemption` package), in our own words.
//
// Each team is a ClusterQueue in the cohorts above it: nominal quota is what it owns, borrowing and
// lending limits are its `borrow` and `lend`. Its arithmetic is the quota's of ours (Kueue's
// hierarchical cohorts reckon the same). A queue gives its work by priority, then age; what does
// not fit steps aside until something changes (BestEffortFIFO). A cycle takes the first of every
// queue: those that need not borrow first, then by priority and age, each checked again when its
// turn comes. Pods are placed as with topology-aware scheduling: a gang is admitted when its nodes
// have room.
//
// Preemption is set as its guide advises for guarantees: withinClusterQueue LowerPriority,
// reclaimWithinCohort Any, borrowWithinCohort Never. A claimant that would borrow may take from
// lower priorities of its own queue alone. Candidates: other queues' first, as long as those
// borrow; the lowest priority first; the most recently admitted first. They go until the claimant
// fits; then, in reverse, whoever is not needed comes back.
#include <map>
#include <optional>
#include <set>

#include "contest/rivals.h"
#include "policy/quota.h"

namespace fairlead::contest {
namespace {

using policy::Milli;
using policy::Quota;

// What waits in a ClusterQueue, by kind: of one kind all have one priority and one shape, so what
// does not fit one fits none. Kept from look to look; a cycle asks for the first of all kinds that
// have not stepped aside.
class ClusterQueue {
 public:
  struct Kind {
    int64_t priority = 0;  // below zero: smallest first
    uint32_t shape = 0;
    auto operator<=>(const Kind&) const = default;
  };
  struct First {
    int64_t priority = 0, submit = 0;
    JobIndex job = 0;
    uint32_t shape = 0;
    auto operator<=>(const First&) const = default;
    Kind kind() const { return {.priority = priority, .shape = shape}; }
  };

  void add(const Kind& kind, int64_t submit, JobIndex job) {
    Waiting& w = kinds_[kind];
    hide(kind, w);
    w.jobs.insert({submit, job});
    show(kind, w);
  }
  void remove(const Kind& kind, int64_t submit, JobIndex job) {
    Waiting& w = kinds_[kind];
    hide(kind, w);
    w.jobs.erase({submit, job});
    show(kind, w);
  }
  const First* first() const { return firsts_.empty() ? nullptr : &*firsts_.begin(); }

  void step_aside(const Kind& kind) {
    Waiting& w = kinds_[kind];
    hide(kind, w);
    if (!w.aside) aside_.push_back(kind);
    w.aside = true;
  }
  void all_come_back() {
    for (const Kind& kind : aside_) {
      Waiting& w = kinds_[kind];
      w.aside = false;
      show(kind, w);
    }
    aside_.clear();
  }

  // What failed with this version of what runs fails again with it.
  void failed(const Kind& kind, uint64_t version) { kinds_[kind].failed_with = version; }
  bool has_failed(const Kind& kind, uint64_t version) const {
    const auto found = kinds_.find(kind);
    return found != kinds_.end() && found->second.failed_with == version;
  }

 private:
  struct Waiting {
    std::set<std::pair<int64_t, JobIndex>> jobs;
    bool aside = false;
    std::optional<uint64_t> failed_with;
  };
  static First first_of(const Kind& kind, const Waiting& w) {
    const auto [submit, job] = *w.jobs.begin();
    return {.priority = kind.priority, .submit = submit, .job = job, .shape = kind.shape};
  }
  void show(const Kind& kind, const Waiting& w) {
    if (!w.jobs.empty() && !w.aside) firsts_.insert(first_of(kind, w));
  }
  void hide(const Kind& kind, const Waiting& w) {
    if (!w.jobs.empty() && !w.aside) firsts_.erase(first_of(kind, w));
  }

  std::map<Kind, Waiting> kinds_;
  std::set<First> firsts_;   // of each kind that waits and has not stepped aside
  std::vector<Kind> aside_;  // those that have
};

class Kueue : public Rival {
 public:
  explicit Kueue(const Match& match)
      : org_(match.organisation),
        quota_(match.organisation),
        queues_(org_.teams.size()),
        running_(org_.teams.size() * org_.devices.size()) {
    const Board board = match.board();
    for (DeviceId d = 0; d < org_.devices.size(); ++d)
      quota_.set_capacity(d, policy::devices(board.capacity(d)));
  }

  void waits(const Arena& arena, JobIndex job) override {
    const Job& j = arena.job(job);
    queues_[j.team].add(kind_of(j), j.submit, job);
  }
  void left(const Arena& arena, JobIndex job) override {
    const Job& j = arena.job(job);
    ++version_;
    quota_.refund(j.team, j.gang.device, size_of(j));
    running_of(j.team, j.gang.device).erase(candidate(arena, job));
  }

  void look(Arena& arena) override {
    for (ClusterQueue& queue : queues_) queue.all_come_back();
    while (cycle(arena)) {
    }
  }

 private:
  // In the order in which they go: the lowest priority first, the most recently admitted first.
  struct Candidate {
    int64_t rank = 0, age = 0;
    JobIndex job = 0;
    friend auto operator<=>(const Candidate&, const Candidate&) = default;
  };
  using Candidates = std::set<Candidate>;
  struct Entry {
    bool borrows = false;
    int64_t priority = 0;  // below zero
    int64_t submit = 0;
    JobIndex job = 0;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  static Milli size_of(const Job& job) { return policy::devices(job.gang.total()); }
  ClusterQueue::Kind kind_of(const Job& job) const {
    return {.priority = -org_.classes[job.klass].rank, .shape = job.shape};
  }
  Candidate candidate(const Arena& arena, JobIndex job) const {
    return {
        .rank = org_.classes[arena.job(job).klass].rank, .age = -arena.run(job).start, .job = job};
  }
  Candidates& running_of(TeamId team, DeviceId device) {
    return running_[team * org_.devices.size() + device];
  }
  const Candidates& running_of(TeamId team, DeviceId device) const {
    return running_[team * org_.devices.size() + device];
  }

  // Returns whether there was anything to look at.
  bool cycle(Arena& arena) {
    std::vector<Entry> entries;
    for (const ClusterQueue& queue : queues_) {
      const auto* first = queue.first();
      if (first == nullptr) continue;
      entries.push_back({.borrows = would_borrow(arena.job(first->job)),
                         .priority = first->priority,
                         .submit = first->submit,
                         .job = first->job});
    }
    std::ranges::sort(entries);
    for (const Entry& e : entries) {
      const Job& j = arena.job(e.job);
      ClusterQueue& queue = queues_[j.team];
      if (!queue.has_failed(kind_of(j), version_)) {
        if (admit(arena, e.job) || preempt_for(arena, e.job)) continue;
        queue.failed(kind_of(j), version_);
      }
      queue.step_aside(kind_of(j));
    }
    return !entries.empty();
  }

  Milli own(TeamId team, DeviceId device) const { return org_.teams[team].limits[device].own; }
  bool would_borrow(const Job& j) const {
    return quota_.used(j.team, j.gang.device) + size_of(j) > own(j.team, j.gang.device);
  }
  bool is_borrowing(const Quota& quota, TeamId team, DeviceId device) const {
    return quota.used(team, device) > own(team, device);
  }

  bool admit(Arena& arena, JobIndex job) {
    const Job& j = arena.job(job);
    if (size_of(j) > quota_.headroom(j.team, j.gang.device) || !arena.start(job)) return false;
    ++version_;
    quota_.charge(j.team, j.gang.device, size_of(j));
    queues_[j.team].remove(kind_of(j), j.submit, job);
    running_of(j.team, j.gang.device).insert(candidate(arena, job));
    return true;
  }

  bool preempt_for(Arena& arena, JobIndex job) {
    const std::vector<JobIndex> victims = victims_for(arena, job);
    for (const JobIndex v : victims) {
      arena.take_back(v);
      const Job& gone = arena.job(v);  // is not looked at again before something changes
      queues_[gone.team].step_aside(kind_of(gone));
    }
    return !victims.empty() && admit(arena, job);
  }

  // Other queues' first, as long as those borrow; then lower priorities of the claimant's own.
  class Order {
   public:
    Order(const Kueue& rule, const Job& claimant, bool borrows)
        : device_(claimant.gang.device),
          rule_(rule),
          own_(claimant.team),
          rank_(rule.org_.classes[claimant.klass].rank) {
      for (TeamId t = 0; !borrows && t < rule.org_.teams.size(); ++t) {
        if (t != own_ && rule.is_borrowing(rule.quota_, t, device_)) add(t);
      }
      own_at_ = rule.running_of(own_, device_).begin();
    }
    // The next; nothing: there are no more.
    std::optional<JobIndex> next(const Quota& now) {
      while (!others_.empty()) {
        const auto [best, team] = *others_.begin();
        others_.erase(others_.begin());
        if (!rule_.is_borrowing(now, team, device_)) continue;  // nor will it again
        const Candidates& all = rule_.running_of(team, device_);
        if (const auto after = all.upper_bound(best); after != all.end())
          others_.emplace(*after, team);
        return best.job;
      }
      const Candidates& own = rule_.running_of(own_, device_);
      if (own_at_ == own.end() || own_at_->rank >= rank_) return std::nullopt;
      return (own_at_++)->job;
    }

   private:
    void add(TeamId team) {
      const Candidates& all = rule_.running_of(team, device_);
      if (!all.empty()) others_.emplace(*all.begin(), team);
    }
    const DeviceId device_;
    const Kueue& rule_;
    const TeamId own_;
    const int64_t rank_;
    std::set<std::pair<Candidate, TeamId>> others_;  // the first of each team that borrows
    Candidates::const_iterator own_at_;
  };

  // They go until the claimant fits; then, in reverse, whoever is not needed comes back.
  std::vector<JobIndex> victims_for(const Arena& arena, JobIndex job) const {
    const Job& j = arena.job(job);
    const DeviceId device = j.gang.device;
    Order order(*this, j, would_borrow(j));
    std::optional<JobIndex> next = order.next(quota_);
    if (!next) return {};
    Quota quota = quota_;
    Board board = arena.board();
    const auto fits = [&] {
      return size_of(j) <= quota.headroom(j.team, device) && board.fits(j.gang);
    };
    std::vector<JobIndex> gone;
    for (; next && !fits(); next = order.next(quota)) {
      const Job& v = arena.job(*next);
      quota.refund(v.team, device, size_of(v));
      board.give_back(v.gang, arena.run(*next).places);
      gone.push_back(*next);
    }
    if (gone.empty() || !fits()) return {};
    for (size_t i = gone.size(); i-- > 0;) {
      const Job& v = arena.job(gone[i]);
      quota.charge(v.team, device, size_of(v));
      board.take(v.gang, arena.run(gone[i]).places);
      if (fits()) {
        gone.erase(gone.begin() + static_cast<ptrdiff_t>(i));
        continue;
      }
      quota.refund(v.team, device, size_of(v));
      board.give_back(v.gang, arena.run(gone[i]).places);
    }
    return gone;
  }

  const policy::Organisation& org_;
  Quota quota_;
  std::vector<ClusterQueue> queues_;  // by team
  std::vector<Candidates> running_;   // by team, then by device
  uint64_t version_ = 0;              // of what runs
};

}  // namespace

std::unique_ptr<Rival> make_kueue(const Match& match) { return std::make_unique<Kueue>(match); }

}  // namespace fairlead::contest
