// What a job itself says it waits for: a release, a date, other jobs, its array, licences.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "explain/holders.h"
#include "explain/policy_rules.h"

namespace fairlead {
namespace {

using enum BlockerCode;

}  // namespace

void PolicyRules::hold(Explainer&, const Workload& w, std::vector<Blocker>& out) {
  const Job& job = w.job;
  // The scheduler itself takes the priority from what it finds no node for.
  if (job.priority != 0 || job.reason == "BadConstraints") return;
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
      d.task = -1;  // also for "18_*"
      if (error == std::errc{} && rest != part.data() + colon && *rest == '_')
        std::from_chars(rest + 1, part.data() + colon, d.task);
      if (error == std::errc{})
        found.push_back({.kind = kind, .job = d.job, .task = d.task, .mark = d.mark});
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
  if (d.kind == "afterok" || d.kind == "aftercorr")
    return s == JobState::completed ? Met::yes : Met::never;
  if (d.kind == "afternotok") return s == JobState::completed ? Met::never : Met::yes;
  return Met::yes;
}

struct Branch {
  std::string what, now;  // "afterok:17", "running"
  Met met = Met::yes;
  const Workload* other = nullptr;
};

Branch branch_of(const Explainer& e, const Job& job, const Dependency& d) {
  // Each task waits for the task of the other array that has its number.
  const int64_t task = d.kind == "aftercorr" && d.task < 0 ? job.array.task : d.task;
  const std::string label = task < 0 ? std::to_string(d.job) : fmt::format("{}_{}", d.job, task);
  Branch branch{.what = d.job == 0 ? d.kind : fmt::format("{}:{}", d.kind, label)};
  if (d.kind == "singleton") {
    branch.met = job.reason == "Dependency" ? Met::not_yet : Met::yes;
    return branch;
  }
  branch.other = e.find(label);
  branch.now = branch.other == nullptr ? "no longer listed" : enum_name(branch.other->job.state);
  branch.met = met(d, branch.other);
  // It is listed only because its end is still to come, unless the scheduler has given up.
  if (branch.met == Met::not_yet && branch.other == nullptr &&
      job.reason == "DependencyNeverSatisfied")
    branch.met = Met::never;
  return branch;
}

// One blocker for branches of which one is enough: a single one, or all that are joined by "?".
Blocker dependency_blocker(const State& state, const Job& job,
                           const std::vector<Branch>& branches) {
  Blocker b{
      .code = branches[0].met == Met::never ? DEPENDENCY_NEVER : DEPENDENCY,
      .waiting_cures = branches[0].met == Met::never ? WaitingCures::never : WaitingCures::yes,
      .cure = fmt::format("scontrol update jobid={} dependency=", job.label)};
  std::vector<Holder> holders;
  for (const Branch& branch : branches) {
    b.object += (b.object.empty() ? "" : "?") + branch.what;
    b.message += b.message.empty() ? "" : ", or ";
    b.message += branch.now.empty()
                     ? "another job of this name and user comes first"
                     : fmt::format("waits for {}, which is {}", branch.what, branch.now);
    if (branch.other == nullptr || branch.met == Met::never) continue;
    holders.push_back(holder_of(state, *branch.other, 1));
    const Instant ends = holders.back().ends;
    if (ends.known() && (!b.cured_at.known() || ends < b.cured_at)) b.cured_at = ends;
  }
  show_holders(b, std::move(holders));
  return b;
}

}  // namespace

void PolicyRules::dependency(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  const std::string& text = w.job.request.dependency;
  const bool one_is_enough = text.contains('?');  // the scheduler does not mix "?" and ","
  std::vector<Branch> open, closed;
  for (const Dependency& d : parse_dependencies(text)) {
    Branch branch = branch_of(e, w.job, d);
    if (branch.met == Met::yes && one_is_enough) return;
    if (branch.met != Met::yes)
      (branch.met == Met::never ? closed : open).push_back(std::move(branch));
  }
  if (one_is_enough && !open.empty())
    return out.push_back(dependency_blocker(e.state_, w.job, open));
  if (one_is_enough && !closed.empty())
    return out.push_back(dependency_blocker(e.state_, w.job, closed));
  for (const std::vector<Branch>* branches : {&closed, &open}) {
    for (const Branch& branch : *branches)
      out.push_back(dependency_blocker(e.state_, w.job, {branch}));
  }
}

void PolicyRules::array(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  const JobArray& array = w.job.array;
  if (array.running_max <= 0) return;  // the last task that waits is told as itself, not as [4%2]
  const int64_t running = e.usage_.running_tasks(array.id);
  if (running < array.running_max) return;
  const int32_t waiting = std::max(array.waiting_count, 1);
  Blocker b{.code = ARRAY_LIMIT,
            .object = fmt::format("array {}", array.id),
            .limit_name = "%",
            .unit = "tasks",
            .limit = array.running_max,
            .used = running,
            .wanted = 1,
            .short_by = 1,
            .message = fmt::format("{} of array {} {}, {} may; {} {}", count_text(running, "tasks"),
                                   array.id, running == 1 ? "runs" : "run", array.running_max,
                                   waiting, waiting == 1 ? "waits" : "wait"),
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

std::string licence_cure(const Licence& l, int64_t used, int64_t wanted) {
  if (l.total == 0) return fmt::format("without the licence {}: the site has none", l.name);
  const int64_t least = wanted > l.total ? l.total : l.total - used;
  if (least <= 0) return fmt::format("wait, or without the licence {}", l.name);
  return fmt::format("at most {} of {}", least, l.name);
}

}  // namespace

void PolicyRules::licences(Explainer& e, const Workload& w, std::vector<Blocker>& out) {
  for (const auto& [name, wanted] : parse_licences(w.job.request.licences)) {
    const auto it = e.state_.licences.find(name);
    if (it == e.state_.licences.end()) continue;
    const Licence& l = it->second;
    const int64_t used = l.used + l.reserved;
    if (used + wanted <= l.total) continue;
    Blocker b{
        .code = LICENCES,
        .object = "licence " + name,
        .limit_name = "Licenses",
        .unit = "licences",
        .limit = l.total,
        .used = used,
        .wanted = wanted,
        .short_by = used + wanted - l.total,
        .message = fmt::format("{} of {} {} {} in use, {}", used, count_text(l.total, "licences"),
                               name, is_or_are(used), asked_for(wanted)),
        .waiting_cures = wanted > l.total ? WaitingCures::never : WaitingCures::yes,
        .cure = licence_cure(l, used, wanted)};
    if (b.waiting_cures == WaitingCures::never) {
      out.push_back(std::move(b));
      continue;
    }
    std::vector<Holder> holders;
    for (const WorkloadId id : e.state_.queues.holding()) {
      const Workload& other = e.state_.workloads.at(id);
      for (const auto& [its, amount] : parse_licences(other.job.request.licences)) {
        if (its == name) holders.push_back(holder_of(e.state_, other, amount));
      }
    }
    b.cured_at = freed_at(holders, b.short_by);
    show_holders(b, std::move(holders));
    out.push_back(std::move(b));
  }
}

}  // namespace fairlead
