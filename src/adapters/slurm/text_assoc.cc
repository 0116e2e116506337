#include "adapters/slurm/text_assoc.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "adapters/slurm/text.h"
#include "adapters/slurm/words.h"

namespace fairlead::slurm {
namespace {

using Fields = std::map<std::string_view, std::string_view>;

std::string_view at(const Fields& fields, std::string_view key) {
  const auto found = fields.find(key);
  return found == fields.end() ? std::string_view{} : found->second;
}

// "64(8)" -> 64; "N(8)" and "" -> nothing.
std::optional<int64_t> limit_of(std::string_view text, char unit) {
  return parse_amount(text.substr(0, text.find('(')), unit);
}
int64_t limit(const Fields& fields, std::string_view key) {
  return limit_of(at(fields, key), 0).value_or(-1);
}
int64_t limit_s(const Fields& fields, std::string_view key) {  // in minutes
  const int64_t minutes = limit(fields, key);
  return minutes < 0 || minutes > 1'000'000'000'000 ? -1 : minutes * 60;
}

// "cpu=N(66),mem=1000(5),gres/gpu=64(8)": what is limited.
Amounts limits(const Fields& fields, std::string_view key) {
  Amounts out;
  for (const std::string_view item : split(at(fields, key), ',')) {
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = item.substr(0, equals);
    if (const auto n = limit_of(item.substr(equals + 1), name == "mem" ? 'M' : '\0'))
      out[std::string(name)] = *n;
  }
  return out;
}

// "gres/gpu=64(8)" -> 8, of what is limited; "N(8)" is not.
Amounts used_of(const Fields& fields, std::string_view key, const Amounts& limited) {
  Amounts out;
  for (const std::string_view item : split(at(fields, key), ',')) {
    const size_t equals = item.find('='), open = item.find('(');
    if (equals == std::string_view::npos || open == std::string_view::npos) continue;
    const std::string name(item.substr(0, equals));
    if (!limited.contains(name)) continue;
    out[name] = parse_whole(item.substr(open + 1, item.find(')') - open - 1)).value_or(0);
  }
  return out;
}

// "GrpWall=60(12.50)": minutes, whole as the bridge tells them.
GroupUse group_use(const Fields& fields, const Limits& limits) {
  GroupUse use{.tres_minutes = used_of(fields, "GrpTRESMins", limits.tres_minutes_group)};
  const std::string_view wall = at(fields, "GrpWall");
  const size_t open = wall.find('(');
  if (limits.wall_group_s < 0 || open == std::string_view::npos) return use;
  const std::string_view minutes = wall.substr(open + 1, wall.find_first_of(".)", open) - open - 1);
  use.wall_s = parse_whole(minutes).value_or(0) * 60;
  return use;
}

Limits shared_limits(const Fields& f) {
  return {.tres_group = limits(f, "GrpTRES"),
          .tres_minutes_group = limits(f, "GrpTRESMins"),
          .tres_running_minutes_group = limits(f, "GrpTRESRunMins"),
          .tres_per_job = limits(f, "MaxTRESPJ"),
          .tres_per_node = limits(f, "MaxTRESPN"),
          .tres_minutes_per_job = limits(f, "MaxTRESMinsPJ"),
          .jobs_group = limit(f, "GrpJobs"),
          .submit_group = limit(f, "GrpSubmitJobs"),
          .wall_group_s = limit_s(f, "GrpWall"),
          .wall_per_job_s = limit_s(f, "MaxWallPJ"),
          .jobs_max = limit(f, "MaxJobs"),
          .submit_max = limit(f, "MaxSubmitJobs")};
}

// "research(3)" -> "research" and 3.
struct Numbered {
  std::string_view name;
  int64_t number = 0;
};
Numbered numbered(std::string_view text) {
  const size_t open = text.rfind('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return {text, 0};
  return {text.substr(0, open),
          parse_whole(text.substr(open + 1, text.size() - open - 2)).value_or(0)};
}

std::optional<double> decimal(std::string_view text) {
  const auto hundredths = split(text, '.');
  if (hundredths.empty()) return std::nullopt;
  const auto whole = parse_whole(hundredths[0]);
  if (!whole) return std::nullopt;
  double value = static_cast<double>(*whole);
  if (hundredths.size() == 2) {
    const auto part = parse_whole(hundredths[1]);
    if (part)
      value +=
          static_cast<double>(*part) / std::pow(10.0, static_cast<double>(hundredths[1].size()));
  }
  return value;
}

Association association_of(const Fields& f) {
  Association out{.id = parse_whole(at(f, "ID")).value_or(0),
                  .parent = numbered(at(f, "ParentAccount")).number};
  out.account = at(f, "Account");
  out.user = numbered(at(f, "UserName")).name;
  out.partition = at(f, "Partition");
  const auto shares = split(at(f, "SharesRaw/Norm/Level/Factor"), '/');
  if (!shares.empty()) out.shares = parse_whole(shares[0]).value_or(-1);
  if (out.shares == 0x7fffffff) out.shares = -1;  // as its parent's
  if (shares.size() == 4 && !out.user.empty()) {
    if (const auto factor = decimal(shares[3]))
      out.fairshare_ppm = std::llround(std::clamp(*factor, 0.0, 1e6) * 1e6);
  }
  const auto usage = split(at(f, "UsageRaw/Norm/Efctv"), '/');
  if (!usage.empty()) out.usage_raw = parse_amount(usage[0], 0).value_or(0);
  out.limits = shared_limits(f);
  out.used = group_use(f, out.limits);
  return out;
}

Qos qos_of(const Fields& f) {
  Qos out{.name = std::string(numbered(at(f, "QOS")).name),
          .priority = parse_whole(at(f, "Priority")).value_or(0)};
  out.limits = shared_limits(f);
  out.used = group_use(f, out.limits);
  out.limits.jobs_max = out.limits.submit_max = -1;
  out.tres_min_per_job = limits(f, "MinTRESPJ");
  out.tres_per_user = limits(f, "MaxTRESPU");
  out.tres_per_account = limits(f, "MaxTRESPA");
  out.jobs_per_user = limit(f, "MaxJobsPU");
  out.jobs_per_account = limit(f, "MaxJobsPA");
  out.submit_per_user = limit(f, "MaxSubmitJobsPU");
  out.submit_per_account = limit(f, "MaxSubmitJobsPA");
  return out;
}

// A user's association hangs below its account, which the text leaves out.
void find_parents(std::vector<Association>& associations) {
  std::map<std::string, int64_t> accounts;
  for (const Association& a : associations) {
    if (a.user.empty()) accounts[a.account] = a.id;
  }
  for (Association& a : associations) {
    if (!a.user.empty() && a.parent == 0 && accounts.contains(a.account))
      a.parent = accounts[a.account];
  }
}

}  // namespace

AssocText parse_assoc_mgr(std::string_view text) {
  AssocText out;
  Fields fields;
  const auto finish = [&] {
    if (fields.contains("ClusterName")) {
      if (fields.contains("ID") && fields.contains("MaxTRESMinsPJ"))
        out.associations.records.push_back(association_of(fields));
      else
        ++out.associations.unreadable;
    } else if (fields.contains("QOS")) {
      if (fields.contains("Priority"))
        out.qos.records.push_back(qos_of(fields));
      else
        ++out.qos.unreadable;
    }
    fields.clear();
  };
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("ClusterName=") || line.starts_with("QOS=") || line.ends_with(" Records"))
      finish();
    for (const auto& [key, value] : parse_fields(line)) fields.try_emplace(key, value);
  }
  finish();
  find_parents(out.associations.records);
  return out;
}

