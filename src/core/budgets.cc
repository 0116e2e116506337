#include "core/budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/team_books.h"
#include "lang/units.h"
#include "policy/team_view.h"

namespace fairlead {
namespace {

bool is_followed(const policy::Organisation& org, const policy::Team& team) {
  if (!team.budget) return false;
  if (team.budget->device_hours) return team.budget->device_hours->milli.value > 0;
  return team.budget->micro_dollars.value_or(0) > 0 &&
         std::ranges::any_of(org.devices, [](const auto& d) { return d.price.has_value(); });
}

// What an hour of one device counts for: thousandths of an hour of it, or micro-dollars.
int64_t worth_of_hour(const policy::Organisation& org, const policy::Budget& budget,
                      policy::DeviceId device) {
  if (budget.micro_dollars) return org.devices[device].price.value_or(0);
  return budget.device_hours->device == device ? 1000 : 0;
}
int64_t allowed_by(const policy::Budget& budget) {
  return budget.micro_dollars ? *budget.micro_dollars : budget.device_hours->milli.value;
}

}  // namespace

std::vector<std::optional<BudgetUse>> BudgetsSoFar::used(const State& state) {
  const policy::Organisation& org = state.organisation->rules();
  std::vector<std::optional<BudgetUse>> used(org.teams.size());
  std::vector<policy::TeamId> followed;
  std::vector<int64_t> from;  // as the ledger cuts it: to the hour
  const int64_t now = floor_seconds(state.now);
  for (policy::TeamId t = 0; t < org.teams.size(); ++t) {
    if (!is_followed(org, org.teams[t])) continue;
    followed.push_back(t);
    from.push_back(now - std::min(now, whole_seconds(org.teams[t].budget->per)));
  }
  if (followed.empty()) return used;
  struct Model {
    std::optional<policy::DeviceId> device;
    int64_t each = 0;  // thousandths of a device
  };
  std::map<NameId, Model> models;
  std::map<NameId, policy::TeamId> teams;
  // `worth`: of budgets, times the milli-seconds of an hour
  const auto add = [&](std::vector<__int128>& worth, int64_t begin, int64_t end) {
    state.ledger.for_each(begin, end, [&](const Account& a, int64_t hour, int64_t amount) {
      if (!is_held(a.column) && a.column != Column::lost) return;
      const auto [model, new_model] = models.try_emplace(a.model);
      if (new_model) {
        const std::string& name = state.names.name(a.model);
        model->second = {device_class_of(org, name), amount_of(name, 1).value};
      }
      if (!model->second.device) return;
      const auto [team, new_team] = teams.try_emplace(a.team, policy::kRoot);
      if (new_team) team->second = org.team(state.names.name(a.team)).value_or(policy::kRoot);
      for (size_t i = 0; i < followed.size(); ++i) {
        if (hour < from[i] || !org.is_below(team->second, followed[i])) continue;
        const int64_t each_hour =
            worth_of_hour(org, *org.teams[followed[i]].budget, *model->second.device);
        worth[i] += static_cast<__int128>(amount) * model->second.each / 1000 * each_hour;
      }
    });
  };
  const int64_t open = state.ledger.data().hour, first = std::ranges::min(from);
  if (ClosedHours made = closed_hours(state, from); made_of_ != made) {
    made_of_ = std::move(made);
    closed_.assign(followed.size(), 0);
    add(closed_, first, std::min(open, now));
  }
  std::vector<__int128> worth = closed_;
  add(worth, std::max(first, open), now);
  for (size_t i = 0; i < followed.size(); ++i) {
    constexpr int64_t kMillion = 1'000'000, kMilliSeconds = kLedgerHour * 1000;
    const int64_t allowed = allowed_by(*org.teams[followed[i]].budget);
    const __int128 whole = worth[i] / kMilliSeconds;
    const auto bounded = [](__int128 n) {
      return static_cast<int64_t>(std::min<__int128>(n, std::numeric_limits<int64_t>::max()));
    };
    used[followed[i]] = {.used = bounded(whole), .used_ppm = bounded(whole * kMillion / allowed)};
  }
  return used;
}

std::vector<policy::BudgetState> BudgetsSoFar::until_now(const State& state) {
  const policy::Organisation& org = state.organisation->rules();
  std::vector<policy::BudgetState> states;
  const std::vector<std::optional<BudgetUse>> of = used(state);
  for (policy::TeamId t = 0; t < org.teams.size(); ++t) {
    if (!of[t] || of[t]->used_ppm < 1'000'000) continue;
    states.resize(org.teams.size(), policy::BudgetState::within);
    states[t] =
        org.teams[t].budget->hard ? policy::BudgetState::hard_over : policy::BudgetState::soft_over;
  }
  return states;
}

std::vector<std::optional<BudgetUse>> budgets_used(const State& state) {
  return BudgetsSoFar().used(state);
}

std::vector<policy::BudgetState> budgets_of(const State& state) {
  return BudgetsSoFar().until_now(state);
}

std::string budget_text(const policy::Organisation& org, policy::TeamId team,
                        const BudgetUse& use) {
  const std::string used = org.teams[team].budget->micro_dollars
                               ? lang::money_literal(use.used / 10'000 * 10'000)  // whole cents
                               : to_text(policy::Milli{use.used / 1000 * 1000});
  return fmt::format("{} of {}", used, policy::budget_text(org, org.teams[team]));
}

}  // namespace fairlead
