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

#include "contest/rivals.h"
#include "policy/quota.h"

namespace fairlead::contest {
namespace {

using policy::Milli;
using policy::Quota;

class Kueue : public Rival {
 public:
  explicit Kueue(const Match& match)
      : org_(match.organisation), quota_(match.organisation), queues_(org_.teams.size()) {
    const Board board = match.board();
    for (DeviceId d = 0; d < org_.devices.size(); ++d)
      quota_.set_capacity(d, policy::devices(board.capacity(d)));
  }

  void waits(const Arena& arena, JobIndex job) override {
    const Job& j = arena.job(job);
    queues_[j.team][{-org_.classes[j.klass].rank, j.shape}].insert({j.submit, job});
  }
  void left(const Arena& arena, JobIndex job) override {
    const Job& j = arena.job(job);
    quota_.refund(j.team, j.gang.device, size_of(j));
  }

  void look(Arena& arena) override {
    aside_.clear();
    while (cycle(arena)) {
    }
  }

 private:
  using Kind = std::pair<int64_t, uint32_t>;  // priority (below zero) and shape
  using Waiting = std::map<Kind, std::set<std::pair<int64_t, JobIndex>>>;
  struct Entry {
    bool borrows = false;
    int64_t priority = 0;  // below zero
    int64_t submit = 0;
    JobIndex job = 0;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  static Milli size_of(const Job& job) { return policy::devices(job.gang.total()); }

  // Returns whether there was anything to look at.
  bool cycle(Arena& arena) {
    std::vector<Entry> entries;
    for (TeamId team = 0; team < queues_.size(); ++team) {
      if (const auto first = first_of(arena, team)) entries.push_back(*first);
    }
    std::ranges::sort(entries);
    for (const Entry& e : entries) {
      if (!admit(arena, e.job) && !preempt_for(arena, e.job))
        aside_.insert({arena.job(e.job).team, {e.priority, arena.job(e.job).shape}});
    }
    return !entries.empty();
  }

  std::optional<Entry> first_of(const Arena& arena, TeamId team) const {
    std::optional<Entry> first;
    for (const auto& [kind, jobs] : queues_[team]) {
      if (jobs.empty() || aside_.contains({team, kind})) continue;
      const auto [submit, job] = *jobs.begin();
      const Job& j = arena.job(job);
      const bool borrows = quota_.used(team, j.gang.device) + size_of(j) > own(team, j.gang.device);
      const Entry e{.borrows = borrows, .priority = kind.first, .submit = submit, .job = job};
      // Within a queue priority and age decide alone.
      if (!first || std::tie(e.priority, e.submit, e.job) <
                        std::tie(first->priority, first->submit, first->job))
        first = e;
    }
    return first;
  }
  Milli own(TeamId team, DeviceId device) const { return org_.teams[team].limits[device].own; }

  bool admit(Arena& arena, JobIndex job) {
    const Job& j = arena.job(job);
    if (size_of(j) > quota_.headroom(j.team, j.gang.device) || !arena.start(job)) return false;
    quota_.charge(j.team, j.gang.device, size_of(j));
    auto& jobs = queues_[j.team][{-org_.classes[j.klass].rank, j.shape}];
    jobs.erase({j.submit, job});
    return true;
  }

  bool preempt_for(Arena& arena, JobIndex job) {
    const std::vector<JobIndex> victims = victims_for(arena, job);
    for (const JobIndex v : victims) {
      arena.take_back(v);
      const Job& gone = arena.job(v);  // is not looked at again before something changes
      aside_.insert({gone.team, {-org_.classes[gone.klass].rank, gone.shape}});
    }
    return !victims.empty() && admit(arena, job);
  }

  std::vector<JobIndex> victims_for(const Arena& arena, JobIndex job) const {
    const Job& j = arena.job(job);
    const DeviceId device = j.gang.device;
    const bool borrows = quota_.used(j.team, device) + size_of(j) > own(j.team, device);
    if (borrows && !has_lower(arena, j)) return {};
    if (!borrows && !somebody_borrows(device) && !has_lower(arena, j)) return {};
    std::vector<JobIndex> candidates;
    for (const auto& [due, r] : arena.due(device)) {
      const Job& v = arena.job(r);
      const bool lower = org_.classes[v.klass].rank < org_.classes[j.klass].rank;
      const bool candidate =
          v.team == j.team ? lower : !borrows && is_borrowing(quota_, v.team, device);
      if (candidate) candidates.push_back(r);
    }
    std::ranges::sort(candidates, {}, [&](JobIndex r) {
      const Job& v = arena.job(r);
      return std::tuple(v.team == j.team, org_.classes[v.klass].rank, -arena.run(r).start, r);
    });
    return fewest(arena, j, candidates);
  }
  bool has_lower(const Arena&, const Job& j) const {
    return quota_.direct(j.team, j.gang.device).value > 0 &&
           std::ranges::any_of(org_.classes, [&](const policy::Class& c) {
             return c.rank < org_.classes[j.klass].rank;
           });
  }
  bool is_borrowing(const Quota& quota, TeamId team, DeviceId device) const {
    return quota.used(team, device) > own(team, device);
  }
  bool somebody_borrows(DeviceId device) const {
    for (TeamId t = 1; t < org_.teams.size(); ++t)
      if (is_borrowing(quota_, t, device)) return true;
    return quota_.direct(policy::kRoot, device).value > 0;
  }

  std::vector<JobIndex> fewest(const Arena& arena, const Job& j,
                               const std::vector<JobIndex>& candidates) const {
    Quota quota = quota_;
    Board board = arena.board();
    const DeviceId device = j.gang.device;
    const auto fits = [&] {
      return size_of(j) <= quota.headroom(j.team, device) && board.fits(j.gang);
    };
    std::vector<JobIndex> gone;
    for (const JobIndex r : candidates) {
      if (fits()) break;
      const Job& v = arena.job(r);
      if (v.team != j.team && !is_borrowing(quota, v.team, device)) continue;
      quota.refund(v.team, device, size_of(v));
      board.give_back(v.gang, arena.run(r).places);
      gone.push_back(r);
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
  std::vector<Waiting> queues_;              // by team
  std::set<std::pair<TeamId, Kind>> aside_;  // does not fit in this look
};

}  // namespace

std::unique_ptr<Rival> make_kueue(const Match& match) { return std::make_unique<Kueue>(match); }

}  // namespace fairlead::contest
