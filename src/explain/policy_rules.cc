#include "explain/policy_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "explain/holders.h"

namespace fairlead {
namespace {

using enum BlockerCode;

std::string unit_of(std::string_view tres) {
  if (tres.starts_with("gres/gpu")) return "devices";
  if (tres == "node") return "nodes";
  if (tres == "cpu") return "cpus";
  if (tres == "mem") return "MB";
  return std::string(tres);
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

}  // namespace

void PolicyRules::add_holders(Explainer& e, Blocker& blocker, const std::string& tres,
                              auto&& counts) {
  std::vector<Holder> holders;
  for (const WorkloadId id : e.state_.queues.holding()) {
    const Workload& other = e.state_.workloads.at(id);
    if (!counts(other)) continue;
    const int64_t amount =
        tres == "jobs" ? 1 : tres_of(e.state_, other).amount(tres, e.state_.names);
    if (amount == 0) continue;
    holders.push_back(holder_of(other, amount));
  }
  blocker.cured_at = freed_at(holders, blocker.short_by);
  show_holders(blocker, std::move(holders));
}

void PolicyRules::hold(Explainer&, const Workload& w, std::vector<Blocker>& out) {
  const Job& job = w.job;
  if (job.priority != 0) return;
  const bool by_user = job.reason == "JobHeldUser";
  // Priority zero alone is a hold; the reason only tells whose.
  out.push_back({.code = by_user ? HELD_BY_USER : HELD_BY_ADMIN,
                 .object = "job " + job.label,
                 .message = by_user ? "held by its owner" : "held by an administrator",
                 .waiting_cures = WaitingCures::never,
                 .cure = by_user ? fmt::format("scontrol release {}", job.label)
                                 : "an administrator releases it"});
}

void PolicyRules::begin_time(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  const Job& job = w.job;
  const Instant begin = std::max(job.begin, job.reason == "BeginTime" ? job.eligible : Instant{});
  if (begin <= e.state_.now) return;
  out.push_back({.code = BEGIN_TIME,
                 .object = "job " + job.label,
                 .unit = "s",
                 .short_by = whole_seconds(begin - e.state_.now),
                 .message = fmt::format("not to begin before {}", to_rfc3339(begin)),
                 .waiting_cures = WaitingCures::yes,
                 .cured_at = begin,
                 .cure = fmt::format("scontrol update jobid={} starttime=now", job.label)});
}

std::vector<Dependency> parse_dependencies(std::string_view text) {
  std::vector<Dependency> found;
  std::string kind;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(",?"), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    Dependency d;
    if (const size_t open = part.find('('); open != part.npos) {
      d.mark = part.substr(open + 1, part.find(')') - open - 1);
      part = part.substr(0, open);
    }
    if (part == "singleton") {
      d.kind = part;
      found.push_back(d);
      continue;
    }
    // "afterok:17:18+5": one kind, several jobs, a delay after +
    size_t colon = part.find(':');
    if (colon != part.npos && !part.empty() && (part[0] < '0' || part[0] > '9')) {
      kind = part.substr(0, colon);
      part.remove_prefix(colon + 1);
    }
    while (!part.empty()) {
      colon = std::min(part.find(':'), part.size());
      const auto [rest, error] = std::from_chars(part.data(), part.data() + colon, d.job);
      if (error == std::errc{}) found.push_back({.kind = kind, .job = d.job, .mark = d.mark});
      part.remove_prefix(std::min(colon + 1, part.size()));
    }
  }
  return found;
}

namespace {

enum class Met { yes, not_yet, never };

Met met(const Dependency& d, const Workload* other) {
  if (d.mark == "failed") return Met::never;
  if (d.mark == "fulfilled") return Met::yes;
  if (other == nullptr) return Met::not_yet;  // the scheduler still lists it, so it is not met
  const JobState s = other->job.state;
  if (d.kind == "after") return s == JobState::pending ? Met::not_yet : Met::yes;
  if (!has_ended(s)) return Met::not_yet;
  if (d.kind == "afterok") return s == JobState::completed ? Met::yes : Met::never;
  if (d.kind == "afternotok") return s == JobState::completed ? Met::never : Met::yes;
  return Met::yes;
}

}  // namespace

void PolicyRules::dependency(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  const bool says_never = w.job.reason == "DependencyNeverSatisfied";
  for (const Dependency& d : parse_dependencies(w.job.request.dependency)) {
    const Workload* other = d.job == 0 ? nullptr : e.find(std::to_string(d.job));
    Met is = d.kind == "singleton" ? (w.job.reason == "Dependency" ? Met::not_yet : Met::yes)
                                   : met(d, other);
    if (is == Met::not_yet && says_never && other == nullptr) is = Met::never;
    if (is == Met::yes) continue;
    const std::string what = d.job == 0 ? d.kind : fmt::format("{}:{}", d.kind, d.job);
    Blocker b{.code = is == Met::never ? DEPENDENCY_NEVER : DEPENDENCY,
              .object = what,
              .waiting_cures = is == Met::never ? WaitingCures::never : WaitingCures::yes};
    const std::string now_is =
        other == nullptr ? "no longer listed" : std::string(enum_name(other->job.state));
    b.message = d.job == 0 ? "another job of this name and user comes first"
                           : fmt::format("waits for {}, which is {}", what, now_is);
    b.cure = fmt::format("scontrol update jobid={} dependency=", w.job.label);
    if (other != nullptr && is == Met::not_yet) {
      b.holders = {holder_of(*other, 1)};
      b.cured_at = b.holders[0].ends;
    }
    out.push_back(std::move(b));
  }
}

namespace {

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

// One limit against what is used and what the job would add.
struct PolicyRules::LimitOf {
  std::string object;
  std::string name;  // "GrpTRES", "MaxTRESPerUser"
  BlockerCode code;

