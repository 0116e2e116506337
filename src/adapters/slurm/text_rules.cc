#include "adapters/slurm/text_rules.h"

#include <algorithm>
#include <limits>
#include <map>

#include "adapters/slurm/text.h"
#include "adapters/slurm/words.h"
#include "base/hostlist.h"

namespace fairlead::slurm {
namespace {

std::vector<std::string> hosts(std::string_view text) {
  return expand_hostlist(text).value_or(std::vector<std::string>{});
}

// "ALL" is no list.
std::vector<std::string> names_unless_all(std::string_view text) {
  return text == "ALL" ? std::vector<std::string>{} : split_names(text);
}

int32_t small(std::string_view text, int32_t none) {
  const auto n = parse_whole(text);
  return n && *n >= 0
             ? static_cast<int32_t>(std::min<int64_t>(*n, std::numeric_limits<int32_t>::max()))
             : none;
}

Partition partition_of(const TextRecord& record) {
  Partition out{.name = std::string(record.get("PartitionName"))};
  out.state = record.get("State");
  out.up = out.state == "UP" || out.state == "DRAIN";
  out.accepts = out.state == "UP" || out.state == "DOWN";
  out.nodes = hosts(record.get("Nodes"));
  out.is_default = record.get("Default") == "YES";
  out.time_max_s = parse_span_s(record.get("MaxTime")).value_or(-1);
  out.time_default_s = parse_span_s(record.get("DefaultTime")).value_or(-1);
  out.nodes_max = small(record.get("MaxNodes"), -1);
  out.nodes_min = small(record.get("MinNodes"), 0);
  out.cpus_per_node_max = small(record.get("MaxCPUsPerNode"), -1);
  out.accounts_allowed = names_unless_all(record.get("AllowAccounts"));
  out.accounts_denied = split_names(record.get("DenyAccounts"));
  out.qos_allowed = names_unless_all(record.get("AllowQos"));
  out.qos_denied = split_names(record.get("DenyQos"));
  out.groups_allowed = names_unless_all(record.get("AllowGroups"));
  out.qos = record.get("QoS");
  out.priority_tier = parse_whole(record.get("PriorityTier")).value_or(1);
  out.priority_factor = parse_whole(record.get("PriorityJobFactor")).value_or(1);
  out.exclusive = record.get("OverSubscribe") == "EXCLUSIVE" || record.get("Exclusive") == "NODE";
  out.reservation_required = record.get("ReqResv") == "YES";
  return out;
}

Reservation reservation_of(const TextRecord& record) {
  Reservation out{.name = std::string(record.get("ReservationName")),
                  .start = parse_time(record.get("StartTime")),
                  .end = parse_time(record.get("EndTime"))};
  out.nodes = hosts(record.get("Nodes"));
  out.users = split_names(record.get("Users"));
  out.accounts = split_names(record.get("Accounts"));
  out.partition = record.get("PartitionName");
  out.licences = record.get("Licenses");
  out.tres = parse_tres(record.get("TRES"));
  out.flags = split_names(record.get("Flags"));
  std::ranges::sort(out.flags);
  return out;
}

template <class T, class Make>
Parsed<T> parse_all(std::string_view text, std::string_view first_key, std::string_view needed,
                    Make make) {
  Parsed<T> out;
  for (const TextRecord& record : parse_records(text, first_key)) {
    if (record.doubtful() || !record.has(needed))
      ++out.unreadable;
    else
      out.records.push_back(make(record));
  }
  return out;
}

}  // namespace

Parsed<Partition> parse_partitions(std::string_view text) {
  return parse_all<Partition>(text, "PartitionName", "State", partition_of);
}

Parsed<Reservation> parse_reservations(std::string_view text) {
  return parse_all<Reservation>(text, "ReservationName", "Flags", reservation_of);
}

Parsed<Licence> parse_licences(std::string_view text) {
  return parse_all<Licence>(text, "LicenseName", "Total", [](const TextRecord& record) {
    return Licence{.name = std::string(record.get("LicenseName")),
                   .total = parse_whole(record.get("Total")).value_or(0),
                   .used = parse_whole(record.get("Used")).value_or(0),
                   .reserved = parse_whole(record.get("Reserved")).value_or(0)};
  });
}

Topology parse_topology(std::string_view text) {
  Topology out;
  for (const std::string_view line : split(text, '\n')) {
    Switch at;
    for (const auto& [key, value] : parse_fields(line)) {
      if (key == "SwitchName" || key == "BlockName")
        at.name = value;
      else if (key == "AggregatedBlock")
        at = {.name = std::string(value), .level = 1, .switches = hosts(value)};
      else if (key == "Level")
        at.level = small(value, 0);
      else if (key == "Nodes")
        at.nodes = hosts(or_empty(value));
      else if (key == "Switches")
        at.switches = hosts(or_empty(value));
    }
    if (!at.name.empty()) out.switches.push_back(std::move(at));
  }
  return out;
}

std::optional<ConfigText> parse_config(std::string_view text) {
  std::map<std::string_view, std::string_view> values;  // "Key                     = value"
  for (const std::string_view line : split(text, '\n')) {
    const size_t equals = line.find(" = ");
    if (equals != std::string_view::npos)
      values.try_emplace(trim(line.substr(0, equals)), or_empty(trim(line.substr(equals + 3))));
    else if (line.ends_with(" ="))
      values.try_emplace(trim(line.substr(0, line.size() - 2)), std::string_view{});
  }
  if (!values.contains("ClusterName") || !values.contains("BOOT_TIME")) return std::nullopt;
  ConfigText out;
  Scheduler& s = out.scheduler;
  s.cluster = values["ClusterName"];
  s.release = values["SLURM_VERSION"];
  for (const std::string& word : split_names(values["AccountingStorageEnforce"])) {
    s.enforces_associations |= word == "associations";
    s.enforces_limits |= word == "limits";
    s.enforces_qos |= word == "qos";
    s.enforces_safe |= word == "safe";
  }
  s.usage_half_life_s = parse_span_s(values["PriorityDecayHalfLife"]).value_or(0);
  s.booted = parse_time(values["BOOT_TIME"]);
  constexpr std::pair<const char*, const char*> kWeights[] = {
      {"age", "PriorityWeightAge"},
      {"assoc", "PriorityWeightAssoc"},
      {"fairshare", "PriorityWeightFairShare"},
      {"job_size", "PriorityWeightJobSize"},
      {"partition", "PriorityWeightPartition"},
      {"qos", "PriorityWeightQOS"}};
  for (const auto& [name, key] : kWeights)
    s.priority_weights[name] = parse_whole(values[key]).value_or(0);
  for (const auto& [name, weight] : parse_tres(values["PriorityWeightTRES"]))
    s.priority_weights[name] = weight;
  s.parameters = values["SchedulerParameters"];
  out.start_mark = values["BOOT_TIME"];
  return out;
}

Amounts parse_statistics(std::string_view text) {
  constexpr struct {
    std::string_view section, line;
    const char* name;
  } kLines[] = {{"", "Jobs pending", "jobs_pending"},
                {"", "Jobs running", "jobs_running"},
                {"", "Agent queue size", "agent_queue"},
                {"", "Server thread count", "server_threads"},
                {"Main schedule", "Last cycle", "cycle_us_last"},
                {"Main schedule", "Max cycle", "cycle_us_max"},
                {"Main schedule", "Last queue length", "queue_last"},
                {"Backfilling", "Last cycle", "backfill_cycle_us_last"},
                {"Backfilling", "Max cycle", "backfill_cycle_us_max"},
                {"Backfilling", "Last depth cycle", "backfill_depth_last"},
                {"Backfilling", "Last depth cycle (try sched)", "backfill_depth_try_last"},
                {"Backfilling", "Last queue length", "backfill_queue_last"}};
  Amounts out;
  std::string_view section;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("Main schedule") || line.starts_with("Backfilling") ||
        line.starts_with("Remote Procedure"))
      section = line;
    const size_t colon = line.find(": ");
    const size_t bare = colon == std::string_view::npos ? line.find(':') : colon;
    if (bare == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, bare));
    for (const auto& known : kLines) {
      if (known.line != key ||
          !(known.section.empty() ? section.empty() : section.starts_with(known.section)))
        continue;
      if (const auto n = parse_whole(trim(line.substr(bare + 1)))) out[known.name] = *n;
    }
  }
  return out;
}

}  // namespace fairlead::slurm
