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

std::optional<int64_t> budget_used_ppm(const State& state, policy::TeamId t) {
  constexpr int64_t kMillion = 1'000'000;
  const policy::Organisation& org = state.organisation->rules();
  if (!is_followed(org.teams[t])) return std::nullopt;
  const policy::Budget& budget = *org.teams[t].budget;
  const int64_t now = floor_seconds(state.now);
  const int64_t from = now - std::min(now, whole_seconds(budget.per));
  std::map<NameId, bool> is_its, is_device;
  int64_t milli_seconds = 0;
  state.ledger.for_each(from, now, [&](const Account& a, int64_t, int64_t amount) {
    if (!is_held(a.column) && a.column != Column::lost) return;
    const auto [device, new_device] = is_device.try_emplace(a.model);
    if (new_device)
      device->second =
          device_class_of(org, state.names.name(a.model)) == budget.device_hours->device;
    const auto [its, new_team] = is_its.try_emplace(a.team);
    if (new_team) {
      const auto team = org.team(state.names.name(a.team));
      its->second = team && org.is_below(*team, t);
    }
    if (device->second && its->second) milli_seconds += amount;
  });
  const auto used = static_cast<__int128>(milli_seconds) * kMillion;
  return static_cast<int64_t>(
      used / (static_cast<__int128>(budget.device_hours->milli.value) * kLedgerHour));
}

std::vector<policy::BudgetState> budgets_of(const State& state) {
  const policy::Organisation& org = state.organisation->rules();
  std::vector<policy::BudgetState> states;
  for (policy::TeamId t = 0; t < org.teams.size(); ++t) {
    const auto used = budget_used_ppm(state, t);
    if (!used || *used < 1'000'000) continue;
    states.resize(org.teams.size(), policy::BudgetState::within);
    states[t] =
        org.teams[t].budget->hard ? policy::BudgetState::hard_over : policy::BudgetState::soft_over;
  }
  return states;
}

}  // namespace fairlead
