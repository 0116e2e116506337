// The organisation's arithmetic on the live state: who holds how much of what, and has used how
// much of late.
//
// Devices are counted by the class of the organisation that their model is in; what is in none
// counts for nobody and is told. What nobody's team holds is charged to the root, so that nobody is
// promised it. Limits are those that hold at `state.now`.
//
// Requires, of all: an organisation is known. Cost: O(devices + workloads that hold); usage O(rows
// of the ledger in ten half-lives), of the open hour alone where the closed ones are as they were.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/belonging.h"
#include "policy/order.h"

namespace fairlead {

// The class of devices that the scheduler's word for a model means: by the name of one of its
// models or its own, else by these without regard to case, else the only one whose name or model
// the word begins with ("h100_80gb_hbm3", "nvidia_a100"). A MIG instance is of the class of its
// device. An empty word, or an instance that does not name its device, is the only class there is.
std::optional<policy::DeviceId> device_class_of(const policy::Organisation& organisation,
                                                std::string_view model);

// What so many devices of this model count as. A MIG instance counts as the part of its device that
// nobody else can use then, of its compute or its memory: 1g.10gb of an H100 is 0.143.
policy::Milli amount_of(std::string_view model, int64_t devices);

// The class that a job asks for: by its word, else by what the nodes of its partitions have, where
// that is one class.
std::optional<policy::DeviceId> device_class_of(const State& state, const Job& job);

// By DeviceId: devices of the fleet that may be used.
std::vector<policy::Milli> capacity_of(const State& state);

// Calls f(device, amount) for each class of which the workload holds some.
void for_each_held(const State& state, const Workload& workload,
                   const std::function<void(policy::DeviceId, policy::Milli)>& f);

policy::Quota quota_of(const State& state);

// What a sum over closed hours of the ledger was made of: the same gives the same sum.
struct ClosedHours {
  std::shared_ptr<const KnownOrganisation> organisation;
  uint64_t changes = 0;
  std::vector<int64_t> firsts;  // the first closed hour of each sum
  bool operator==(const ClosedHours&) const = default;
};
// Of sums from these seconds on.
ClosedHours closed_hours(const State& state, const std::vector<int64_t>& from);

// Faded, to the hour: a row of the ledger counts as if its hour had seen it evenly. Keeps what was
// used in hours that are over.
class UsagesSoFar {
 public:
  const policy::Usages& until_now(const State& state);

 private:
  std::optional<ClosedHours> made_of_;
  policy::Usages closed_, now_;
};
policy::Usages usages_of(const State& state);

}  // namespace fairlead
