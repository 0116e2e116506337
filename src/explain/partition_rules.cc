// What the partitions refuse that a job may go to.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "explain/holders.h"
#include "explain/policy_rules.h"

namespace fairlead {
namespace {

using enum BlockerCode;

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

void partition_blockers(const Partition& p, const Job& job, std::vector<Blocker>& out) {
  const std::string object = "partition " + p.name;
  const int64_t limit = job.request.time_limit_s;
  if (!p.up) {
    out.push_back({.code = PARTITION_DOWN,
                   .object = object,
                   .message = fmt::format("partition {} is {}", p.name, p.state),
                   .cure = "another partition, or an administrator brings it up"});
  }
  if (p.time_max_s >= 0 && (limit < 0 || limit > p.time_max_s)) {
    out.push_back({.code = PARTITION_TIME_LIMIT,
                   .object = object,
                   .limit_name = "MaxTime",
                   .unit = "s",
                   .limit = p.time_max_s,
                   .wanted = limit,
                   .short_by = limit < 0 ? 0 : limit - p.time_max_s,
                   .message = fmt::format("time limit {} is above the {} of partition {}",
                                          limit < 0 ? "none" : to_short_text(seconds(limit)),
                                          to_short_text(seconds(p.time_max_s)), p.name),
                   .waiting_cures = WaitingCures::never,
                   .cure = fmt::format("time limit {}", to_short_text(seconds(p.time_max_s)))});
  }
  const int32_t nodes = job.request.nodes_min;
  const bool many = p.nodes_max >= 0 && nodes > p.nodes_max;
  if (many || nodes < p.nodes_min) {
    const int64_t bound = many ? p.nodes_max : p.nodes_min;
    out.push_back(
        {.code = PARTITION_NODE_LIMIT,
         .object = object,
         .limit_name = many ? "MaxNodes" : "MinNodes",
         .unit = "nodes",
         .limit = bound,
         .wanted = nodes,
         .short_by = std::abs(nodes - bound),
         .message = fmt::format("{}, and partition {} takes {} {}", count_text(nodes, "nodes"),
                                p.name, many ? "at most" : "at least", bound),
         .waiting_cures = WaitingCures::never,
         .cure = count_text(bound, "nodes")});
  }
  const bool account = (p.accounts_allowed.empty() || contains(p.accounts_allowed, job.account)) &&
                       !contains(p.accounts_denied, job.account);
  const bool qos = (p.qos_allowed.empty() || contains(p.qos_allowed, job.qos)) &&
                   !contains(p.qos_denied, job.qos);
  if (!account || !qos) {
    out.push_back(
        {.code = PARTITION_ACCESS,
         .object = object,
         .limit_name = account ? "AllowQos" : "AllowAccounts",
         .message = fmt::format("partition {} is not for {} {}", p.name,
                                account ? "class" : "account", account ? job.qos : job.account),
         .waiting_cures = WaitingCures::never,
         .cure = "another partition"});
  }
  if (p.reservation_required && job.reservation.empty()) {
    out.push_back({.code = PARTITION_ACCESS,
                   .object = object,
                   .limit_name = "ReqResv",
                   .message = fmt::format("partition {} takes only jobs of a reservation", p.name),
                   .waiting_cures = WaitingCures::never,
                   .cure = "name a reservation"});
  }
}

struct Refusal {
  std::string partition;
  std::vector<Blocker> blockers;

  bool is_final() const {
    return std::ranges::find(blockers, WaitingCures::never, &Blocker::waiting_cures) !=
           blockers.end();
  }
};

std::vector<Refusal> refusals_of(const State& state, const Job& job) {
  std::vector<Refusal> refusals;
  for_each_name(job.partition, [&](const std::string& name) {
    const auto it = state.partitions.find(name);
    if (it == state.partitions.end()) return;
    Refusal refusal{.partition = name, .blockers = {}};
    partition_blockers(it->second, job, refusal.blockers);
    refusals.push_back(std::move(refusal));
  });
  return refusals;
}

// Of them those that may still take the job.
std::string open_of(const std::vector<Refusal>& refusals) {
  std::string open;
  for (const Refusal& r : refusals) {
    if (!r.is_final()) open += (open.empty() ? "" : ",") + r.partition;
  }
  return open;
}

// What one partition refuses ends nothing while others may still take the job.
void soften(std::vector<Blocker>& blockers, const std::string& others) {
  for (Blocker& b : blockers) {
    b.message += fmt::format("; it may still go to {}", others);
    if (b.waiting_cures == WaitingCures::never) b.waiting_cures = WaitingCures::unknown;
  }
}

}  // namespace

std::string PolicyRules::open_partitions(const State& state, const Job& job) {
  const std::string open = open_of(refusals_of(state, job));
  return open.empty() ? job.partition : open;
}

// The partition that refuses the job least is told, and of the others what the scheduler names.
void PolicyRules::partition(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  std::vector<Refusal> refusals = refusals_of(e.state_, w.job);
  if (refusals.empty()) return;
  const std::string open = open_of(refusals);
  const auto least = std::ranges::min_element(
      refusals, {}, [](const Refusal& r) { return std::pair(r.is_final(), r.blockers.size()); });
  for (auto it = refusals.begin(); it != refusals.end(); ++it) {
    if (it != least) {
      std::erase_if(it->blockers,
                    [&](const Blocker& b) { return !scheduler_means(w.job.reason, b.code); });
      if (!open.empty()) soften(it->blockers, open);
    }
    out.insert(out.end(), it->blockers.begin(), it->blockers.end());
  }
}

}  // namespace fairlead
