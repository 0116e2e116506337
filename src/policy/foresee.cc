#include "policy/foresee.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

namespace fairlead::policy {
namespace {

class Course {
 public:
  Course(const World& world, Room& room, const Future& future)
      : w_(world),
        room_(room),
        future_(future),
        now_(world.now),
        quota_(world.quota),
        waiting_(world.waiting),
        running_(world.running) {
    for (size_t i = 0; i < running_.size(); ++i)
      if (future_.ends[i].known()) ends_.emplace(future_.ends[i], running_[i].work.id);
  }

  FutureTold play() {
    for (int looks = 0; looks < future_.looks_max && waiting_.size() > 0; ++looks) {
      look();
      if (ends_.empty()) break;
      end_next();
    }
    return std::move(told_);
  }

 private:
  void look() {
    if (future_.follow_calendar) future_.follow_calendar(now_, quota_);
    const Plan plan = policy::look({.organisation = w_.organisation,
                                    .quota = quota_,
                                    .waiting = waiting_,
                                    .running = running_,
                                    .usages = w_.usages,
                                    .budgets = w_.budgets,
                                    .spent = w_.spent,
                                    .now = now_,
                                    .evictions_left = 0},
                                   room_);
    told_.steps += plan.acts.size() + plan.own.size() + plan.refusals.size() + running_.size() / 64;
    std::vector<RunningWork> begun;
    for (const Decision& act : plan.acts) begun.push_back(begin(*waiting_.find(act.work)));
    const auto by_id = [](const RunningWork& r) { return r.work.id; };
    std::ranges::sort(begun, {}, by_id);
    std::vector<RunningWork> all;
    all.reserve(running_.size() + begun.size());
    std::ranges::merge(running_, begun, std::back_inserter(all), {}, by_id, by_id);
    running_ = std::move(all);
  }

  RunningWork begin(Work work) {
    const Instant limit = work.time_max.us > 0 ? now_ + work.time_max : Instant{};
    quota_.charge(work.team, work.device, work.size);
    if (const Duration length = future_.length(work); length.us > 0)
      ends_.emplace(now_ + length, work.id);
    told_.starts.emplace(work.id, now_);
    waiting_.remove(work.id);
    return {.work = work, .started = now_, .ends = limit, .kept_till = {}};
  }

  void end_next() {
    const Instant first = std::max(ends_.top().first, now_);
    const Instant until = first + Duration{(first - w_.now).us / kGrain};
    std::unordered_set<WorkId> ended;
    while (!ends_.empty() && ends_.top().first <= until) {
      now_ = std::max(now_, ends_.top().first);
      ended.insert(ends_.top().second);
      ends_.pop();
    }
    std::erase_if(running_, [&](const RunningWork& r) {
      if (!ended.contains(r.work.id)) return false;
      room_.give_back(r);
      quota_.refund(r.work.team, r.work.device, r.work.size);
      return true;
    });
    told_.steps += ended.size() + running_.size() / 64;
  }

  using End = std::pair<Instant, WorkId>;

  const World& w_;
  Room& room_;
  const Future& future_;
  Instant now_;
  Quota quota_;
  Waiting waiting_;
  std::vector<RunningWork> running_;  // by id
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  FutureTold told_;
};

}  // namespace

FutureTold play_future(const World& world, Room& room, const Future& future) {
  return Course(world, room, future).play();
}

Waiting first_of_order(const World& world, size_t most) {
  const Organisation& org = world.organisation;
  Quota quota = world.quota;
  const UsageNow usage(org, world.usages, world.now);
  std::vector<Milli> anywhere_held(org.classes.size());
  const auto hold = [&](const Work& work) {
    if (org.classes[work.klass].anywhere)
      anywhere_held[work.klass] = anywhere_held[work.klass] + work.size;
  };
  for (const RunningWork& r : world.running) hold(r.work);
  Tournament order({org, quota, usage, world.budgets, anywhere_held}, world.waiting);
  Waiting first;
  while (const Work* work = first.size() < most ? order.top() : nullptr) {
    first.put(*work);
    order.pop();
    quota.charge(work->team, work->device, work->size);
    hold(*work);
    order.changed(*work);
  }
  return first;
}

}  // namespace fairlead::policy