void add_from_sacctmgr_qos(std::vector<Qos>& qos, std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    const auto f = split(line, '|');
    if (f.size() != 10) continue;
    const auto found = std::ranges::find(qos, f[0], &Qos::name);
    if (found == qos.end()) continue;
    found->preempts = split_names(f[1]);
    std::ranges::sort(found->preempts);
    found->flags = split_names(f[2]);
    std::ranges::sort(found->flags);
    found->jobs_per_user = parse_whole(f[3]).value_or(-1);
    found->jobs_per_account = parse_whole(f[4]).value_or(-1);
    found->submit_per_user = parse_whole(f[5]).value_or(-1);
    found->submit_per_account = parse_whole(f[6]).value_or(-1);
    found->tres_per_user = parse_tres(f[7]);
    found->tres_per_account = parse_tres(f[8]);
    found->tres_min_per_job = parse_tres(f[9]);
  }
}

void add_from_sacctmgr_assoc(std::vector<Association>& associations, std::string_view text) {
  std::map<int64_t, size_t> by_id;
  for (size_t i = 0; i < associations.size(); ++i) by_id[associations[i].id] = i;
  for (const std::string_view line : split(text, '\n')) {
    const auto f = split(line, '|');
    if (f.size() != 3) continue;
    const auto id = parse_whole(f[0]);
    if (!id || !by_id.contains(*id)) continue;
    associations[by_id[*id]].qos = split_names(f[1]);
    std::ranges::sort(associations[by_id[*id]].qos);
    associations[by_id[*id]].qos_default = f[2];
  }
}

}  // namespace fairlead::slurm
