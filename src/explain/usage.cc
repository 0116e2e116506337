#include "explain/usage.h"

#include <algorithm>

namespace fairlead {

Amounts amounts_of(const State& state, const Workload& w) {
  const JobRequest& r = w.job.request;
  const int64_t nodes = w.job.held.empty() ? std::max(1, r.nodes_min) : static_cast<int64_t>(w.job.held.size());
  Amounts amounts = {{"node", nodes}};
  if (r.cpus > 0) amounts["cpu"] = r.cpus;
  if (r.memory_per_node_mb > 0) amounts["mem"] = r.memory_per_node_mb * nodes;
  if (r.memory_per_cpu_mb > 0) amounts["mem"] = r.memory_per_cpu_mb * std::max(1, r.cpus);
  const int64_t devices = std::max<int64_t>(r.devices.total, static_cast<int64_t>(w.devices.size()));
  if (devices > 0) amounts["gres/gpu"] = devices;
  if (w.devices.empty()) {
    if (devices > 0 && !r.devices.model.empty()) amounts["gres/gpu:" + r.devices.model] = devices;
  } else {
    for (const DeviceIndex d : w.devices) ++amounts["gres/gpu:" + state.names.name(state.fleet.device(d).model)];
  }
  return amounts;
}

namespace {

int64_t promised_minutes(const State& state, const Workload& w) {
  if (w.job.request.time_limit_s < 0) return 0;
  const int64_t passed = whole_seconds(state.now - w.run_start);
  return std::max<int64_t>(0, w.job.request.time_limit_s - passed) / 60;
}

template <class Map, class Key>
const UsageSum& find_or_none(const Map& map, const Key& key) {
  static const UsageSum kNone;
  const auto it = map.find(key);
  return it == map.end() ? kNone : it->second;
}

}  // namespace

void Usage::add(UsageSum& sum, const Amounts& amounts, int64_t minutes) {
  ++sum.jobs;
  for (const auto& [name, amount] : amounts) {
    sum.tres[name] += amount;
    sum.running_minutes[name] += amount * minutes;
  }
}

Usage::Usage(const State& state) : state_(state) {
  for (const auto& [id, a] : state.associations) by_account_user_[{a.account, a.user}].push_back(id);
  for (const auto& [id, w] : state.workloads) {
    if (!w.holding) continue;
    const Job& job = w.job;
    const Amounts amounts = amounts_of(state, w);
    const int64_t minutes = promised_minutes(state, w);
    add(qos_[job.qos], amounts, minutes);
    add(qos_user_[{job.qos, job.user}], amounts, minutes);
    add(qos_account_[{job.qos, job.account}], amounts, minutes);
    if (job.array.id != 0) ++array_[job.array.id];
    for (const Association* a : chain_of(job)) add(association_[a->id], amounts, minutes);
    const auto partition = state.partitions.find(job.partition);
    if (partition == state.partitions.end() || partition->second.qos.empty() || partition->second.qos == job.qos) continue;
    add(qos_[partition->second.qos], amounts, minutes);
    add(qos_user_[{partition->second.qos, job.user}], amounts, minutes);
    add(qos_account_[{partition->second.qos, job.account}], amounts, minutes);
  }
}

const UsageSum& Usage::of_qos(const std::string& qos) const { return find_or_none(qos_, qos); }
const UsageSum& Usage::of_qos_user(const std::string& qos, const std::string& user) const {
  return find_or_none(qos_user_, std::pair(qos, user));
}
const UsageSum& Usage::of_qos_account(const std::string& qos, const std::string& account) const {
  return find_or_none(qos_account_, std::pair(qos, account));
}
const UsageSum& Usage::of_association(int64_t id) const { return find_or_none(association_, id); }
int64_t Usage::running_tasks(uint32_t array) const {
  const auto it = array_.find(array);
  return it == array_.end() ? 0 : it->second;
}

std::vector<const Association*> Usage::chain_of(const Job& job) const {
  std::vector<const Association*> chain;
  const auto found = by_account_user_.find({job.account, job.user});
  if (found == by_account_user_.end()) return chain;
  const Association* best = nullptr;  // one for the job's partition goes before one for all
  for (const int64_t id : found->second) {
    const Association& a = state_.associations.at(id);
    if (a.partition == job.partition) best = &a;
    if (a.partition.empty() && best == nullptr) best = &a;
  }
  constexpr size_t kDepthMax = 64;  // guards a parent that is its own ancestor
  while (best != nullptr && chain.size() < kDepthMax) {
    chain.push_back(best);
    const auto parent = state_.associations.find(best->parent);
    best = parent == state_.associations.end() ? nullptr : &parent->second;
  }
  return chain;
}

}  // namespace fairlead
