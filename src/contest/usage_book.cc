#include "contest/usage_book.h"

namespace fairlead::contest {

using policy::FadingUsage;

UsageBook::UsageBook(const policy::Organisation& organisation, int64_t now)
    : organisation_(organisation), settled_(now) {
  const auto& teams = organisation.teams;
  for (const policy::Team& team : teams) {
    for (size_t d = 0; d < organisation.devices.size(); ++d) {
      usages_.with_children.emplace_back(teams[team.parent].half_life);
      usages_.direct.emplace_back(team.half_life);
      held_.push_back({.since = now});
    }
  }
}

void UsageBook::change(TeamId team, DeviceId device, int64_t devices, int64_t now) {
  Held& held = held_[team * organisation_.devices.size() + device];
  held.sum += held.devices * (now - held.since);
  held.since = now;
  held.devices += devices;
}

void UsageBook::settle(int64_t now) {
  const int64_t span = now - settled_;
  if (span < kSettleEvery) return;
  const size_t devices = organisation_.devices.size();
  const Instant from = instant_of_seconds(settled_), until = instant_of_seconds(now);
  for (TeamId team = 0; team < organisation_.teams.size(); ++team) {
    for (DeviceId d = 0; d < devices; ++d) {
      change(team, d, 0, now);
      Held& held = held_[team * devices + d];
      const policy::Milli mean{held.sum * 1000 / span};
      held.sum = 0;
      if (mean.value == 0) continue;
      usages_.direct[team * devices + d].charge(mean, from, until);
      for (TeamId t = team;; t = organisation_.teams[t].parent) {
        usages_.with_children[t * devices + d].charge(mean, from, until);
        if (t == policy::kRoot) break;
      }
    }
  }
  settled_ = now;
}

}  // namespace fairlead::contest
