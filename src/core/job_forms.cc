#include "core/job_forms.h"

#include <algorithm>
#include <map>

#include "core/kept_nodes.h"
#include "core/queues.h"
#include "core/team_books.h"

namespace fairlead {
namespace {

// One for each class of devices: the partitions that have it, in the job's order.
std::vector<Job> by_class(const State& state, const Job& job) {
  if (!job.partition.contains(',') || !job.request.devices.model.empty() ||
      device_class_of(state, job))
    return {job};
  std::vector<policy::DeviceId> order;
  std::map<policy::DeviceId, Job> forms;
  for_each_name(job.partition, [&](const std::string& name) {
    Job form = job;
    form.partition = name;
    const auto device = device_class_of(state, form);
    if (!device) return;
    const auto [at, is_new] = forms.try_emplace(*device, form);
    if (is_new)
      order.push_back(*device);
    else
      at->second.partition += "," + name;
  });
  if (order.empty()) return {job};
  std::vector<Job> out;
  for (const policy::DeviceId device : order) out.push_back(forms.at(device));
  return out;
}

std::vector<int32_t> numbers_of_nodes(const JobRequest& r) {
  const int32_t least = std::max(1, r.nodes_min);
  std::vector<int32_t> numbers{least};
  const bool declared = r.nodes_max > least && r.nodes_max != r.tasks && r.devices.per_node > 0 &&
                        r.devices.total == r.devices.per_node * least;
  if (!declared) return numbers;
  const int32_t more = r.nodes_max - least, steps = std::min(more, kFormsMax - 1);
  for (int32_t i = 1; i <= steps; ++i)
    numbers.push_back(least + static_cast<int32_t>(int64_t{more} * i / steps));
  return numbers;
}

// Each form leaves out where it would be for too long, and where it accepts a shorter limit there
// is one more that is over by then.
std::vector<Job> all_beside_reservations(const State& state, std::vector<Job> forms) {
  const size_t asked = forms.size();
  for (size_t i = 0; i < asked; ++i) {
    const Job& whole = forms[i];
    const KeptNodes kept = kept_from(state, whole);
    if (kept.nodes.empty()) continue;
    const int64_t least_s = std::max<int64_t>(60, whole.request.time_min_s);
    const int64_t left_s =
        kept.from.known() ? whole_seconds(kept.from - state.now) / 60 * 60 : int64_t{0};
    if (whole.request.time_min_s > 0 && left_s >= least_s) {
      Job shorter = whole;
      shorter.request.time_limit_s = left_s;
      forms.push_back(beside_reservations(state, std::move(shorter)));
    }
    forms[i] = beside_reservations(state, std::move(forms[i]));
  }
  return forms;
}

}  // namespace

std::vector<Job> forms_of(const State& state, const Job& job) {
  std::vector<Job> forms;
  for (const Job& of_class : by_class(state, job)) {
    for (const int32_t nodes : numbers_of_nodes(job.request)) {
      forms.push_back(of_class);
      JobRequest& request = forms.back().request;
      if (nodes == std::max(1, request.nodes_min)) continue;
      request.nodes_min = nodes;
      request.devices.total = request.devices.per_node * nodes;
    }
  }
  return state.reservations.empty() ? forms : all_beside_reservations(state, std::move(forms));
}

}  // namespace fairlead
