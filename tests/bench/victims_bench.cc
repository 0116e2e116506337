// How much more is lost by the victims that are taken than by the best set under the same order of
// classes, which a dynamic program finds; beside it Kueue's order of candidates.
//
//   cmake --build --preset release --target victims_bench && build/release/victims_bench
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "cpu_clock.h"
#include "policy/take_back.h"

namespace fairlead::policy {
namespace {

constexpr Instant kNow = instant_of_seconds(1'796'025'600);

Organisation one_team() {
  Organisation org;
  org.devices = {{.name = "H100", .models = {"H100"}}};
  for (int64_t rank : {10, 20, 30}) {
    Class klass;
    klass.rank = rank;
    if (rank == 30) klass.preempts = {0, 1};
    klass.restart_cost = seconds(120);
    org.classes.push_back(klass);
  }
  Team team;
  team.end = 1;
  team.limits = {Limits{}};
  org.teams = {team};
  return org;
}

struct Case {
  std::vector<RunningWork> running;
  Work claimant;
  Milli free;
};

Case any_case(Rng& rng, size_t jobs) {
  constexpr int64_t kSizes[] = {1, 1, 2, 4, 4, 8, 8, 8, 16, 16, 32, 40};
  Case c;
  int64_t held = 0;
  for (WorkId id = 0; id < jobs; ++id) {
    const int64_t size = kSizes[rng.below(std::size(kSizes))];
    held += size;
    const Instant started = kNow - seconds(static_cast<int64_t>(60 + rng.below(48 * 3600)));
    const bool saves = rng.below(2) == 0;
    c.running.push_back(
        {.work = {.id = id,
                  .team = 0,
                  .klass = static_cast<ClassId>(rng.below(2)),
                  .device = 0,
                  .size = devices(size),
                  .since = started,
                  .time_max = {}},
         .started = started,
         .ends = {},
         .kept_till = saves ? kNow - seconds(static_cast<int64_t>(rng.below(3600))) : Instant{}});
  }
  c.free = devices(static_cast<int64_t>(rng.below(8)));
  const int64_t most = std::min<int64_t>(held, 256);
  c.claimant = {
      .id = 9999,
      .team = 0,
      .klass = 2,
      .device = 0,
      .size = c.free + devices(1 + static_cast<int64_t>(rng.below(static_cast<uint64_t>(most)))),
      .since = kNow,
      .time_max = {}};
  return c;
}

// The least loss with which `needed` devices come free, of ranks up to `rank_max`.
double least_loss(const Organisation& org, const Case& c, int64_t needed, int64_t rank_max) {
  std::vector<double> least(static_cast<size_t>(needed) + 1, 1e300);
  least[0] = 0;
  for (const RunningWork& r : c.running) {
    if (org.classes[r.work.klass].rank > rank_max) continue;
    const auto size = r.work.size.value / 1000;
    const auto loss = static_cast<double>(loss_of(org, r, kNow));
    for (int64_t n = needed; n > 0; --n) {
      const auto from = static_cast<size_t>(std::max<int64_t>(0, n - size));
      least[static_cast<size_t>(n)] = std::min(least[static_cast<size_t>(n)], least[from] + loss);
    }
  }
  return least.back();
}

// Kueue: lower priority first, then whoever was admitted last; then those back, in reverse, who are
// not needed.
double kueue_loss(const Organisation& org, const Case& c, int64_t needed) {
  std::vector<const RunningWork*> order;
  for (const RunningWork& r : c.running) order.push_back(&r);
  std::ranges::sort(order, {}, [&](const RunningWork* r) {
    return std::tuple(org.classes[r->work.klass].rank, -r->started.us, r->work.id);
  });
  std::vector<const RunningWork*> taken;
  int64_t freed = 0;
  for (const RunningWork* r : order) {
    if (freed >= needed) break;
    taken.push_back(r);
    freed += r->work.size.value / 1000;
  }
  for (size_t i = taken.size(); i-- > 0;) {
    const int64_t size = taken[i]->work.size.value / 1000;
    if (freed - size < needed) continue;
    freed -= size;
    taken.erase(taken.begin() + static_cast<ptrdiff_t>(i));
  }
  double loss = 0;
  for (const RunningWork* r : taken) loss += static_cast<double>(loss_of(org, *r, kNow));
  return loss;
}

struct Ratios {
  std::vector<double> all;
  void print(const char* name) {
    std::ranges::sort(all);
    double sum = 0;
    for (const double r : all) sum += r;
    fmt::print(
        "  {:<24} mean {:.4f}  P90 {:.3f}  worst {:.3f}  least in {:.1f} %\n", name,
        sum / static_cast<double>(all.size()), all[all.size() * 9 / 10], all.back(),
        100.0 *
            static_cast<double>(std::ranges::count_if(all, [](double r) { return r < 1 + 1e-9; })) /
            static_cast<double>(all.size()));
  }
};

void run(size_t jobs) {
  const Organisation org = one_team();
  Rng rng(jobs);
  Ratios ours, kueue;
  double spent_s = 0, worst_s = 0;
  for (int i = 0; i < 1000; ++i) {
    const Case c = any_case(rng, jobs);
    Quota quota(org);
    Milli held;
    for (const RunningWork& r : c.running) held = held + r.work.size;
    quota.set_capacity(0, held + c.free);
    for (const RunningWork& r : c.running) quota.charge(0, 0, r.work.size);
    const CountedRoom room({c.free});
    const SpentPairs spent;
    const std::vector<Milli> anywhere(org.classes.size());
    const double begin = cpu_seconds();
    const RunningKinds kinds(org, c.running, kNow);
    const auto victims =
        take_back({org, quota, c.running, kinds, room, anywhere, spent, kNow}, c.claimant,
                  std::vector<bool>(c.running.size()), c.running.size());
    const double took = cpu_seconds() - begin;
    spent_s += took;
    worst_s = std::max(worst_s, took);
    if (!victims) continue;
    const int64_t needed = (c.claimant.size - c.free).value / 1000;
    double lost = 0;
    for (const Victim& v : *victims)
      lost += static_cast<double>(loss_of(org, c.running[v.running], kNow));
    const double low = least_loss(org, c, needed, 10);
    const double least = low < 1e299 ? low : least_loss(org, c, needed, 20);
    ours.all.push_back(lost / least);
    kueue.all.push_back(kueue_loss(org, c, needed) / least);
  }
  fmt::print(
      "{} jobs run, {} cases: device-seconds lost over the least; {:.3f} ms a case, worst {:.2f} "
      "ms\n",
      jobs, ours.all.size(), spent_s, 1e3 * worst_s);
  ours.print("fairlead");
  kueue.print("Kueue's order");
}

}  // namespace
}  // namespace fairlead::policy

int main() {
  for (const size_t jobs : {12, 40, 200, 2000}) fairlead::policy::run(jobs);
}
