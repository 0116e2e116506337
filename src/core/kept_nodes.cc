#include "core/kept_nodes.h"

#include <algorithm>

#include "base/hostlist.h"

namespace fairlead {

bool may_use(const Reservation& r, const Job& job) {
  if (job.reservation == r.name) return true;
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::ranges::find(list, name) != list.end();
  };
  // Slurm lets a user into a reservation only by name; the flag opens it to everybody else too.
  return has(r.flags, "FLEX") && (has(r.users, job.user) || has(r.accounts, job.account));
}

Instant would_end(const State& state, const Job& job) {
  constexpr int64_t kNoLimit = 366LL * 86400;
  const int64_t limit = job.request.time_limit_s;
  return state.now + seconds(limit <= 0 ? kNoLimit : std::min(limit, kNoLimit));
}

bool is_in_the_way(const Reservation& r, const Job& job, Instant now, Instant end) {
  return r.start < end && r.end > now && !may_use(r, job);
}

KeptNodes kept_from(const State& state, const Job& job) {
  KeptNodes kept;
  const Instant end = would_end(state, job);
  const auto changes_at = [&](Instant at) {
    if (at > state.now && (!kept.changes.known() || at < kept.changes)) kept.changes = at;
  };
  for (const auto& [name, r] : state.reservations) {
    if (r.nodes.empty() || r.end <= state.now || may_use(r, job)) continue;
    if (!is_in_the_way(r, job, state.now, end)) {
      // the first microsecond at which its end lies after the reservation's begin
      changes_at(state.now + (r.start - end) + Duration{1});
      continue;
    }
    const auto folded = state.kept_hostlists.find(name);
    kept.nodes += kept.nodes.empty() ? "" : ",";
    kept.nodes += folded == state.kept_hostlists.end() ? fold_hostlist(r.nodes) : folded->second;
    changes_at(r.end);
    if (r.start > state.now && (!kept.from.known() || r.start < kept.from)) kept.from = r.start;
  }
  return kept;
}

Job beside_reservations(const State& state, Job job) {
  if (state.reservations.empty()) return job;
  const std::string nodes = kept_from(state, job).nodes;
  std::string& excluded = job.request.nodes_excluded;
  if (!nodes.empty()) excluded += (excluded.empty() ? "" : ",") + nodes;
  return job;
}

}  // namespace fairlead
