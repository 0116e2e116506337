// What associations and QOS limit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explain/holders.h"
#include "explain/policy_rules.h"

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

// What one of a trackable resource held for one minute is called.
std::string minutes_unit_of(std::string_view tres) {
  if (tres.starts_with("gres/gpu")) return "GPU-minutes";
  if (tres == "node") return "node-minutes";
  if (tres == "cpu") return "CPU-minutes";
  return unit_of(tres) + "-minutes";
}

// What a job asks for of one resource, and for how long.
struct Span {
  int64_t amount = 0;
  int64_t time_limit_s = 0;
  std::string unit;
};

std::string to_text(const Span& span) {
  return fmt::format("{} for {}", count_text(span.amount, span.unit),
                     to_short_text(seconds(span.time_limit_s)));
}

// The shorter and the smaller job that `room` minutes have place for.
std::string minutes_cure(const Span& span, int64_t room) {
  const int64_t minutes = room / std::max<int64_t>(1, span.amount);
  const int64_t amount = room / std::max<int64_t>(1, span.time_limit_s / 60);
  std::string cure;
  if (minutes > 0) cure = fmt::format("time limit {}", to_short_text(seconds(minutes * 60)));
  if (amount > 0)
    cure += fmt::format("{}at most {}", cure.empty() ? "" : ", or ", count_text(amount, span.unit));
  return cure;
}

}  // namespace

// One limit against what is used and what the job would add.
struct PolicyRules::LimitOf {
  std::string object;
  std::string name;  // "GrpTRES", "MaxTRESPerUser"
  BlockerCode code;

