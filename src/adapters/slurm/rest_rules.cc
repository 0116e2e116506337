#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "adapters/slurm/rest_json.h"
#include "adapters/slurm/words.h"
#include "base/hostlist.h"

namespace fairlead::slurm {
namespace {

int32_t small(int64_t n) {
  return static_cast<int32_t>(std::clamp<int64_t>(n, -1, std::numeric_limits<int32_t>::max()));
}
int64_t seconds_of(int64_t minutes) {
  return minutes < 0 || minutes > 1'000'000'000'000 ? -1 : minutes * 60;
}

// The member along the first of two paths that is there: the one of v0.0.40 and later, and of
// v0.0.38.
int64_t number_at(Json from, const char* now, const char* old, int64_t none) {
  return number(from, member(from, now) ? now : old, none);
}
std::string text_at(Json from, const char* now, const char* old) {
  return text(from, member(from, now) ? now : old);
}

template <class T, class Make>
Parsed<T> each(Json document, const char* key, const char* name, Make make) {
  Parsed<T> out;
  simdjson::dom::array list;
  if (document[key].get_array().get(list) != simdjson::SUCCESS) return out;
  for (const Json item : list) {
    if (text(item, name).empty())
      ++out.unreadable;
    else
      out.records.push_back(make(item));
  }
  return out;
}

Partition partition_of(Json from) {
  Partition out{.name = text(from, "name")};
  out.state = text_at(from, "partition.state", "state");
  out.up = out.state == "UP" || out.state == "DRAIN";
  out.accepts = out.state == "UP" || out.state == "DOWN";
  out.nodes = expand_hostlist(text_at(from, "nodes.configured", "nodes"))
                  .value_or(std::vector<std::string>{});
  for (const std::string& word : words(from, "flags")) out.is_default |= word == "default";
  for (const std::string& word : words(from, "partition.flags"))
    out.is_default |= word == "DEFAULT";
  out.time_max_s = seconds_of(number_at(from, "maximums.time", "max_time_limit", -1));
  out.time_default_s = seconds_of(number_at(from, "defaults.time", "default_time_limit", -1));
  out.nodes_max = small(number_at(from, "maximums.nodes", "maximum_nodes_per_job", -1));
  out.nodes_min = std::max(small(number_at(from, "minimums.nodes", "min nodes per job", 0)), 0);
  out.cpus_per_node_max =
      small(number_at(from, "maximums.cpus_per_node", "maximum_cpus_per_node", -1));
  out.accounts_allowed = split_names(text_at(from, "accounts.allowed", "allowed_accounts"));
  out.accounts_denied = split_names(text_at(from, "accounts.deny", "denied_accounts"));
  out.qos_allowed = split_names(text_at(from, "qos.allowed", "allowed_qos"));
  out.qos_denied = split_names(text_at(from, "qos.deny", "denied_qos"));
  out.groups_allowed = split_names(text_at(from, "groups.allowed", "allowed_groups"));
  out.qos = member(from, "qos.assigned") ? text(from, "qos.assigned") : text(from, "qos");
  out.priority_tier = number_at(from, "priority.tier", "priority_tier", 1);
  out.priority_factor = number_at(from, "priority.job_factor", "priority_job_factor", 1);
  out.exclusive = number(from, "maximums.shares", 1) == 0;
  for (const std::string& word : words(from, "maximums.oversubscribe.flags"))
    out.exclusive |= word == "exclusive";
  return out;
}

Reservation reservation_of(Json from) {
  Reservation out{.name = text(from, "name"),
                  .start = instant(from, "start_time"),
                  .end = instant(from, "end_time")};
  out.nodes = expand_hostlist(text(from, "node_list")).value_or(std::vector<std::string>{});
  out.users = words(from, "users");
  out.accounts = words(from, "accounts");
  out.partition = text(from, "partition");
  out.licences = text(from, "licenses");
  out.tres = parse_tres(text(from, "tres"));
  out.flags = words(from, "flags");
  std::ranges::sort(out.flags);
  return out;
}

Qos qos_record(Json from) {
  Qos out{.name = text(from, "name"), .priority = number(from, "priority")};
  out.preempts = words(from, "preempt.list");
  std::ranges::sort(out.preempts);
  out.flags = words(from, "flags");
  std::ranges::sort(out.flags);
  out.limits.tres_group = amounts(from, "limits.max.tres.total");
  out.limits.tres_minutes_group = amounts(from, "limits.max.tres.minutes.per.qos");
  out.limits.tres_per_job = amounts(from, "limits.max.tres.per.job");
  out.limits.tres_per_node = amounts(from, "limits.max.tres.per.node");
  out.limits.tres_minutes_per_job = amounts(from, "limits.max.tres.minutes.per.job");
  out.limits.jobs_group = number(from, "limits.max.active_jobs.count", -1);
  out.limits.submit_group = number(from, "limits.max.jobs.count", -1);
  out.limits.wall_group_s = seconds_of(number(from, "limits.max.wall_clock.per.qos", -1));
  out.limits.wall_per_job_s = seconds_of(number(from, "limits.max.wall_clock.per.job", -1));
  out.tres_per_user = amounts(from, "limits.max.tres.per.user");
  out.tres_per_account = amounts(from, "limits.max.tres.per.account");
  out.tres_min_per_job = amounts(from, "limits.min.tres.per.job");
  out.jobs_per_user = number(from, "limits.max.jobs.active_jobs.per.user", -1);
  out.jobs_per_account = number(from, "limits.max.jobs.active_jobs.per.account", -1);
  out.submit_per_user = number(from, "limits.max.jobs.per.user", -1);
  out.submit_per_account = number(from, "limits.max.jobs.per.account", -1);
  return out;
}

Association association_record(Json from) {
  Association out{.account = text(from, "account"),
                  .user = text(from, "user"),
                  .partition = text(from, "partition")};
  out.id = association_id(out.account, out.user, out.partition);
  const std::string parent = text(from, "parent_account");
  if (!out.user.empty())
    out.parent = association_id(out.account, "", "");
  else if (!parent.empty())
    out.parent = association_id(parent, "", "");
  out.shares = number(from, "shares_raw", 1);
  if (out.shares == 0x7fffffff) out.shares = -1;  // as its parent's
  out.limits.tres_group = amounts(from, "max.tres.total");
  out.limits.tres_minutes_group = amounts(from, "max.tres.group.minutes");
  out.limits.tres_running_minutes_group = amounts(from, "max.tres.group.active");
  out.limits.tres_per_job = amounts(from, "max.tres.per.job");
  out.limits.tres_per_node = amounts(from, "max.tres.per.node");
  out.limits.tres_minutes_per_job = amounts(from, "max.tres.minutes.per.job");
  out.limits.jobs_group = number(from, "max.jobs.per.count", -1);
  out.limits.submit_group = number(from, "max.jobs.per.submitted", -1);
  out.limits.wall_group_s = seconds_of(number(from, "max.per.account.wall_clock", -1));
  out.limits.wall_per_job_s = seconds_of(number(from, "max.jobs.per.wall_clock", -1));
  out.limits.jobs_max = number(from, "max.jobs.active", -1);
  out.limits.submit_max = number(from, "max.jobs.total", -1);
  out.qos = words(from, "qos");
  std::ranges::sort(out.qos);
  out.qos_default = text(from, "default.qos");
  return out;
}

}  // namespace

Parsed<Partition> partitions_of(Json document) {
  return each<Partition>(document, "partitions", "name", partition_of);
}

Parsed<Reservation> reservations_of(Json document) {
  return each<Reservation>(document, "reservations", "name", reservation_of);
}

Parsed<Licence> licences_of(Json document) {
  return each<Licence>(document, "licenses", "LicenseName", [](Json item) {
    return Licence{.name = text(item, "LicenseName"),
                   .total = number(item, "Total"),
                   .used = number(item, "Used"),
                   .reserved = number(item, "Reserved")};
  });
}

Parsed<Qos> qos_of(Json document) {
  return each<Qos>(document, member(document, "qos") ? "qos" : "QOS", "name", qos_record);
}

Parsed<Association> associations_of(Json document) {
  return each<Association>(document, "associations", "account", association_record);
}

void add_shares(std::vector<Association>& associations, Json document) {
  std::map<int64_t, Association*> by_id;
  for (Association& association : associations) by_id[association.id] = &association;
  const auto found = member(document, "shares.shares");
  simdjson::dom::array list;
  if (!found || found->get_array().get(list) != simdjson::SUCCESS) return;
  for (const Json item : list) {
    const bool user = text(item, "type") == "USER";
    const std::string name = text(item, "name");
    const auto at =
        by_id.find(user ? association_id(text(item, "parent"), name, text(item, "partition"))
                        : association_id(name, "", ""));
    if (at == by_id.end()) continue;
    at->second->usage_raw = number(item, "usage");
    const auto factor = member(item, "fairshare.factor.number");
    double value = 0;
    if (user && factor && factor->get_double().get(value) == simdjson::SUCCESS &&
        std::isfinite(value)) {
      at->second->fairshare_ppm = std::llround(std::clamp(value, 0.0, 1e6) * 1e6);
    }
  }
}

Amounts statistics_of(Json document) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"jobs_pending", "jobs_pending"},
      {"jobs_running", "jobs_running"},
      {"agent_queue", "agent_queue_size"},
      {"server_threads", "server_thread_count"},
      {"cycle_us_last", "schedule_cycle_last"},
      {"cycle_us_max", "schedule_cycle_max"},
      {"queue_last", "schedule_queue_length"},
      {"backfill_cycle_us_last", "bf_cycle_last"},
      {"backfill_cycle_us_max", "bf_cycle_max"},
      {"backfill_depth_last", "bf_last_depth"},
      {"backfill_depth_try_last", "bf_last_depth_try"},
      {"backfill_queue_last", "bf_queue_len"}};
  Amounts out;
  const auto statistics = member(document, "statistics");
  for (const auto& [name, key] : kNames) {
    if (const int64_t n = statistics ? number(*statistics, key, -1) : -1; n >= 0) out[name] = n;
  }
  return out;
}

}  // namespace fairlead::slurm
