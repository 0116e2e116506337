#include "core/team_books.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "fabric/slices.h"
#include "policy/catalogue.h"

namespace fairlead {
namespace {

using policy::DeviceId;
using policy::Milli;
using policy::Organisation;
using policy::same_letters;
using policy::TeamId;

std::string_view without_maker(std::string_view model) {
  for (const std::string_view maker : {"nvidia_", "nvidia-", "tesla_", "tesla-"})
    if (model.size() > maker.size() && same_letters(model.substr(0, maker.size()), maker))
      return without_maker(model.substr(maker.size()));
  return model;
}

// "a100_3g.20gb+me" -> its device, "a100", and its profile, "3g.20gb".
struct Instance {
  std::string_view device, profile;
};
std::optional<Instance> instance_of(std::string_view model) {
  if (!is_slice_model(model)) return std::nullopt;
  const size_t g = model.rfind("g.");
  const size_t begin = g - 1;  // profiles have one digit before the g
  std::string_view device = model.substr(0, begin);
  while (!device.empty() && (device.back() == '_' || device.back() == '-' || device.back() == '.'))
    device.remove_suffix(1);
  return Instance{device, model.substr(begin, model.find("gb", g) + 2 - begin)};
}

// From the scheduler's numbers of names to the organisation's, each looked up once.
class Meanings {
 public:
  explicit Meanings(const State& state) : state_(state), org_(state.organisation->rules()) {}

  // Thousandths that one device of this model counts as.
  int64_t each(NameId model) {
    const auto [at, is_new] = each_.try_emplace(model, 0);
    if (is_new) at->second = amount_of(state_.names.name(model), 1).value;
    return at->second;
  }
  std::optional<DeviceId> device(NameId model) {
    const auto [at, is_new] = devices_.try_emplace(model);
    if (is_new) at->second = device_class_of(org_, state_.names.name(model));
    return at->second;
  }
  TeamId team_or_root(NameId team) {
    const auto [at, is_new] = teams_.try_emplace(team);
    if (is_new) at->second = org_.team(state_.names.name(team)).value_or(policy::kRoot);
    return at->second;
  }

 private:
  const State& state_;
  const Organisation& org_;
  std::map<NameId, std::optional<DeviceId>> devices_;
  std::map<NameId, TeamId> teams_;
  std::map<NameId, int64_t> each_;
};

// Sums of an hour, by team and device, and their way into what fades.
class HourSums {
 public:
  HourSums(const Organisation& org, policy::Usages& usages)
      : org_(org), usages_(usages), sums_(org.teams.size() * org.devices.size()) {}

  void add(TeamId team, DeviceId device, int64_t milli_seconds) {
    sums_[team * org_.devices.size() + device] += milli_seconds;
  }
  void charge(int64_t begin, int64_t end) {
    if (end <= begin) return;
    const size_t devices = org_.devices.size();
    const Instant from = instant_of_seconds(begin), to = instant_of_seconds(end);
    for (size_t i = 0; i < sums_.size(); ++i) {
      const Milli amount{std::max<int64_t>(std::exchange(sums_[i], 0), 0) / (end - begin)};
      if (amount.value == 0) continue;
      usages_.direct[i].charge(amount, from, to);
      for (auto t = static_cast<TeamId>(i / devices);; t = org_.teams[t].parent) {
        usages_.with_children[t * devices + i % devices].charge(amount, from, to);
        if (t == policy::kRoot) break;
      }
    }
  }