  Blocker blocker(const std::string& tres, int64_t limit, int64_t used, int64_t wanted) const {
    const int64_t over = used + wanted - limit;
    const bool never = wanted > limit;
    std::string message =
        used == 0 ? fmt::format("{} may hold {}, {}", object, count_text(limit, unit_of(tres)),
                                asked_for(wanted))
                  : fmt::format("{} holds {} of {}, {} more {} asked for", object, used,
                                count_text(limit, unit_of(tres)), wanted, is_or_are(wanted));
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
            .cure = never && limit <= 0 ? std::string("another class or account")
                    : never             ? "at most " + count_text(limit, unit_of(tres))
                    : used >= limit     ? std::string("wait, or another class or account")
                                        : fmt::format("{} instead of {}",
                                                      count_text(limit - used, unit_of(tres)), wanted)};
  }

  // A limit on amount times time: a shorter job cures it as a smaller one does.
  Blocker minutes_blocker(const std::string& tres, int64_t limit, int64_t used, int64_t wanted,
                          int64_t amount, int64_t time_limit_s) const {
    const std::string unit = minutes_unit_of(tres);
    const Span span{.amount = amount, .time_limit_s = time_limit_s, .unit = unit_of(tres)};
    const bool never = wanted > limit;
    std::string message = used == 0 ? fmt::format("{} allows {}", object, count_text(limit, unit))
                                    : fmt::format("{} has promised {} of {} to what runs", object,
                                                  used, count_text(limit, unit));
    message += fmt::format(", {} ({})", asked_for(wanted), to_text(span));
    std::string cure = minutes_cure(span, never ? limit : limit - used);
    if (!never) cure = cure.empty() ? "wait" : "wait, or " + cure;
    return {.code = code,
            .object = object,
            .limit_name = name + " " + tres,
            .unit = unit,
            .limit = limit,
            .used = used,
            .wanted = wanted,
            .short_by = used + wanted - limit,
            .message = std::move(message),
            .waiting_cures = never ? WaitingCures::never : WaitingCures::yes,
            .cure = cure.empty() ? "another class or account" : std::move(cure)};
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

// When what is used has decayed below the limit; zero where it does not decay.
Instant decayed_at(const State& state, int64_t used, int64_t limit) {
  const int64_t half_life = state.scheduler.usage_half_life_s;
  if (half_life <= 0 || limit <= 0 || used < limit) return {};
  const double halvings = std::log2(static_cast<double>(used + 1) / static_cast<double>(limit));
  return state.now + seconds(static_cast<int64_t>(halvings * static_cast<double>(half_life)) + 60);
}

// Limits on what was used until now, TRES-minutes and wall time: runs that are over count too, and
// only decay makes room. Where the site enforces safely, what runs and the job itself have to fit.
void spent_blockers(const State& state, BlockerCode code, const std::string& object,
                    const Limits& limits, const GroupUse& used, const TresSum& promised,
                    const TresSum& wanted, std::vector<Blocker>& out) {
  const auto add = [&](std::string name, std::string unit, int64_t limit, int64_t spent,
                       int64_t wants, bool never) {
    const Instant cured = never ? Instant{} : decayed_at(state, spent + wants, limit);
    out.push_back(
        {.code = code,
         .object = object,
         .limit_name = std::move(name),
         .unit = unit,
         .limit = limit,
         .used = spent,
         .wanted = wants,
         .short_by = spent + wants - limit,
         .message = fmt::format("{} may use {} {} and has used {}{}", object, limit, unit, spent,
                                state.scheduler.usage_half_life_s > 0
                                    ? ", which decays by half in " +
                                          to_short_text(seconds(state.scheduler.usage_half_life_s))
                                    : ", which does not decay"),
         .waiting_cures = never           ? WaitingCures::never
                          : cured.known() ? WaitingCures::yes
                                          : WaitingCures::unknown,
         .cured_at = cured,
         .cure = "another class or account, or an administrator raises the limit"});
  };
  for (const auto& [tres, limit] : limits.tres_minutes_group) {
    const auto found = used.tres_minutes.find(tres);
    if (limit < 0 || found == used.tres_minutes.end()) continue;  // not told by this source
    const bool safe = state.scheduler.enforces_safe;
    const int64_t spent = found->second + (safe ? promised.amount(tres, state.names) : 0);
    const int64_t wants = safe ? wanted.amount(tres, state.names) : 0;
    if (safe ? spent + wants > limit : spent >= limit)
      add("GrpTRESMins " + tres, minutes_unit_of(tres), limit, spent, wants, wants > limit);
  }
  if (limits.wall_group_s >= 0 && used.wall_s >= limits.wall_group_s)
    add("GrpWall", "s", limits.wall_group_s, used.wall_s, 0, false);
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
  const auto same_account = [&](const Workload& other) { return other.account == w.account; };
  check({object, "GrpTRES", QOS_LIMIT}, qos.limits.tres_group, e.usage_.of_qos(qos_id).tres, any);
  check({object + ", user " + job.user, "MaxTRESPerUser", QOS_LIMIT}, qos.tres_per_user,
        e.usage_.of_qos_user(qos_id, w.user).tres, same_user);
  check({object + ", account " + job.account, "MaxTRESPerAccount", QOS_LIMIT}, qos.tres_per_account,
        e.usage_.of_qos_account(qos_id, w.account).tres, same_account);
  check({object, "MaxTRESPerJob", QOS_JOB_LIMIT}, qos.limits.tres_per_job, {}, any);
  const int64_t time_limit_s = job.request.time_limit_s;
  const auto check_minutes = [&](const LimitOf& limit, const Amounts& limits, const TresSum& used) {
    for_each_exceeded(names, limits, used, minutes_of(wanted, time_limit_s),
                      [&](const std::string& tres, int64_t most, int64_t has, int64_t want) {
                        Blocker b = limit.minutes_blocker(tres, most, has, want,
                                                          wanted.amount(tres, names), time_limit_s);
                        add_promised(e, b, tres, same_qos);
                        out.push_back(std::move(b));
                      });
  };
  check_minutes({object, "GrpTRESRunMins", QOS_LIMIT}, qos.limits.tres_running_minutes_group,
                e.usage_.of_qos(qos_id).running_minutes);
  check_minutes({object, "MaxTRESMinsPerJob", QOS_JOB_LIMIT}, qos.limits.tres_minutes_per_job, {});
  spent_blockers(e.state_, QOS_LIMIT, object, qos.limits, qos.used,
                 e.usage_.of_qos(qos_id).running_minutes,
                 minutes_of(wanted, job.request.time_limit_s), out);
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
       e.usage_.of_qos_account(qos_id, w.account).jobs, same_account);
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
                   .message = fmt::format("{} takes jobs of at least {}, {}", object,
                                          count_text(least, unit_of(tres)), asked_for(has)),
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
                           const TresSum& has) {
      for_each_exceeded(state.names, limits, has, wanted,
                        [&](const std::string& tres, int64_t most, int64_t now, int64_t more) {
                          Blocker b = LimitOf{object, name, code}.blocker(tres, most, now, more);
                          add_holders(e, b, tres, below);
                          out.push_back(std::move(b));
                        });
    };
    const int64_t time_limit_s = job.request.time_limit_s;
    const auto check_minutes = [&](const char* name, BlockerCode code, const Amounts& limits,
                                   const TresSum& has) {
      for_each_exceeded(state.names, limits, has, minutes_of(wanted, time_limit_s),
                        [&](const std::string& tres, int64_t most, int64_t now, int64_t more) {
                          Blocker b = LimitOf{object, name, code}.minutes_blocker(
                              tres, most, now, more, wanted.amount(tres, state.names),
                              time_limit_s);
                          add_promised(e, b, tres, below);
                          out.push_back(std::move(b));
                        });
    };
    check("GrpTRES", ASSOCIATION_LIMIT, a.limits.tres_group, used.tres);
    check_minutes("GrpTRESRunMins", ASSOCIATION_LIMIT, a.limits.tres_running_minutes_group,
                  used.running_minutes);
    spent_blockers(state, ASSOCIATION_LIMIT, object, a.limits, a.used, used.running_minutes,
                   minutes_of(wanted, job.request.time_limit_s), out);
    if (a.limits.jobs_group >= 0 && used.jobs >= a.limits.jobs_group) {
      Blocker b = LimitOf{object, "GrpJobs", ASSOCIATION_LIMIT}.blocker("jobs", a.limits.jobs_group,
                                                                        used.jobs, 1);
      add_holders(e, b, "jobs", below);
      out.push_back(std::move(b));
    }
    if (level != 0)
      continue;  // limits of one job and one user stand on the user's own line, inherited ones too
    check("MaxTRESPerJob", ASSOCIATION_JOB_LIMIT, a.limits.tres_per_job, {});
    check_minutes("MaxTRESMinsPerJob", ASSOCIATION_JOB_LIMIT, a.limits.tres_minutes_per_job, {});
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

}  // namespace fairlead
