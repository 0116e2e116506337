// What the partitions refuse that a job may go to.
#include <fmt/format.h>

#include <algorithm>

#include "explain/holders.h"
#include "explain/policy_rules.h"

namespace fairlead {
namespace {

using enum BlockerCode;

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

// The partition that the job may go to and that refuses it least: a job that names several is
// blocked only by what blocks it in all of them.
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
    out.push_back({.code = PARTITION_NODE_LIMIT,
                   .object = object,
                   .limit_name = many ? "MaxNodes" : "MinNodes",
                   .unit = "nodes",
                   .limit = bound,
                   .wanted = nodes,
                   .short_by = std::abs(nodes - bound),
                   .message = fmt::format("{} nodes, and partition {} takes {} {}", nodes, p.name,
                                          many ? "at most" : "at least", bound),
                   .waiting_cures = WaitingCures::never,
                   .cure = fmt::format("{} nodes", bound)});
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

}  // namespace

void PolicyRules::partition(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  std::optional<std::vector<Blocker>> best;
  std::string_view rest = w.job.partition;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const auto it = e.state_.partitions.find(std::string(rest.substr(0, comma)));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (it == e.state_.partitions.end()) continue;
    std::vector<Blocker> found;
    partition_blockers(it->second, w.job, found);
    if (!best || found.size() < best->size()) best = std::move(found);
  }
  if (best) out.insert(out.end(), best->begin(), best->end());
}

}  // namespace fairlead
