#include "policy/team_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/words.h"
#include "lang/units.h"

namespace fairlead::policy {
namespace {

std::optional<int64_t> bounded(Milli amount) {
  if (amount.is_unlimited()) return std::nullopt;
  return amount.value;
}

std::vector<std::string> steps_of(const Organisation& org, const Quota& q, TeamId team,
                                  DeviceId d) {
  std::vector<TeamId> path;
  for (TeamId t = team;; t = org.teams[t].parent) {
    path.insert(path.begin(), t);
    if (t == kRoot) break;
  }
  std::vector<std::string> steps;
  for (const TeamId t : path) {
    const std::string& name = org.teams[t].name;
    const std::string limit = to_text(q.limit(t, d));
    const std::string inner = to_text(q.inner(t, d));
    const std::string room = to_text(q.headroom(t, d));
    if (t == kRoot) {
      steps.push_back(
          fmt::format("headroom({}) = capacity {} - inner {} = {}", name, limit, inner, room));
      continue;
    }
    const TeamId parent = org.teams[t].parent;
    const Milli unused = std::max(Milli{}, q.kept(t, d) - q.inner(t, d));
    const std::string from_above =
        fmt::format("headroom({}) {} + kept and not used {}", org.teams[parent].name,
                    to_text(q.headroom(parent, d)), to_text(unused));
    steps.push_back(
        q.limit(t, d).is_unlimited()
            ? fmt::format("headroom({}) = {} = {}, no limit of its own", name, from_above, room)
            : fmt::format("headroom({}) = min(limit {} - inner {}, {}) = {}", name, limit, inner,
                          from_above, room));
  }
  return steps;
}

}  // namespace

std::string source_text(const MemberRule& rule) {
  std::string source = enum_name(rule.source);
  std::ranges::replace(source, '_', ' ');
  if (rule.source == MemberSource::kubernetes_service_account)
    source = "kubernetes service-account";
  if (!rule.claim.empty()) source += " " + rule.claim;
  return source;
}

std::string budget_text(const Organisation& org, const Team& team) {
  if (!team.budget) return "";
  const Budget& b = *team.budget;
  const std::string what = b.micro_dollars ? lang::money_literal(*b.micro_dollars)
                                           : fmt::format("{} {} h", to_text(b.device_hours->milli),
                                                         org.devices[b.device_hours->device].name);
  return fmt::format("{} per {} {}", what, lang::to_literal(b.per), b.hard ? "hard" : "soft");
}

std::string to_text(const Window& w) {
  static constexpr std::string_view kDays[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
  std::string days;
  for (int first = 0; first < 7; ++first) {
    if ((w.days >> first & 1) == 0) continue;
    int last = first;
    while (last < 6 && (w.days >> (last + 1) & 1) != 0) ++last;
    days += (days.empty() ? "" : ", ") + std::string(kDays[first]);
    if (last > first) days += fmt::format("..{}", kDays[last]);
    first = last;
  }
  return fmt::format("{} {:02}:{:02}..{:02}:{:02} {}", days, w.begin_minute / 60,
                     w.begin_minute % 60, w.end_minute / 60, w.end_minute % 60, w.zone);
}

TeamView view_of(const Organisation& org, const Quota& q, TeamId id) {
  const Team& team = org.teams[id];
  TeamView view{.organisation = org.name,
                .version = org.version,
                .team = team.path,
                .parent = id == kRoot ? "" : org.teams[team.parent].path,
                .children = {},
                .classes = {},
                .members = {},
                .windows = {},
                .default_class = team.default_class ? org.classes[*team.default_class].name : "",
                .budget = budget_text(org, team),
                .weight = team.weight,
                .half_life_us = team.half_life.us,
                .devices = {}};
  for (TeamId child = id + 1; child < team.end; child = org.teams[child].end)
    view.children.push_back(org.teams[child].path);
  for (const ClassId k : team.classes) view.classes.push_back(org.classes[k].name);
  std::map<std::string, int64_t> listed;  // by table
  for (const MemberRule& rule : org.members) {
    if (rule.team != id) continue;
    if (rule.table.empty())
      view.members.push_back(fmt::format("{} \"{}\"", source_text(rule), rule.pattern));
    else
      ++listed[rule.table];
  }
  for (const auto& [table, members] : listed)
    view.members.push_back(fmt::format("file \"{}\", {}", table, plural(members, "member")));
  for (const Window& window : team.windows) view.windows.push_back(to_text(window));
  for (DeviceId d = 0; d < org.devices.size(); ++d) {
    const Limits& limits = q.limits(id, d);
    if (limits.own.value == 0 && q.limit(kRoot, d).value == 0 && q.used(id, d).value == 0) continue;
    view.devices.push_back({.device = org.devices[d].name,
                            .own_milli = limits.own.value,
                            .lend_milli = bounded(limits.lend),
                            .borrow_milli = bounded(limits.borrow),
                            .limit_milli = bounded(q.limit(id, d)),
                            .kept_milli = q.kept(id, d).value,
                            .direct_milli = q.direct(id, d).value,
                            .inner_milli = q.inner(id, d).value,
                            .load_milli = q.load(id, d).value,
                            .used_milli = q.used(id, d).value,
                            .headroom_milli = q.headroom(id, d).value,
                            .steps = steps_of(org, q, id, d)});
  }
  return view;
}

}  // namespace fairlead::policy