  Blocker blocker(const std::string& tres, int64_t limit, int64_t used, int64_t wanted) const {
    const int64_t over = used + wanted - limit;
    const bool never = wanted > limit;
    std::string message = fmt::format("{} holds {} of {} {}, {} more are asked for", object, used,
                                      limit, unit_of(tres), wanted);
    if (used == 0)
      message =
          fmt::format("{} may hold {} {}, {} are asked for", object, limit, unit_of(tres), wanted);
    return {.code = code,
            .object = object,
            .limit_name = tres == "jobs" ? name : name + " " + tres,
            .unit = unit_of(tres),
            .limit = limit,
            .used = used,
            .wanted = wanted,
            .short_by = over,
            .message = std::move(message),
            .waiting_cures = never ? WaitingCures::never : WaitingCures::yes,
            .cure = never ? fmt::format("at most {} {}", limit, unit_of(tres))
                    : used >= limit
                        ? std::string("wait, or another class or account")
                        : fmt::format("{} {} instead of {}", limit - used, unit_of(tres), wanted)};
  }
};

namespace {

// Calls f(tres, limit, used, wanted) for each amount that would go over its limit.
template <class F>
void for_each_exceeded(const NameTable& names, const Amounts& limits, const TresSum& used,
                       const TresSum& wanted, F&& f) {
  for (const auto& [tres, limit] : limits) {
    const int64_t want = wanted.amount(tres, names);
    if (limit < 0 || want == 0) continue;
    const int64_t now = used.amount(tres, names);
    if (now + want > limit) f(tres, limit, now, want);
  }
}

TresSum minutes_of(const TresSum& amounts, int64_t time_limit_s) {
  TresSum minutes;
  minutes.add(amounts, std::max<int64_t>(0, time_limit_s) / 60);
  return minutes;
}

Blocker wall_blocker(BlockerCode code, const std::string& object, int64_t limit_s,
                     int64_t wanted_s) {
  return {.code = code,
          .object = object,
          .limit_name = "MaxWall",
          .unit = "s",
          .limit = limit_s,
          .wanted = wanted_s,
          .short_by = wanted_s < 0 ? 0 : wanted_s - limit_s,
          .message = fmt::format("{} allows {} for one job, {} is asked for", object,
                                 to_short_text(seconds(limit_s)),
                                 wanted_s < 0 ? "no limit" : to_short_text(seconds(wanted_s))),
          .waiting_cures = WaitingCures::never,
          .cure = fmt::format("time limit {}", to_short_text(seconds(limit_s)))};
}

bool over_wall(int64_t limit_s, int64_t wanted_s) {
  return limit_s >= 0 && (wanted_s < 0 || wanted_s > limit_s);
}

}  // namespace

void PolicyRules::qos_of(Explainer& e, const Workload& w, const Qos& qos,
                         std::vector<Blocker>& out) {
  const Job& job = w.job;
  const NameTable& names = e.state_.names;
  const TresSum wanted = tres_of(e.state_, w);
  const std::string object = "qos " + qos.name;
  const NameId qos_id = names.find(qos.name).value_or(0);
  // A partition's own class counts every job of the partition.
  const auto same_qos = [&](const Workload& other) {
    if (other.job.qos == qos.name) return true;
    const auto p = e.state_.partitions.find(other.job.partition);
    return p != e.state_.partitions.end() && p->second.qos == qos.name;
  };
  const auto check = [&](const LimitOf& limit, const Amounts& limits, const TresSum& used,
                         auto&& counts) {
    for_each_exceeded(names, limits, used, wanted,
                      [&](const std::string& tres, int64_t most, int64_t has, int64_t want) {
                        Blocker b = limit.blocker(tres, most, has, want);
                        add_holders(e, b, tres, [&](const Workload& other) {
                          return same_qos(other) && counts(other);
                        });
                        out.push_back(std::move(b));
                      });
  };
  const auto any = [](const Workload&) { return true; };
  const auto same_user = [&](const Workload& other) { return other.user == w.user; };
  const auto same_account = [&](const Workload& other) { return other.team == w.team; };
  check({object, "GrpTRES", QOS_LIMIT}, qos.limits.tres_group, e.usage_.of_qos(qos_id).tres, any);
  check({object + ", user " + job.user, "MaxTRESPerUser", QOS_LIMIT}, qos.tres_per_user,
        e.usage_.of_qos_user(qos_id, w.user).tres, same_user);
  check({object + ", account " + job.account, "MaxTRESPerAccount", QOS_LIMIT}, qos.tres_per_account,
        e.usage_.of_qos_account(qos_id, w.team).tres, same_account);
  check({object, "MaxTRESPerJob", QOS_JOB_LIMIT}, qos.limits.tres_per_job, {}, any);
  for_each_exceeded(
      names, qos.limits.tres_running_minutes_group, e.usage_.of_qos(qos_id).running_minutes,
      minutes_of(wanted, job.request.time_limit_s),
      [&](const std::string& tres, int64_t most, int64_t has, int64_t want) {
        out.push_back(LimitOf{object, "GrpTRESRunMins", QOS_LIMIT}.blocker(tres, most, has, want));
      });
  const auto jobs = [&](const char* name, const std::string& who, int64_t limit, int64_t used,
                        auto&& counts) {
    if (limit < 0 || used < limit) return;
    Blocker b = LimitOf{who, name, QOS_LIMIT}.blocker("jobs", limit, used, 1);
    add_holders(e, b, "jobs",
                [&](const Workload& other) { return same_qos(other) && counts(other); });
    out.push_back(std::move(b));
  };
  jobs("GrpJobs", object, qos.limits.jobs_group, e.usage_.of_qos(qos_id).jobs, any);
  jobs("MaxJobsPerUser", object + ", user " + job.user, qos.jobs_per_user,
       e.usage_.of_qos_user(qos_id, w.user).jobs, same_user);
  jobs("MaxJobsPerAccount", object + ", account " + job.account, qos.jobs_per_account,
       e.usage_.of_qos_account(qos_id, w.team).jobs, same_account);
  if (over_wall(qos.limits.wall_per_job_s, job.request.time_limit_s)) {
    out.push_back(
        wall_blocker(QOS_JOB_LIMIT, object, qos.limits.wall_per_job_s, job.request.time_limit_s));
  }
  for (const auto& [tres, least] : qos.tres_min_per_job) {
    const int64_t has = wanted.amount(tres, names);
    if (has >= least) continue;
    out.push_back({.code = QOS_JOB_LIMIT,
                   .object = object,
                   .limit_name = "MinTRES " + tres,
                   .unit = unit_of(tres),
                   .limit = least,
                   .wanted = has,
                   .short_by = least - has,
                   .message = fmt::format("{} takes jobs of at least {} {}, {} are asked for",
                                          object, least, unit_of(tres), has),
                   .waiting_cures = WaitingCures::never,
                   .cure = "another class"});
  }
}

void PolicyRules::qos(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  if (!e.state_.scheduler.enforces_limits) return;
  if (const auto it = e.state_.qos.find(w.job.qos); it != e.state_.qos.end())
    qos_of(e, w, it->second, out);
  const auto partition = e.state_.partitions.find(w.job.partition);
  if (partition == e.state_.partitions.end() || partition->second.qos == w.job.qos) return;
  const auto it = e.state_.qos.find(partition->second.qos);
  if (it != e.state_.qos.end()) qos_of(e, w, it->second, out);
}

void PolicyRules::association(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  const State& state = e.state_;
  const Job& job = w.job;
  const std::vector<const Association*>& chain = e.usage_.chain_of(w);
  if (chain.empty() && !state.associations.empty() && state.scheduler.enforces_associations) {
    out.push_back({.code = ASSOCIATION_MISSING,
                   .object = fmt::format("user {} in account {}", job.user, job.account),
                   .message = fmt::format("user {} has no association with account {}", job.user,
                                          job.account),
                   .waiting_cures = WaitingCures::never,
                   .cure = "an administrator adds it"});
  }
  if (!state.scheduler.enforces_limits) return;
  const TresSum wanted = tres_of(state, w);
  for (size_t level = 0; level < chain.size(); ++level) {
    const Association& a = *chain[level];
    const std::string object = a.user.empty()
                                   ? "account " + a.account
                                   : fmt::format("user {} in account {}", a.user, a.account);
    const UsageSum& used = e.usage_.of_association(a.id);
    const auto below = [&](const Workload& other) {
      return std::ranges::any_of(e.usage_.chain_of(other),
                                 [&](const Association* up) { return up->id == a.id; });
    };
    const auto check = [&](const char* name, BlockerCode code, const Amounts& limits,
                           const TresSum& has, const TresSum& want) {
      for_each_exceeded(state.names, limits, has, want,
                        [&](const std::string& tres, int64_t most, int64_t now, int64_t more) {
                          Blocker b = LimitOf{object, name, code}.blocker(tres, most, now, more);
                          add_holders(e, b, tres, below);
                          out.push_back(std::move(b));
                        });
    };
    check("GrpTRES", ASSOCIATION_LIMIT, a.limits.tres_group, used.tres, wanted);
    check("GrpTRESRunMins", ASSOCIATION_LIMIT, a.limits.tres_running_minutes_group,
          used.running_minutes, minutes_of(wanted, job.request.time_limit_s));
    if (a.limits.jobs_group >= 0 && used.jobs >= a.limits.jobs_group) {
      Blocker b = LimitOf{object, "GrpJobs", ASSOCIATION_LIMIT}.blocker("jobs", a.limits.jobs_group,
                                                                        used.jobs, 1);
      add_holders(e, b, "jobs", below);
      out.push_back(std::move(b));
    }
    if (level != 0)
      continue;  // limits of one job and one user stand on the user's own line, inherited ones too
    check("MaxTRESPerJob", ASSOCIATION_JOB_LIMIT, a.limits.tres_per_job, {}, wanted);
    if (a.limits.jobs_max >= 0 && used.jobs >= a.limits.jobs_max) {
      Blocker b = LimitOf{object, "MaxJobs", ASSOCIATION_LIMIT}.blocker("jobs", a.limits.jobs_max,
                                                                        used.jobs, 1);
      add_holders(e, b, "jobs", below);
      out.push_back(std::move(b));
    }
    if (over_wall(a.limits.wall_per_job_s, job.request.time_limit_s)) {
      out.push_back(wall_blocker(ASSOCIATION_JOB_LIMIT, object, a.limits.wall_per_job_s,
                                 job.request.time_limit_s));
    }
  }
}

void PolicyRules::array(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  const JobArray& array = w.job.array;
  if (array.running_max <= 0) return;  // the last task that waits is told as itself, not as [4%2]
  const int64_t running = e.usage_.running_tasks(array.id);
  if (running < array.running_max) return;
  Blocker b{.code = ARRAY_LIMIT,
            .object = fmt::format("array {}", array.id),
            .limit_name = "%",
            .unit = "tasks",
            .limit = array.running_max,
            .used = running,
            .wanted = 1,
            .short_by = 1,
            .message = fmt::format("{} tasks of array {} run, {} may; {} wait", running, array.id,
                                   array.running_max, std::max(array.waiting_count, 1)),
            .waiting_cures = WaitingCures::yes,
            .cure = fmt::format("scontrol update jobid={} arraytaskthrottle={}", array.id,
                                array.running_max + 1)};
  add_holders(e, b, "jobs", [&](const Workload& other) { return other.job.array.id == array.id; });
  b.cured_at = {};
  for (const Holder& h : b.holders) {
    if (h.ends.known() && (!b.cured_at.known() || h.ends < b.cured_at)) b.cured_at = h.ends;
  }
  out.push_back(std::move(b));
}

namespace {

std::vector<std::pair<std::string, int64_t>> parse_licences(std::string_view text) {
  std::vector<std::pair<std::string, int64_t>> found;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(",|"), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t colon = part.find_first_of(":=");
    int64_t count = 1;
    if (colon != part.npos)
      std::from_chars(part.data() + colon + 1, part.data() + part.size(), count);
    if (!part.empty()) found.emplace_back(part.substr(0, colon), count);
  }
  return found;
}

}  // namespace

void PolicyRules::licences(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  for (const auto& [name, wanted] : parse_licences(w.job.request.licences)) {
    const auto it = e.state_.licences.find(name);
    if (it == e.state_.licences.end()) continue;
    const Licence& l = it->second;
    const int64_t used = l.used + l.reserved;
    if (used + wanted <= l.total) continue;
    Blocker b{.code = LICENCES,
              .object = "licence " + name,
              .limit_name = "Licenses",
              .unit = "licences",
              .limit = l.total,
              .used = used,
              .wanted = wanted,
              .short_by = used + wanted - l.total,
              .message = fmt::format("{} of {} licences {} are in use, {} are asked for", used,
                                     l.total, name, wanted),
              .waiting_cures = wanted > l.total ? WaitingCures::never : WaitingCures::yes,
              .cure = fmt::format("at most {} of {}", std::max<int64_t>(0, l.total - used), name)};
    std::vector<Holder> holders;
    for (const WorkloadId id : e.state_.queues.holding()) {
      const Workload& other = e.state_.workloads.at(id);
      for (const auto& [its, amount] : parse_licences(other.job.request.licences)) {
        if (its == name) holders.push_back(holder_of(other, amount));
      }
    }
    b.cured_at = freed_at(holders, b.short_by);
    show_holders(b, std::move(holders));
    out.push_back(std::move(b));
  }
}

}  // namespace fairlead
