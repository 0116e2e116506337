#include "explain/usage.h"

#include <algorithm>

namespace fairlead {

void TresSum::add(const TresSum& other, int64_t times) {
  nodes += other.nodes * times;
  cpus += other.cpus * times;
  memory_mb += other.memory_mb * times;
  devices += other.devices * times;
  for (const auto& [model, count] : other.models) {
    const auto own = std::ranges::find(models, model, &std::pair<NameId, int64_t>::first);
    if (own == models.end())
      models.emplace_back(model, count * times);
    else
      own->second += count * times;
  }
}

int64_t TresSum::amount(std::string_view tres, const NameTable& names) const {
  constexpr std::string_view kModel = "gres/gpu:";
  if (tres == "node") return nodes;
  if (tres == "cpu") return cpus;
  if (tres == "mem") return memory_mb;
  if (tres == "gres/gpu") return devices;
  if (!tres.starts_with(kModel)) return 0;
  const auto model = names.find(tres.substr(kModel.size()));
  for (const auto& [name, count] : models) {
    if (model && name == *model) return count;
  }
  return 0;
}

TresSum tres_of(const State& state, const Workload& w) {
  const JobRequest& r = w.job.request;
  TresSum sum;
  sum.nodes =
      w.job.held.empty() ? std::max(1, r.nodes_min) : static_cast<int64_t>(w.job.held.size());
  sum.cpus = r.cpus;
  sum.memory_mb = r.memory_per_cpu_mb > 0 ? r.memory_per_cpu_mb * std::max(1, r.cpus)
                                          : r.memory_per_node_mb * sum.nodes;
  sum.devices = std::max<int64_t>(r.devices.total, static_cast<int64_t>(w.devices.size()));
  if (w.devices.empty()) {
    const auto model = state.names.find(r.devices.model);
    if (sum.devices > 0 && model && *model != 0) sum.models.emplace_back(*model, sum.devices);
    return sum;
  }
  for (const DeviceIndex d : w.devices) {
    const NameId model = state.fleet.device(d).model;
    const auto own = std::ranges::find(sum.models, model, &std::pair<NameId, int64_t>::first);
    if (own == sum.models.end())
      sum.models.emplace_back(model, 1);
    else
      ++own->second;
  }
  return sum;
}

int64_t promised_minutes(const State& state, const Workload& w) {
  if (w.job.request.time_limit_s < 0) return 0;
  const int64_t passed = whole_seconds(state.now - w.run_start);
  return std::max<int64_t>(0, w.job.request.time_limit_s - passed) / 60;
}

namespace {

template <class Map, class Key>
const UsageSum& find_or_none(const Map& map, const Key& key) {
  static const UsageSum kNone;
  const auto it = map.find(key);
  return it == map.end() ? kNone : it->second;
}

}  // namespace

Usage::Usage(const State& state) : state_(state) {
  for (const auto& [id, a] : state.associations)
    by_account_user_[{a.account, a.user}].push_back(id);
  for (const WorkloadId id : state.queues.holding()) {
    const Workload& w = state.workloads.at(id);
    const TresSum tres = tres_of(state, w);
    const int64_t minutes = promised_minutes(state, w);
    const auto add = [&](UsageSum& sum) {
      ++sum.jobs;
      sum.tres.add(tres);
      sum.running_minutes.add(tres, minutes);
    };
    const auto add_qos = [&](NameId qos) {
      add(qos_[qos]);
      add(qos_user_[{qos, w.user}]);
      add(qos_account_[{qos, w.account}]);
    };
    add_qos(w.qos);
    if (w.job.array.id != 0) ++array_[w.job.array.id];
    for (const Association* a : chain_of(w)) add(association_[a->id]);
    // A partition may have a class of its own, which counts every job of the partition.
    const auto partition = state.partitions.find(w.job.partition);
    if (partition == state.partitions.end() || partition->second.qos.empty() ||
        partition->second.qos == w.job.qos)
      continue;
    if (const auto qos = state.names.find(partition->second.qos)) add_qos(*qos);
  }
}

const UsageSum& Usage::of_qos(NameId qos) const { return find_or_none(qos_, qos); }
const UsageSum& Usage::of_qos_user(NameId qos, NameId user) const {
  return find_or_none(qos_user_, Pair(qos, user));
}
const UsageSum& Usage::of_qos_account(NameId qos, NameId account) const {
  return find_or_none(qos_account_, Pair(qos, account));
}
const UsageSum& Usage::of_association(int64_t id) const { return find_or_none(association_, id); }

int64_t Usage::running_tasks(uint32_t array) const {
  const auto it = array_.find(array);
  return it == array_.end() ? 0 : it->second;
}

const std::vector<const Association*>& Usage::chain_of(const Workload& w) const {
  const auto [it, added] = chains_.try_emplace({w.account, w.user, w.partition});
  if (added) it->second = find_chain(w.job);
  return it->second;
}

std::vector<const Association*> Usage::find_chain(const Job& job) const {
  std::vector<const Association*> chain;
  const auto found = by_account_user_.find({job.account, job.user});
  if (found == by_account_user_.end()) return chain;
  const Association* next = nullptr;  // one for the job's partition goes before one for all
  for (const int64_t id : found->second) {
    const Association& a = state_.associations.at(id);
    if (a.partition == job.partition) next = &a;
    if (a.partition.empty() && next == nullptr) next = &a;
  }
  constexpr size_t kDepthMax = 64;  // guards a parent that is its own ancestor
  while (next != nullptr && chain.size() < kDepthMax) {
    chain.push_back(next);
    const auto parent = state_.associations.find(next->parent);
    next = parent == state_.associations.end() ? nullptr : &parent->second;
  }
  return chain;
}

}  // namespace fairlead
