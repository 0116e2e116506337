// When the first of the planner's order would start, in futures that are as likely as the truth.
#include <algorithm>

#include "base/rng.h"
#include "core/allocator.h"
#include "policy/calendar.h"
#include "policy/foresee.h"

namespace fairlead {
namespace {

// A draw of its own for each run and future, and the same at every look: estimates move with what
// happens, and not by chance.
uint64_t chance_of(policy::WorkId work, int32_t epoch, int future) {
  return Rng(work * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(epoch) * kFutures +
             static_cast<uint64_t>(future))
      .next();
}

// What is drawn of the runs of one state.
class Draws {
 public:
  Draws(const State& state, const RunLengths& lengths,
        const std::vector<policy::RunningWork>& running)
      : state_(state), lengths_(lengths), running_(running) {
    for (const policy::RunningWork& r : running) like_.push_back(lengths.like(of(r.work)));
  }

  std::vector<Instant> ends(int future) const {
    std::vector<Instant> ends;
    for (size_t i = 0; i < running_.size(); ++i) {
      const policy::RunningWork& r = running_[i];
      const Duration already = std::max(Duration{}, state_.now - r.started);
      const auto length = RunLengths::draw(like_[i], r.work.time_max, already,
                                           chance_of(r.work.id, of(r.work).epoch, future));
      ends.push_back(length ? std::max(r.started + *length, state_.now) : Instant{});
    }
    return ends;
  }

  Duration length(const policy::Work& work, int future) const {
    const Workload& workload = of(work);
    return RunLengths::draw(lengths_.like(workload), work.time_max, {},
                            chance_of(work.id, workload.epoch + 1, future))
        .value_or(Duration{});
  }

 private:
  const Workload& of(const policy::Work& work) const {
    return state_.workloads.at(workload_of(work.id));
  }

  const State& state_;
  const RunLengths& lengths_;
  const std::vector<policy::RunningWork>& running_;
  std::vector<const RunLengths::Kind*> like_;  // by index of running_
};

}  // namespace

Foreseen Allocator::foresee(const State& state, const RunLengths& lengths) {
  CHECK(room_ && seen_);
  // A future plays work as it asks: which form would be taken depends on lengths that it draws.
  const auto as_asked = [&](const policy::Waiting& waiting) {
    policy::World world = this->world(state, waiting, 0);
    world.forms = nullptr;
    return world;
  };
  const policy::Waiting first = policy::first_of_order(as_asked(waiting_), kEstimatesMax);
  const Draws draws(state, lengths, seen_->running);
  Foreseen told{
      .starts = {}, .behind = static_cast<int64_t>(waiting_.size() - first.size()), .steps = 0};
  for (const auto& [key, group] : first.groups())
    for (const policy::Work& work : group) told.starts[workload_of(work.id)];
  for (int future = 0; future < kFutures; ++future) {
    SiteRoom::Visit visit(*room_, state);
    const policy::FutureTold played = policy::play_future(
        as_asked(first), visit,
        {.ends = draws.ends(future),
         .length = [&](const policy::Work& work) { return draws.length(work, future); },
         .follow_calendar =
             [&](Instant at, policy::Quota& quota) {
               policy::follow_calendar(rules_, state.organisation->zones, at, quota);
             },
         .looks_max = kFutureLooksMax});
    told.steps += played.steps;
    for (auto& [id, starts] : told.starts) {
      const auto start = played.starts.find(work_id(id));
      if (start != played.starts.end()) starts[static_cast<size_t>(future)] = start->second;
    }
  }
  return told;
}

}  // namespace fairlead
