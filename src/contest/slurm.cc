// Slurm's multifactor priority with backfill, as its documentation describes it
// (slurm.schedmd.com: priority_multifactor, classic_fair_share, sched_config), in our own words.
//
//   priority = 1000 age + 10000 fair share + 1000 size + 2000 QOS + 0 partition
//
//   age         of waiting, full after 14 days
//   fair share  2^(-used/shares): `used` is the part of all faded usage (half-life 14 days) that
//               the account and those above it have had, `shares` its part of what accounts may
//               have: what the team owns where teams own something, else its weight
//   size        devices over the fleet's
//   QOS         rank of the class over the highest
//
// The weights of the first three are those of the documentation's example; the QOS weight is
// chosen, and a history states no priority of partitions. Priorities are reckoned anew every five
// minutes (PriorityCalcPeriod). Jobs start in order of priority until one does not fit; every 30 s
// (bf_interval) backfill promises the first 500 (bf_max_job_test) a time. Nothing is taken back:
// preemption is off in Slurm unless a site sets it up.
#include "contest/line.h"
#include "contest/profile.h"
#include "contest/rivals.h"
#include "contest/usage_book.h"

namespace fairlead::contest {
namespace {

constexpr int64_t kAgeMax = 14 * 86400, kHalfLife = 14 * 86400, kCalcPeriod = 300,
                  kBackfillEvery = 30;
constexpr int64_t kWeightAge = 1000, kWeightShare = 10'000, kWeightSize = 1000, kWeightQos = 2000;
constexpr int kTestsMost = 500;
constexpr int64_t kMillion = 1'000'000;

policy::Organisation with_half_life(policy::Organisation org) {
  for (policy::Team& team : org.teams) team.half_life = seconds(kHalfLife);
  return org;
}

// 2^-(exponent/10^6), in millionths.
int64_t power_of_half(int64_t exponent) {
  const int64_t whole = exponent / kMillion, part = exponent % kMillion;
  if (whole > 20) return 0;
  const uint64_t grown = policy::power_of_two(kMillion - part, kMillion);  // 62 bits, one to two
  return static_cast<int64_t>((static_cast<policy::Wide>(grown) * kMillion) >> (63 + whole));
}

class Slurm : public Rival {
 public:
  explicit Slurm(const Match& match)
      : match_(match),
        org_(with_half_life(match.organisation)),
        usage_(org_, match.jobs.empty() ? 0 : match.jobs.front().submit),
        lines_(org_.devices.size()),
        shares_(org_.teams.size(), kMillion),
        factor_(org_.teams.size(), kMillion) {
    for (const policy::Class& c : org_.classes) rank_max_ = std::max(rank_max_, c.rank);
    for (TeamId t = 1; t < org_.teams.size(); ++t) {
      int64_t siblings = 0;
      for (TeamId s = 1; s < org_.teams.size(); ++s)
        if (org_.teams[s].parent == org_.teams[t].parent) siblings += stake(s);
      shares_[t] = siblings == 0 ? 0 : shares_[org_.teams[t].parent] * stake(t) / siblings;
    }
  }

  void waits(const Arena& arena, JobIndex job) override {
    lines_[arena.job(job).gang.device].add(arena, job, key_of(arena, job));
  }
  void left(const Arena& arena, JobIndex job) override { change(arena, job, -1); }

  void look(Arena& arena) override {
    if (arena.now() >= reckoned_ + kCalcPeriod) reckon(arena);
    for (DeviceId d = 0; d < lines_.size(); ++d) {
      lines_[d].pass([&](JobIndex job) { return start(arena, job) ? Next::taken : Next::stop; });
    }
    if (arena.now() < backfilled_ + kBackfillEvery) return;
    backfilled_ = arena.now();
    for (DeviceId d = 0; d < lines_.size(); ++d)
      backfill(arena, lines_[d], d, kTestsMost, [&](JobIndex job) { change(arena, job, 1); });
  }
  int64_t wake_at() const override { return backfilled_ + kBackfillEvery; }

 private:
  int64_t stake(TeamId team) const {
    if (!match_.own_entitlement) return org_.teams[team].weight;
    int64_t own = 0;
    for (const policy::Limits& l : org_.teams[team].limits) own += l.own.value;
    return own;
  }
  bool start(Arena& arena, JobIndex job) {
    if (!arena.start(job)) return false;
    change(arena, job, 1);
    return true;
  }
  void change(const Arena& arena, JobIndex job, int64_t sign) {
    const Job& j = arena.job(job);
    usage_.change(j.team, j.gang.device, sign * j.gang.total(), arena.now());
  }

  int64_t key_of(const Arena& arena, JobIndex job) const {
    const Job& j = arena.job(job);
    const int64_t age = std::min(arena.now() - j.submit, kAgeMax);
    const int64_t fleet = std::max<int64_t>(1, arena.board().capacity(j.gang.device));
    const int64_t rank = std::max<int64_t>(0, org_.classes[j.klass].rank);
    return -(kWeightAge * kMillion / kAgeMax * age + kWeightShare * factor_[j.team] +
             kWeightSize * kMillion * j.gang.total() / fleet +
             (rank_max_ > 0 ? kWeightQos * kMillion * rank / rank_max_ : 0));
  }

  void reckon(const Arena& arena) {
    reckoned_ = arena.now();
    usage_.settle(arena.now());
    const Instant at = instant_of_seconds(arena.now());
    const size_t devices = lines_.size();
    std::vector<policy::Wide> used(org_.teams.size());
    for (TeamId t = 0; t < used.size(); ++t)
      for (size_t d = 0; d < devices; ++d)
        used[t] += usage_.usages().with_children[t * devices + d].at(at);
    std::vector<int64_t> effective(used.size());  // in millionths
    for (TeamId t = 1; t < used.size(); ++t) {
      const TeamId parent = org_.teams[t].parent;
      const int64_t actual =
          used[policy::kRoot] == 0
              ? 0
              : static_cast<int64_t>(used[t] / (used[policy::kRoot] / kMillion + 1));
      // An account's usage is drawn to that of the account above it, by its part of the shares.
      effective[t] = actual;
      if (parent != policy::kRoot && shares_[parent] > 0)
        effective[t] += (effective[parent] - actual) * shares_[t] / shares_[parent];
      factor_[t] = shares_[t] == 0 ? 0 : power_of_half(effective[t] * kMillion / shares_[t]);
    }
    for (Line& line : lines_) {
      std::vector<JobIndex> waiting;
      line.pass([&](JobIndex job) {
        waiting.push_back(job);
        return Next::go_on;
      });
      line = {};
      for (const JobIndex job : waiting) line.add(arena, job, key_of(arena, job));
    }
  }

  const Match& match_;
  policy::Organisation org_;
  UsageBook usage_;
  std::vector<Line> lines_;               // by device
  std::vector<int64_t> shares_, factor_;  // by team, in millionths
  int64_t rank_max_ = 0, reckoned_ = 0, backfilled_ = 0;
};

}  // namespace

std::unique_ptr<Rival> make_slurm(const Match& match) { return std::make_unique<Slurm>(match); }

}  // namespace fairlead::contest
