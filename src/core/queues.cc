#include "core/queues.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace fairlead {

bool competes(const Job& job) {
  static constexpr std::array<std::string_view, 9> kWaitsForElse = {
      "BeginTime",          "Dependency",     "DependencyNeverSatisfied",
      "JobArrayTaskLimit",  "PartitionDown",  "PartitionTimeLimit",
      "PartitionNodeLimit", "BadConstraints", "Licenses"};
  if (job.state != JobState::pending || job.priority == 0) return false;
  if (job.reason.starts_with("Assoc") || job.reason.starts_with("QOS") ||
      job.reason == "Reservation")
    return false;
  return std::ranges::find(kWaitsForElse, job.reason) == kWaitsForElse.end();
}

std::optional<WorkloadId> Queues::find(std::string_view label) const {
  if (const auto named = by_label_.find(std::string(label)); named != by_label_.end())
    return named->second;
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  if (error != std::errc{} || end != label.data() + label.size()) return std::nullopt;
  const auto numbered = by_number_.find(number);
  if (numbered == by_number_.end()) return std::nullopt;
  return numbered->second;
}

void Queues::add(const Workload& w) {
  by_label_[w.job.label] = w.id;
  by_number_[w.job.id] = w.id;
  if (w.holding) holding_.insert(w.id);
  if (w.unsettled) ++unsettled_;
  if (w.job.state != JobState::pending) return;
  waiting_.insert(place_of(w));
  if (w.job.request.devices.total > 0)
    shapes_[shape_of(w.job)] += std::max<int64_t>(1, w.job.array.waiting_count);
  if (!competes(w.job)) return;
  for_each_name(w.job.partition,
                [&](const std::string& name) { competing_[name].insert(place_of(w)); });
}

void Queues::remove(const Workload& w) {
  if (const auto named = by_label_.find(w.job.label);
      named != by_label_.end() && named->second == w.id)
    by_label_.erase(named);
  if (const auto numbered = by_number_.find(w.job.id);
      numbered != by_number_.end() && numbered->second == w.id) {
    by_number_.erase(numbered);
  }
  holding_.erase(w.id);
  if (w.unsettled) --unsettled_;
  if (w.job.state != JobState::pending) return;
  waiting_.erase(place_of(w));
  if (w.job.request.devices.total > 0) {
    const auto shape = shapes_.find(shape_of(w.job));
    shape->second -= std::max<int64_t>(1, w.job.array.waiting_count);
    if (shape->second == 0) shapes_.erase(shape);
  }
  if (!competes(w.job)) return;
  for_each_name(w.job.partition,
                [&](const std::string& name) { competing_[name].erase(place_of(w)); });
}

namespace {

// Before all that has the number of `w`: tasks of its array and components of its job are not
// ahead.
Queues::Place first_of(const Workload& w) {
  Queues::Place place = Queues::place_of(w);
  std::get<WorkloadId>(place) = 0;
  return place;
}

}  // namespace

int64_t Queues::ahead_in(const std::string& partition, const Workload& w) const {
  const auto found = competing_.find(partition);
  if (found == competing_.end()) return 0;
  return static_cast<int64_t>(found->second.order_of_key(first_of(w)));
}

void Queues::for_each_ahead(const std::string& partition, const Workload& w, size_t most,
                            const std::function<void(WorkloadId)>& f) const {
  const auto found = competing_.find(partition);
  if (found == competing_.end()) return;
  for (const Place& place : found->second) {
    if (most-- == 0 || place >= first_of(w)) return;
    f(std::get<WorkloadId>(place));
  }
}

}  // namespace fairlead
