// For tests: a cluster in which nothing happens but what a test does and what plans decide.
//
// What a plan preempts is asked to leave, and its devices are the claimant's from then on: booked,
// so that no later look gives them twice. `settle()` is when all have left.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "policy/plan.h"

namespace fairlead::policy {

constexpr DeviceId kH100 = 0;
constexpr Instant kNow = instant_of_seconds(1'796'025'600);

struct TestCluster {
  Organisation org;
  Milli capacity;                    // of H100
  std::vector<RunningWork> running;  // a claimant from the moment it is admitted
  std::vector<RunningWork> leaving;  // preempted, and not gone yet
  std::vector<Work> waiting;
  Instant now = kNow;
  SpentPairs spent;
  std::map<WorkId, int> preempted;  // how often, in all looks
  std::vector<BudgetState> budgets = {};
  std::optional<int64_t> evictions_left = {};
  Forms forms = {};
  Parking parking = {};

  Quota quota() const {
    Quota quota(org);
    quota.set_capacity(kH100, capacity);
    for (const RunningWork& r : running) quota.charge(r.work.team, kH100, r.work.size);
    return quota;
  }
  Milli free() const {
    Milli free = capacity;
    for (const RunningWork& r : running) free = free - r.work.size;
    return std::max(free, Milli{});
  }
  std::vector<Decision> look() const {
    return plan({.organisation = org,
                 .quota = quota(),
                 .free = {free()},
                 .running = running,
                 .waiting = waiting,
                 .usages = {},
                 .now = now,
                 .spent = spent,
                 .evictions_left = evictions_left,
                 .budgets = budgets,
                 .forms = forms,
                 .parking = parking});
  }
  void apply(const std::vector<Decision>& decisions) {
    for (const Decision& d : decisions) {
      if (d.verdict == Verdict::admit || d.verdict == Verdict::reshape) {
        const auto work = std::ranges::find(waiting, d.work, &Work::id);
        const Work as =
            d.reshape ? in_form(*work, forms.at(d.work).others[d.reshape->form]) : *work;
        running.push_back({.work = as, .started = now, .ends = {}, .kept_till = {}});
        waiting.erase(work);
      } else if (d.verdict == Verdict::preempt) {
        const auto victim = find_running(d.work);
        leaving.push_back(*victim);
        running.erase(victim);
        spent.insert({d.claimant, d.work});
        ++preempted[d.work];
        if (evictions_left) --*evictions_left;
      }
    }
  }
  void act() { apply(look()); }
  void settle() {  // they wait again, as old as they are
    for (const RunningWork& r : leaving) waiting.push_back(r.work);
    leaving.clear();
  }
  void end(WorkId id) {
    running.erase(find_running(id));
    spent.clear();
  }

  std::vector<RunningWork>::iterator find_running(WorkId id) {
    return std::ranges::find(running, id, [](const RunningWork& r) { return r.work.id; });
  }
  bool runs(WorkId id) const {
    return std::ranges::any_of(running, [&](const RunningWork& r) { return r.work.id == id; });
  }
  int evictions() const {
    int sum = 0;
    for (const auto& [id, count] : preempted) sum += count;
    return sum;
  }

  TeamId add_team(TeamId parent, Milli own) {  // parents first, depth first
    const auto id = static_cast<TeamId>(org.teams.size());
    Team team;
    team.parent = parent;
    team.end = id + 1;
    team.half_life = seconds(7 * 24 * 3600);
    team.limits = {Limits{.own = own}};
    org.teams.push_back(team);
    for (TeamId t = parent; id != kRoot; t = org.teams[t].parent) {
      org.teams[t].end = id + 1;
      if (t == kRoot) break;
    }
    return id;
  }
  Work work(WorkId id, TeamId team, int64_t size, ClassId klass = 0) const {
    return {.id = id,
            .team = team,
            .klass = klass,
            .device = kH100,
            .size = devices(size),
            .since = now,
            .time_max = {}};
  }
  void run(WorkId id, TeamId team, int64_t size, ClassId klass = 0) {
    running.push_back({.work = work(id, team, size, klass),
                       .started = now - seconds(3600),
                       .ends = {},
                       .kept_till = {}});
  }
  void submit(WorkId id, TeamId team, int64_t size, ClassId klass = 0) {
    waiting.push_back(work(id, team, size, klass));
  }
};

inline Class test_class(std::string name, int64_t rank, std::vector<ClassId> preempts = {}) {
  return {.name = std::move(name),
          .rank = rank,
          .preempts = std::move(preempts),
          .anywhere_up_to = {},
          .most_devices = {},
          .most_time = {}};
}

inline TestCluster test_cluster(int64_t capacity, std::vector<Class> classes) {
  TestCluster c;
  c.capacity = devices(capacity);
  c.org.devices = {{.name = "H100", .models = {"H100"}}};
  c.org.classes = std::move(classes);
  c.add_team(kRoot, c.capacity);
  return c;
}

}  // namespace fairlead::policy
