#include "views/entitlement.h"

#include "core/team_books.h"

namespace fairlead {

void add_entitlement(const State& state, std::vector<TeamRow>& teams) {
  if (!state.organisation) return;
  const policy::Organisation& org = state.organisation->rules();
  const policy::Quota quota = quota_of(state);
  for (TeamRow& row : teams) {
    const auto team = org.team(row.team);
    if (!team) continue;
    policy::Milli held, own;
    for (policy::DeviceId d = 0; d < org.devices.size(); ++d) {
      held = held + quota.used(*team, d);
      own = own + quota.limits(*team, d).own;
    }
    row.held_gpus = held.value / 1000;
    row.own_gpus = own.value / 1000;
  }
}

}  // namespace fairlead