 private:
  const Organisation& org_;
  policy::Usages& usages_;
  std::vector<int64_t> sums_;
};

Duration half_life_of(const policy::Team& team) {
  return std::clamp(team.half_life, policy::kHalfLifeMin, policy::kHalfLifeMax);
}

}  // namespace

std::optional<DeviceId> device_class_of(const Organisation& org, std::string_view model) {
  if (model.empty()) return org.devices.size() == 1 ? std::optional<DeviceId>(0) : std::nullopt;
  std::vector<DeviceId> found;
  const auto find = [&](auto&& same) {
    found.clear();
    for (DeviceId d = 0; d < org.devices.size(); ++d) {
      const policy::DeviceClass& device = org.devices[d];
      if (same(device.name) || std::ranges::any_of(device.models, same)) found.push_back(d);
    }
    return !found.empty();
  };
  if (find([&](const std::string& name) { return name == model; })) return found[0];
  if (find([&](const std::string& name) { return same_letters(name, model); })) return found[0];
  if (const auto instance = instance_of(model)) return device_class_of(org, instance->device);
  const std::string_view plain = without_maker(model);
  find([&](const std::string& name) {
    const bool goes_on =
        plain.size() == name.size() ||
        (plain.size() > name.size() && (plain[name.size()] == '_' || plain[name.size()] == '-'));
    return goes_on && same_letters(plain.substr(0, name.size()), name);
  });
  return found.size() == 1 ? std::optional(found[0]) : std::nullopt;
}

Milli amount_of(std::string_view model, int64_t devices) {
  const auto instance = instance_of(model);
  if (!instance) return policy::devices(devices);
  const bool is_small = instance->device.contains("a30") || instance->device.contains("A30");
  int64_t compute = instance->profile.front() - '0';
  const int64_t compute_most = is_small ? 4 : 7, parts_most = is_small ? 4 : 8;
  int64_t parts = 0;
  for (const char* known :
       {"A30-24G", "A100-80G", "A100-40G", "H100-80G", "H100-94G", "H200-141G"}) {
    const SliceTable* table =
        is_small == (known == std::string_view("A30-24G")) ? slice_table(known) : nullptr;
    const auto profile = table == nullptr ? std::nullopt : table->find(instance->profile);
    if (!profile) continue;
    parts = table->profiles()[static_cast<size_t>(*profile)].parts;
    break;
  }
  const auto rounded = [&](int64_t part, int64_t of) { return (2000 * part + of) / (2 * of); };
  const int64_t each = std::max(rounded(compute, compute_most), rounded(parts, parts_most));
  return Milli{std::clamp<int64_t>(each, 1, 1000) * devices};
}

std::optional<DeviceId> device_class_of(const State& state, const Job& job) {
  const Organisation& org = state.organisation->rules();
  if (!job.request.devices.model.empty()) return device_class_of(org, job.request.devices.model);
  std::set<std::optional<DeviceId>> classes;
  for_each_name(job.partition, [&](const std::string& name) {
    const auto partition = state.partitions.find(name);
    if (partition == state.partitions.end()) return;
    for (const std::string& node_name : partition->second.nodes) {
      const auto node = state.fleet.find(node_name);
      if (!node) continue;
      for (const DeviceGroup& group : state.fleet.node(*node).facts.devices)
        classes.insert(device_class_of(org, group.model));
    }
  });
  return classes.size() == 1 ? *classes.begin() : device_class_of(org, "");
}

std::vector<Milli> capacity_of(const State& state) {
  std::vector<Milli> capacity(state.organisation->rules().devices.size());
  Meanings meanings(state);
  for (const FleetNode& node : state.fleet.nodes()) {
    if (!node.present || !node.usable) continue;
    for (const DeviceIndex device : node.devices)
      if (const auto d = meanings.device(state.fleet.device(device).model))
        capacity[*d] = capacity[*d] + Milli{meanings.each(state.fleet.device(device).model)};
  }
  return capacity;
}

void for_each_held(const State& state, const Workload& workload,
                   const std::function<void(DeviceId, Milli)>& f) {
  const Organisation& org = state.organisation->rules();
  std::map<NameId, int64_t> devices;
  for (const DeviceIndex device : workload.devices) ++devices[state.fleet.device(device).model];
  for (const auto& [model, count] : devices)
    if (const auto d = device_class_of(org, state.names.name(model)))
      f(*d, amount_of(state.names.name(model), count));
  if (workload.unplaced_milli <= 0) return;
  if (const auto d = device_class_of(org, workload.job.request.devices.model))
    f(*d, Milli{workload.unplaced_milli});
}

policy::Quota quota_of(const State& state) {
  const KnownOrganisation& known = *state.organisation;
  policy::Quota quota(known.rules());
  policy::follow_calendar(known.rules(), known.zones, state.now, quota);
  const std::vector<Milli> capacity = capacity_of(state);
  for (DeviceId d = 0; d < capacity.size(); ++d) quota.set_capacity(d, capacity[d]);
  for (const WorkloadId id : state.queues.holding()) {
    const Workload& workload = state.workloads.at(id);
    const TeamId team = team_of(state, workload).value_or(policy::kRoot);
    for_each_held(state, workload,
                  [&](DeviceId d, Milli amount) { quota.charge(team, d, amount); });
  }
  return quota;
}

ClosedHours closed_hours(const State& state, const std::vector<int64_t>& from) {
  ClosedHours made{
      .organisation = state.organisation, .changes = state.ledger.closed_changes(), .firsts = {}};
  const std::map<int64_t, LedgerHour>& hours = state.ledger.data().hours;
  for (const int64_t second : from) {
    const auto first = hours.lower_bound(second);
    made.firsts.push_back(first == hours.end() ? -1 : first->first);
  }
  return made;
}

const policy::Usages& UsagesSoFar::until_now(const State& state) {
  const Organisation& org = state.organisation->rules();
  Duration longest;
  for (const policy::Team& team : org.teams) longest = std::max(longest, half_life_of(team));
  constexpr int64_t kHalfLivesMax = 10;  // chosen: a thousandth is left then
  const int64_t now = floor_seconds(state.now);
  const int64_t from = now - std::min(now, kHalfLivesMax * whole_seconds(longest));
  const LedgerData& books = state.ledger.data();
  Meanings meanings(state);
  const auto charge = [&](policy::Usages& usages, int64_t begin, int64_t end) {
    HourSums sums(org, usages);
    int64_t hour = 0;
    const auto close = [&] {
      sums.charge(std::max(hour, books.opened), std::min(hour + kLedgerHour, now));
    };
    state.ledger.for_each(begin, end, [&](const Account& account, int64_t begins, int64_t amount) {
      if (begins != hour) close();
      hour = begins;
      if (!is_held(account.column) && account.column != Column::lost) return;
      if (const auto device = meanings.device(account.model))
        sums.add(meanings.team_or_root(account.team), *device,
                 amount / 1000 * meanings.each(account.model) +
                     amount % 1000 * meanings.each(account.model) / 1000);
    });
    close();
  };
  if (ClosedHours made = closed_hours(state, {from}); made_of_ != made) {
    made_of_ = std::move(made);
    closed_ = {};
    for (const policy::Team& team : org.teams) {
      for (DeviceId d = 0; d < org.devices.size(); ++d) {
        closed_.direct.emplace_back(half_life_of(team));
        closed_.with_children.emplace_back(half_life_of(org.teams[team.parent]));
      }
    }
    charge(closed_, from, std::min(books.hour, now));
  }
  now_ = closed_;
  charge(now_, std::max(from, books.hour), now);
  return now_;
}

policy::Usages usages_of(const State& state) { return UsagesSoFar().until_now(state); }

}  // namespace fairlead
