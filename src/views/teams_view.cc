#include "views/teams_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/words.h"
#include "core/budgets.h"
#include "core/team_books.h"
#include "policy/team_view.h"

namespace fairlead {
namespace {

using policy::DeviceId;
using policy::kRoot;
using policy::Milli;
using policy::TeamId;

constexpr int64_t kMillion = 1'000'000;

std::optional<int64_t> bounded(Milli amount) {
  if (amount.is_unlimited()) return std::nullopt;
  return amount.value;
}

// What workloads are counted for, of one team or of nobody, and one class of devices.
struct Work {
  int64_t running = 0, waiting = 0, waiting_milli = 0, used_milli = 0;
  Work& operator+=(const Work& other) {
    running += other.running;
    waiting += other.waiting;
    waiting_milli += other.waiting_milli;
    used_milli += other.used_milli;
    return *this;
  }
};

int64_t tasks_of(const Job& job) { return std::max(job.array.waiting_count, 1); }

int64_t milli_asked(const Job& job) {
  const int64_t each = job.request.devices.share_milli > 0 ? job.request.devices.share_milli : 1000;
  return int64_t{job.request.devices.total} * each;
}

class Builder {
 public:
  explicit Builder(const State& state)
      : state_(state),
        org_(state.organisation->rules()),
        quota_(quota_of(state)),
        budgets_used_(budgets_used(state)),
        usages_(usages_of(state)),
        by_team_((org_.teams.size() + 1) * org_.devices.size()) {
    for (const WorkloadId id : state.queues.holding()) count(state.workloads.at(id));
    for (const auto& [priority, number, id] : state.queues.waiting()) count(state.workloads.at(id));
    for (size_t t = org_.teams.size(); t-- > 1;)  // a parent stands before its children
      for (DeviceId d = 0; d < org_.devices.size(); ++d)
        work(org_.teams[t].parent, d) += work(static_cast<TeamId>(t), d);
  }

  TeamList build() {
    TeamList list{.site = state_.site,
                  .as_of = state_.source(Source::scheduler).last_ok,
                  .organisation = org_.name,
                  .version = org_.version,
                  .teams = {},
                  .unassigned = {},
                  .misconfigured = {},
                  .notes = notes()};
    for (TeamId t = 0; t < org_.teams.size(); ++t)
      for (DeviceId d = 0; d < org_.devices.size(); ++d)
        if (is_shown(d)) list.teams.push_back(row_of(t, d));
    for (DeviceId d = 0; d < org_.devices.size(); ++d) {
      const Work& nobodys = work(nobody(), d);
      if (nobodys.running + nobodys.waiting == 0) continue;
      list.teams.push_back({.team = kUnassigned,
                            .parent = "",
                            .device = org_.devices[d].name,
                            .lend_milli = {},
                            .borrow_milli = {},
                            .limit_milli = {},
                            .used_milli = nobodys.used_milli,
                            .running = nobodys.running,
                            .waiting = nobodys.waiting,
                            .waiting_milli = nobodys.waiting_milli,
                            .weight = 0,
                            .window = {},
                            .budget = {},
                            .budget_used = {},
                            .budget_used_ppm = {}});
    }
    for (auto& [account, row] : unassigned_) list.unassigned.push_back(std::move(row));
    for (auto& [key, row] : slips_) list.misconfigured.push_back(std::move(row));
    std::ranges::sort(list.unassigned, {}, [](const UnassignedRow& row) {
      return std::pair(-row.gpus, std::string_view(row.account));
    });
    std::ranges::sort(list.misconfigured, {}, [](const MisconfiguredRow& row) {
      return std::tuple(-row.gpus, row.what, std::string_view(row.name));
    });
    return list;
  }

 private:
  TeamId nobody() const { return static_cast<TeamId>(org_.teams.size()); }
  Work& work(TeamId team, DeviceId device) { return by_team_[team * org_.devices.size() + device]; }

  void count(const Workload& w) {
    const auto team = team_of(state_, w);
    const int64_t gpus = w.holding ? static_cast<int64_t>(w.devices.size())
                                   : tasks_of(w.job) * w.job.request.devices.total;
    if (gpus == 0) return;
    if (!team) count_unassigned(w, gpus);
    count_slips(w, gpus);
    if (w.holding) {
      for_each_held(state_, w, [&](DeviceId d, Milli amount) {
        Work& own = work(team.value_or(nobody()), d);
        ++own.running;
        own.used_milli += amount.value;
      });
    } else if (const auto d = device_asked(w.job)) {
      Work& own = work(team.value_or(nobody()), *d);
      own.waiting += tasks_of(w.job);
      own.waiting_milli += tasks_of(w.job) * milli_asked(w.job);
    } else {
      ++waiting_for_any_;
    }
  }
  // Many jobs ask for the same in the same partition, and a partition has many nodes.
  std::optional<DeviceId> device_asked(const Job& job) {
    const auto [at, is_new] =
        asked_.try_emplace(std::pair(job.request.devices.model, job.partition));
    if (is_new) at->second = device_class_of(state_, job);
    return at->second;
  }
  void count_unassigned(const Workload& w, int64_t gpus) {
    UnassignedRow& row = unassigned_[w.job.account];
    row.account = w.job.account;
    row.gpus += gpus;
    (w.holding ? row.running : row.waiting) += w.holding ? 1 : tasks_of(w.job);
  }
  void count_slips(const Workload& w, int64_t gpus) {
    for (const policy::Slip& slip : w.slips) {
      MisconfiguredRow& row = slips_[{slip.kind, slip.name}];
      if (row.workloads == 0)
        row = {.what = slip.kind,
               .name = slip.name,
               .nearest = slip.nearest,
               .first = w.job.label,
               .hint = told(slip)};
      ++row.workloads;
      row.gpus += gpus;
    }
  }
  bool is_shown(DeviceId d) {
    return quota_.limit(kRoot, d).value != 0 || org_.teams[kRoot].limits[d].own.value != 0 ||
           work(kRoot, d).running + work(kRoot, d).waiting != 0;
  }

