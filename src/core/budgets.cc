#include "core/budgets.h"

#include <algorithm>
#include <map>

#include "core/team_books.h"

namespace fairlead {
namespace {

bool is_followed(const policy::Team& team) {
  return team.budget && team.budget->device_hours && team.budget->device_hours->milli.value > 0;
}

}  // namespace

std::vector<std::optional<int64_t>> budgets_used_ppm(const State& state) {
  constexpr int64_t kMillion = 1'000'000;
  const policy::Organisation& org = state.organisation->rules();
  std::vector<std::optional<int64_t>> used(org.teams.size());
  struct Sum {
    policy::TeamId team = 0;
    int64_t from = 0;  // as the ledger cuts it: to the hour
    __int128 milli_seconds = 0;
  };
  std::vector<Sum> sums;
  const int64_t now = floor_seconds(state.now);
  int64_t first = now;
  for (policy::TeamId t = 0; t < org.teams.size(); ++t) {
    if (!is_followed(org.teams[t])) continue;
    const int64_t from = now - std::min(now, whole_seconds(org.teams[t].budget->per));
    sums.push_back({.team = t, .from = from});
    first = std::min(first, from);
  }
  if (sums.empty()) return used;
  struct Model {
    std::optional<policy::DeviceId> device;
    int64_t each = 0;  // thousandths of a device
  };
  std::map<NameId, Model> models;
  std::map<NameId, policy::TeamId> teams;
  state.ledger.for_each(first, now, [&](const Account& a, int64_t hour, int64_t amount) {
    if (!is_held(a.column) && a.column != Column::lost) return;
    const auto [model, new_model] = models.try_emplace(a.model);
    if (new_model) {
      const std::string& name = state.names.name(a.model);
      model->second = {device_class_of(org, name), amount_of(name, 1).value};
    }
    if (!model->second.device) return;
    const auto [team, new_team] = teams.try_emplace(a.team, policy::kRoot);
    if (new_team) team->second = org.team(state.names.name(a.team)).value_or(policy::kRoot);
    for (Sum& sum : sums) {
      const policy::Budget& budget = *org.teams[sum.team].budget;
      const bool counts = hour >= sum.from &&
                          budget.device_hours->device == *model->second.device &&
                          org.is_below(team->second, sum.team);
      if (counts) sum.milli_seconds += static_cast<__int128>(amount) * model->second.each / 1000;
    }
  });
  for (const Sum& sum : sums) {
    const int64_t budget = org.teams[sum.team].budget->device_hours->milli.value;
    used[sum.team] = static_cast<int64_t>(sum.milli_seconds * kMillion /
                                          (static_cast<__int128>(budget) * kLedgerHour));
  }
  return used;
}

std::vector<policy::BudgetState> budgets_of(const State& state) {
  const policy::Organisation& org = state.organisation->rules();
  std::vector<policy::BudgetState> states;
  const std::vector<std::optional<int64_t>> used = budgets_used_ppm(state);
  for (policy::TeamId t = 0; t < org.teams.size(); ++t) {
    if (!used[t] || *used[t] < 1'000'000) continue;
    states.resize(org.teams.size(), policy::BudgetState::within);
    states[t] =
        org.teams[t].budget->hard ? policy::BudgetState::hard_over : policy::BudgetState::soft_over;
  }
  return states;
}

}  // namespace fairlead
