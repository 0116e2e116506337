#include "contest/profile.h"

#include <algorithm>

#include "contest/rivals.h"

namespace fairlead::contest {

Profile::Profile(const Arena& arena, DeviceId device) {
  steps_.push_back({.at = arena.now(), .free = arena.board().free(device)});
  for (const auto& [due, job] : arena.due(device)) {
    const int64_t at = std::max(due, arena.now() + 1);
    if (steps_.back().at != at) steps_.push_back({.at = at, .free = steps_.back().free});
    steps_.back().free += arena.run(job).form.gang.total();
  }
}

int64_t Profile::earliest(int64_t size, int64_t length) const {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].free < size) continue;
    const int64_t end = length > kNever - steps_[i].at ? kNever : steps_[i].at + length;
    size_t j = i + 1;
    while (j < steps_.size() && steps_[j].at < end && steps_[j].free >= size) ++j;
    if (j == steps_.size() || steps_[j].at >= end) return steps_[i].at;
    i = j;  // too few there; the loop goes on behind it
  }
  return kNever;
}

// The index of the step that begins then, which is made where there is none.
size_t Profile::step_at(int64_t at) {
  const auto it = std::ranges::lower_bound(steps_, at, {}, &Step::at);
  const auto index = static_cast<size_t>(it - steps_.begin());
  if (it != steps_.end() && it->at == at) return index;
  const int64_t free = std::prev(it)->free;
  steps_.insert(it, {.at = at, .free = free});
  return index;
}

void Profile::promise(int64_t from, int64_t length, int64_t size) {
  const int64_t until = length > kNever - from ? kNever : from + length;
  const size_t begin = step_at(from);
  const size_t end = step_at(until);  // behind it, so `begin` stays where it is
  for (size_t i = begin; i < end; ++i) steps_[i].free -= size;
}

void backfill(Arena& arena, Line& line, DeviceId device, int tests_most,
              const std::function<void(JobIndex)>& started) {
  const auto fits = [&](JobIndex job) { return arena.board().fits(arena.job(job).gang); };
  if (!line.any_shape(fits)) return;
  Profile profile(arena, device);
  int tests = 0;
  line.pass([&](JobIndex job) {
    if (++tests > tests_most || arena.board().free(device) == 0) return Next::stop;
    const Job& j = arena.job(job);
    const int64_t at = profile.earliest(j.gang.total(), j.limit);
    if (at == kNever) return Next::skip_shape;
    profile.promise(at, j.limit, j.gang.total());
    if (at != arena.now() || !arena.start(job)) return Next::go_on;
    if (started) started(job);
    return Next::taken;
  });
}

namespace {

class Conservative : public Rival {
 public:
  explicit Conservative(const Match& match) : lines_(match.organisation.devices.size()) {}
  void waits(const Arena& arena, JobIndex job) override {
    lines_[arena.job(job).gang.device].add(arena, job);
  }
  void look(Arena& arena) override {
    constexpr int kTestsMost = 1000;  // chosen: a pass stays bounded
    for (DeviceId d = 0; d < lines_.size(); ++d) backfill(arena, lines_[d], d, kTestsMost);
  }

 private:
  std::vector<Line> lines_;  // by device
};

}  // namespace

std::unique_ptr<Rival> make_conservative(const Match& match) {
  return std::make_unique<Conservative>(match);
}

}  // namespace fairlead::contest