  TeamDeviceRow row_of(TeamId t, DeviceId d) {
    const policy::Team& team = org_.teams[t];
    const policy::Limits& limits = quota_.limits(t, d);
    const policy::Window* window = open_window(team, state_.organisation->zones, state_.now);
    const Work& its = work(t, d);
    int64_t depth = 0;
    for (TeamId up = t; up != kRoot; up = org_.teams[up].parent) ++depth;
    const policy::Wide used = usages_.with_children[t * org_.devices.size() + d].at(state_.now);
    return {.team = team.path,
            .parent = t == kRoot ? "" : org_.teams[team.parent].path,
            .depth = depth,
            .device = org_.devices[d].name,
            .own_milli = limits.own.value,
            .lend_milli = bounded(limits.lend),
            .borrow_milli = bounded(limits.borrow),
            .limit_milli = bounded(quota_.limit(t, d)),
            .used_milli = quota_.used(t, d).value,
            .borrowed_milli = t == kRoot ? 0 : quota_.borrowed(t, d).value,
            .headroom_milli = quota_.headroom(t, d).value,
            .running = its.running,
            .waiting = its.waiting,
            .waiting_milli = its.waiting_milli,
            .weight = weight_at(team, state_.organisation->zones, state_.now),
            .usage_gpu_seconds = static_cast<int64_t>(used / (1000 * kMicrosPerSecond)),
            .share_ppm = share_ppm(t, d),
            .window = window == nullptr ? "" : to_text(*window),
            .budget = is_of_budget(team, d) ? policy::budget_text(org_, team) : "",
            .budget_used = is_used(t, d) ? budget_text(org_, t, *budgets_used_[t]) : "",
            .budget_used_ppm =
                is_used(t, d) ? std::optional(budgets_used_[t]->used_ppm) : std::nullopt};
  }

  policy::Wide usage_and_held(TeamId t, DeviceId d) const {
    return share_of(usages_.with_children[t * org_.devices.size() + d], quota_.used(t, d), 1,
                    state_.now)
        .usage;
  }
  int64_t share_ppm(TeamId t, DeviceId d) const {
    if (t == kRoot) return kMillion;
    const TeamId parent = org_.teams[t].parent;
    policy::Wide sum = 0;
    for (TeamId s = parent + 1; s < org_.teams[parent].end; s = org_.teams[s].end)
      sum += usage_and_held(s, d) >> kSpareBits;
    if (sum == 0) return 0;
    return static_cast<int64_t>((usage_and_held(t, d) >> kSpareBits) * kMillion / sum);
  }

  static bool is_of_budget(const policy::Team& team, DeviceId d) {
    return team.budget && (!team.budget->device_hours || team.budget->device_hours->device == d);
  }
  bool is_used(TeamId t, DeviceId d) const {
    return is_of_budget(org_.teams[t], d) && budgets_used_[t].has_value();
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    std::map<std::string, int64_t> in_no_class;
    for (const Device& device : state_.fleet.devices()) {
      const std::string& model = state_.names.name(device.model);
      if (device.present && !device_class_of(org_, model)) ++in_no_class[model];
    }
    for (const auto& [model, count] : in_no_class)
      notes.push_back(fmt::format("{} of model '{}' {} in no device class: name it in `devices`",
                                  plural(count, "GPU"), model.empty() ? "(none)" : model,
                                  count == 1 ? "is" : "are"));
    if (waiting_for_any_ > 0)
      notes.push_back(fmt::format("{} for GPUs of any class, and {} in no row",
                                  waiting_for_any_ == 1
                                      ? "1 workload waits"
                                      : fmt::format("{} workloads wait", waiting_for_any_),
                                  waiting_for_any_ == 1 ? "is" : "are"));
    return notes;
  }

  static constexpr int kSpareBits = 24;  // a usage has 128 bits, and a million of them must fit

  const State& state_;
  const policy::Organisation& org_;
  policy::Quota quota_;
  std::vector<std::optional<BudgetUse>> budgets_used_;  // by team
  policy::Usages usages_;
  std::vector<Work> by_team_;  // by team and device; nobody's last
  std::map<std::string, UnassignedRow> unassigned_;
  std::map<std::pair<policy::SlipKind, std::string>, MisconfiguredRow> slips_;
  std::map<std::pair<std::string, std::string>, std::optional<DeviceId>> asked_;
  int64_t waiting_for_any_ = 0;
};

}  // namespace

TeamList teams_of(const State& state) {
  if (state.organisation) return Builder(state).build();
  return {.site = state.site,
          .as_of = state.source(Source::scheduler).last_ok,
          .organisation = {},
          .version = {},
          .teams = {},
          .unassigned = {},
          .misconfigured = {},
          .notes = {"no organisation is known: state one with `organisation:` in fairlead.yaml, or "
                    "--org"}};
}

}  // namespace fairlead
