#include "views/workloads_view.h"

#include <algorithm>

#include "explain/explain.h"

namespace fairlead {

WorkloadList workloads_of(const State& state, const WorkloadFilter& filter) {
  WorkloadList list{.site = state.site, .as_of = state.source(Source::scheduler).last_ok};
  for (auto it = state.workloads.upper_bound(filter.after); it != state.workloads.end(); ++it) {
    const Workload& w = it->second;
    const Job& job = w.job;
    if (!filter.state.empty() && filter.state != enum_name(job.state)) continue;
    if (!filter.team.empty() && filter.team != state.names.name(w.team)) continue;
    if (!filter.user.empty() && filter.user != job.user) continue;
    if (list.workloads.size() == std::max<size_t>(filter.most, 1)) {
      list.next_cursor = list.workloads.back().id;
      break;
    }
    list.workloads.push_back(
        {.id = w.id,
         .workload = job.label,
         .name = job.name,
         .user = job.user,
         .team = state.names.name(w.team),
         .klass = state.names.name(w.klass),
         .account = job.account,
         .qos = job.qos,
         .partition = job.partition,
         .state = job.state,
         .gpus = w.holding ? static_cast<int64_t>(w.devices.size()) : job.request.devices.total,
         .gang = to_text(shape_of(job)),
         .nodes = job.nodes,
         .submitted = w.first_submit,
         .started = w.run_start,
         .ended = w.run_end,
         .epoch = w.epoch,
         .idle_kind = w.idle.kind,
         .gpu_seconds = columns_of(use_of(state, w))});
  }
  return list;
}

}  // namespace fairlead
