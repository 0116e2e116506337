// The slow way to every number that is kept up in steps.
#include <fmt/format.h>

#include "core/books.h"
#include "core/engine.h"

namespace fairlead {

Digest Engine::digest() const {
  Hasher hasher;
  for_each_part(state_, [&](const char* name, const auto& part) {
    hasher.add(std::string_view(name));
    fold(hasher, part);
  });
  return hasher.digest();
}

namespace {

std::string recount_devices(const State& s) {
  std::map<Account, int64_t> amounts;
  std::vector<int32_t> free(s.fleet.nodes().size(), 0);
  std::map<WorkloadId, size_t> held;
  for (DeviceIndex i = 0; i < s.fleet.devices().size(); ++i) {
    if (!s.fleet.device(i).present) continue;
    const DeviceBook& book = s.devices[i];
    if (book.account.column != column_of(s, i))
      return fmt::format("device {} is in another column than its facts", i);
    amounts[book.account] += kMilli;
    if (book.account.column == Column::free || book.account.column == Column::stranded)
      ++free[s.fleet.device(i).node];
    if (book.holder != 0) ++held[book.holder];
  }
  if (free != s.node_free) return "a node's count of free devices";
  for (const auto& [id, workload] : s.workloads) {
    if (workload.devices.size() != held[id])
      return fmt::format("devices of {}", workload.job.label);
    if (workload.holding != s.queues.holding().contains(id))
      return fmt::format("{} in the list of those that hold", workload.job.label);
    if ((workload.job.state == JobState::pending) !=
        s.queues.waiting().contains(Queues::place_of(workload))) {
      return fmt::format("{} in the list of those that wait", workload.job.label);
    }
    if (!workload.holding && !workload.devices.empty())
      return fmt::format("{} holds and does not run", workload.job.label);
  }
  if (s.unplaced_milli != 0) return "";  // held without a device: not in `amounts`
  const LedgerData& books = s.ledger.data();
  for (size_t i = 0; i < books.accounts.size(); ++i) {
    if (amounts[books.accounts[i]] != books.running[i].amount)
      return fmt::format("amount of account {}", i);
  }
  return "";
}

// Usage can be derived: what runs have used is what the ledger holds for them.
std::string recount_use(const State& s) {
  int64_t of_runs = 0;
  for (const auto& [id, workload] : s.workloads) of_runs += use_of(s, workload).held();
  for (const PastWorkload& past : s.past) of_runs += past.milli_seconds.held();
  int64_t of_ledger = 0;
  s.ledger.for_each(0, floor_seconds(s.now), [&](const Account& account, int64_t, int64_t ms) {
    if (is_held(account.column) || account.column == Column::lost) of_ledger += ms;
  });
  if (s.past_dropped != 0 || s.ledger.data().hours.size() >= kLedgerHoursMax) return "";
  return of_runs == of_ledger
             ? ""
             : fmt::format("use of runs {} and of the ledger {}", of_runs, of_ledger);
}

// What is taken from an account it had, whatever its team is called by then: below zero, seconds of
// a device are in two columns.
std::string recount_rows(const State& s) {
  std::string problem;
  s.ledger.for_each(0, floor_seconds(s.now), [&](const Account& account, int64_t hour, int64_t ms) {
    if (ms < 0 && problem.empty())
      problem =
          fmt::format("{} of team {} is below zero in the hour at {}", enum_name(account.column),
                      s.names.name(account.team), to_rfc3339(instant_of_seconds(hour)));
  });
  return problem;
}

}  // namespace

std::string Engine::recount() const {
  if (const int64_t hour = state_.ledger.first_unbalanced_hour(); hour != 0) {
    return fmt::format("rows of the hour at {}", to_rfc3339(instant_of_seconds(hour)));
  }
  if (std::string wrong = recount_devices(state_); !wrong.empty()) return wrong;
  if (std::string wrong = recount_rows(state_); !wrong.empty()) return wrong;
  if (std::string wrong = recount_use(state_); !wrong.empty()) return wrong;
  return allocator_.recount(state_);
}

}  // namespace fairlead
