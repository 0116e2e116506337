#include "explain/holders.h"

#include <algorithm>

namespace fairlead {

Instant ends_of(const Workload& w) {
  if (!w.holding || w.job.request.time_limit_s < 0) return {};
  return w.run_start + seconds(w.job.request.time_limit_s);
}

Holder holder_of(const State& state, const Workload& w, int64_t amount) {
  return {.workload = w.job.label,
          .team = state.names.name(w.team),
          .user = w.job.user,
          .amount = amount,
          .ends = ends_of(w),
          .idle = w.idle.kind};
}

Instant freed_at(std::vector<Holder> holders, int64_t amount) {
  std::ranges::sort(holders, {}, [](const Holder& h) {
    return std::pair(h.ends.known() ? h.ends.us : INT64_MAX, h.workload);
  });
  for (const Holder& holder : holders) {
    if (!holder.ends.known()) return {};
    amount -= holder.amount;
    if (amount <= 0) return holder.ends;
  }
  return {};
}

Instant spent_at(Instant now, std::vector<Holder> holders, int64_t amount) {
  std::erase_if(holders, [&](const Holder& h) { return !h.ends.known() || h.ends <= now; });
  std::ranges::sort(holders, {}, [](const Holder& h) { return std::pair(h.ends, h.workload); });
  const auto rate_of = [&](const Holder& h) {
    return static_cast<double>(h.amount) / static_cast<double>((h.ends - now).us);
  };
  double rate = 0;
  for (const Holder& h : holders) rate += rate_of(h);
  double left = static_cast<double>(amount);
  Instant from = now;
  for (const Holder& h : holders) {
    const double spends = rate * static_cast<double>((h.ends - from).us);
    if (spends >= left) return from + Duration{static_cast<int64_t>(left / rate)};
    left -= spends;
    rate -= rate_of(h);
    from = h.ends;
  }
  return {};
}

void show_holders(Blocker& blocker, std::vector<Holder> holders) {
  std::ranges::sort(holders, {}, [](const Holder& h) { return std::pair(-h.amount, h.workload); });
  if (holders.size() > kHoldersShown) {
    blocker.holders_more = static_cast<int64_t>(holders.size() - kHoldersShown);
    holders.resize(kHoldersShown);
  }
  blocker.holders = std::move(holders);
}

}  // namespace fairlead
