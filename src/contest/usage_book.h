// What teams have used, with half-lives, kept up as they take and give back devices.
//
// Between two settlements the integral of what is held is summed up, and charged as its mean over
// the time between; so a change costs nothing and a settlement O(teams * depth).
#pragma once

#include "contest/match.h"
#include "policy/order.h"

namespace fairlead::contest {

class UsageBook {
 public:
  UsageBook(const policy::Organisation& organisation, int64_t now);

  void change(TeamId team, DeviceId device, int64_t devices, int64_t now);
  void settle(int64_t now);  // at most once in kSettleEvery

  const policy::Usages& usages() const { return usages_; }

 private:
  struct Held {
    int64_t devices = 0, since = 0;
    int64_t sum = 0;  // device-seconds since the last settlement
  };
  const policy::Organisation& organisation_;
  std::vector<Held> held_;  // by team, then by device
  policy::Usages usages_;
  int64_t settled_ = 0;
};

constexpr int64_t kSettleEvery = 300;  // chosen: seconds; as often as Slurm does by default

}  // namespace fairlead::contest
