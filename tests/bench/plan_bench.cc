// What one look of the planner costs: devices counted, policy and taking back included.
//
//   cmake --build --preset release --target plan_bench && build/release/plan_bench
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "cpu_clock.h"
#include "policy/plan.h"

namespace fairlead::policy {
namespace {

constexpr Instant kNow = instant_of_seconds(1'796'025'600);

// Four branches of five teams, three classes, one class of devices.
Organisation organisation(int64_t capacity) {
  Organisation org;
  org.devices = {{.name = "H100", .models = {"H100"}}};
  for (int64_t rank : {10, 20, 30}) {
    Class klass;
    klass.name = fmt::format("c{}", rank);
    klass.rank = rank;
    for (ClassId lower = 0; lower < org.classes.size(); ++lower) klass.preempts.push_back(lower);
    klass.min_run = seconds(600);
    org.classes.push_back(klass);
  }
  const auto add = [&](TeamId parent, int64_t own) {
    Team team;
    team.parent = parent;
    team.half_life = seconds(7 * 24 * 3600);
    team.limits = {Limits{.own = devices(own)}};
    org.teams.push_back(team);
    return static_cast<TeamId>(org.teams.size() - 1);
  };
  const TeamId root = add(0, capacity);
  for (int b = 0; b < 4; ++b) {
    const TeamId branch = add(root, capacity / 4);
    for (int t = 0; t < 5; ++t) org.teams[add(branch, capacity / 20)].end = 0;
    org.teams[branch].end = static_cast<TeamId>(org.teams.size());
  }
  for (TeamId t = 0; t < org.teams.size(); ++t)
    if (org.teams[t].end == 0) org.teams[t].end = t + 1;
  org.teams[root].end = static_cast<TeamId>(org.teams.size());
  return org;
}

struct Site {
  Organisation org;
  Quota quota;
  Milli free;
  std::vector<RunningWork> running;
  Waiting waiting;
  Usages usages;
  std::vector<BudgetState> budgets;
  SpentPairs spent;
  WorkId next = 1;
  Rng rng{7};

  explicit Site(int64_t capacity)
      : org(organisation(capacity)), quota(org), free(devices(capacity)) {
    quota.set_capacity(0, free);
  }
  Work any_work() {
    constexpr int64_t kSizes[] = {1, 1, 1, 2, 4, 8, 8, 16, 32, 64};
    TeamId team = 0;
    do team = static_cast<TeamId>(rng.below(org.teams.size()));
    while (org.teams[team].end != team + 1);
    return {.id = next++,
            .team = team,
            .klass = static_cast<ClassId>(rng.below(3)),
            .device = 0,
            .size = devices(kSizes[rng.below(std::size(kSizes))]),
            .since = kNow - seconds(static_cast<int64_t>(rng.below(100'000))),
            .time_max = seconds(3600 * static_cast<int64_t>(1 + rng.below(48)))};
  }
  void start(const Work& work, Instant at) {
    quota.charge(work.team, work.device, work.size);
    free = free - work.size;
    running.push_back({.work = work, .started = at, .ends = at + work.time_max, .kept_till = {}});
  }
  Plan look_at(Instant now) {
    CountedRoom room({free});
    return look({.organisation = org,
                 .quota = quota,
                 .waiting = waiting,
                 .running = running,
                 .usages = usages,
                 .budgets = budgets,
                 .spent = spent,
                 .now = now,
                 .evictions_left = {}},
                room);
  }
  size_t admitted(const Plan& plan) {
    size_t count = 0;
    for (const Decision& d : plan.acts) count += d.verdict == Verdict::admit;
    return count;
  }
};

void one_change() {
  Site site(80'000);
  while (site.free.value > 0) {
    Work work = site.any_work();
    work.size = std::min(work.size, site.free);
    site.start(work, kNow - seconds(static_cast<int64_t>(site.rng.below(3600))));
  }
  for (int i = 0; i < 150'000; ++i) site.waiting.put(site.any_work());
  std::ranges::sort(site.running, {}, [](const RunningWork& r) { return r.work.id; });
  std::vector<double> took;
  size_t admitted = 0, evicted = 0;
  for (int i = 0; i < 500; ++i) {
    const size_t ends = site.rng.below(site.running.size());
    const Work gone = site.running[ends].work;
    site.running.erase(site.running.begin() + static_cast<ptrdiff_t>(ends));
    site.quota.refund(gone.team, gone.device, gone.size);
    site.free = site.free + gone.size;
    const double begin = cpu_seconds();
    const Plan plan = site.look_at(kNow + seconds(i));
    took.push_back(cpu_seconds() - begin);
    for (const Decision& d : plan.acts) {
      if (d.verdict != Verdict::admit) {
        ++evicted;
        const auto victim =
            std::ranges::find(site.running, d.work, [](const RunningWork& r) { return r.work.id; });
        const Work work = victim->work;
        site.running.erase(victim);
        site.quota.refund(work.team, work.device, work.size);
        site.free = site.free + work.size;
        site.waiting.put(work);
        site.spent.insert({d.claimant, d.work});
        continue;
      }
      ++admitted;
      const Work work = *site.waiting.find(d.work);
      site.waiting.remove(d.work);
      site.start(work, kNow + seconds(i));
    }
    std::ranges::sort(site.running, {}, [](const RunningWork& r) { return r.work.id; });
    site.waiting.put(site.any_work());
  }
  std::ranges::sort(took);
  fmt::print(
      "one job of {} ends, {} wait in {} groups: a look {:.2f} ms of CPU (P50), {:.2f} ms (P99), "
      "{:.2f} "
      "ms "
      "(worst); {} admitted, {} evicted in 500 looks\n",
      site.running.size(), site.waiting.size(), site.waiting.groups().size(), 1e3 * took[250],
      1e3 * took[495], 1e3 * took.back(), admitted, evicted);
}

void admissions(const char* what, int64_t capacity, int count, int64_t size) {
  Site site(capacity);
  for (int i = 0; i < count; ++i) {
    Work work = site.any_work();
    if (size > 0) work.size = devices(size);
    site.waiting.put(work);
  }
  const double begin = cpu_seconds();
  const Plan plan = site.look_at(kNow);
  const double took = cpu_seconds() - begin;
  fmt::print("{}: {} of {} admitted in {:.2f} ms, {:.0f} /s\n", what, site.admitted(plan), count,
             1e3 * took, static_cast<double>(site.admitted(plan)) / took);
}

}  // namespace
}  // namespace fairlead::policy

int main() {
  using namespace fairlead::policy;
  admissions("536 that fit, 1,300 nodes", 1300 * 8, 536, 8);
  admissions("a fleet of 80,000 filled", 80'000, 6'000, 0);
  one_change();
}
