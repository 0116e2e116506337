#include "policy/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "lang/units.h"
#include "policy/team_view.h"

namespace fairlead::policy {
namespace {

// Orders subjects as a file does.
enum class Section : uint8_t { organisation, devices, klass, team, reclaim };

struct Subject {
  Section section{};
  std::string name;
  auto operator<=>(const Subject&) const = default;
};
using Statements = std::map<std::string, std::string>;
using Facts = std::map<Subject, Statements>;

std::string text_of(const Cap& cap, std::string_view what) {
  return fmt::format("{} {} per {}", cap.most, what, lang::to_literal(cap.per));
}

class Reader {
 public:
  explicit Reader(const Organisation& org) : org_(org) {}

  Facts read() {
    at({Section::organisation, "organisation"}) = {{"name", org_.name}, {"version", org_.version}};
    for (const DeviceClass& d : org_.devices) {
      Statements& s = at({Section::devices, "devices " + d.name});
      s["models"] = fmt::format("{}", fmt::join(d.models, ", "));
      if (d.price) s["price"] = lang::money_literal(*d.price) + "/h";
    }
    for (const Class& k : org_.classes) add_class(k);
    for (TeamId t = 0; t < org_.teams.size(); ++t) add_team(t);
    add_members();
    if (org_.idle) add_idle(*org_.idle);
    if (org_.for_waiting) add_for_waiting(*org_.for_waiting);
    return std::move(facts_);
  }

 private:
  Statements& at(const Subject& subject) { return facts_[subject]; }
  std::string names(const std::vector<ClassId>& classes) const {
    std::string text;
    for (const ClassId k : classes) text += (text.empty() ? "" : ", ") + org_.classes[k].name;
    return text;
  }

  void add_class(const Class& k) {
    Statements& s = at({Section::klass, "class " + k.name});
    s["rank"] = std::to_string(k.rank);
    if (!k.preempts.empty()) s["preempts"] = names(k.preempts);
    if (k.anywhere)
      s["anywhere"] = k.anywhere_up_to
                          ? fmt::format("up-to {} {}", to_text(k.anywhere_up_to->milli),
                                        org_.devices[k.anywhere_up_to->device].name)
                          : "yes";
    if (k.never_preempted) s["never-preempted"] = "yes";
    if (k.min_run.us > 0) s["min-run"] = lang::to_literal(k.min_run);
    if (k.restart_cost.us > 0) s["restart-cost"] = lang::to_literal(k.restart_cost);
    if (k.most_devices) s["most"] = fmt::format("{} per workload", *k.most_devices);
    if (k.most_time) s["most-time"] = lang::to_literal(*k.most_time);
  }

  // No `lend` is everything and no `borrow` no limit: said where a team owns or is limited at all.
  void add_limits(Statements& s, const std::vector<Limits>& limits) const {
    for (DeviceId d = 0; d < limits.size(); ++d) {
      const std::string& device = org_.devices[d].name;
      if (limits[d].own.value != 0) s["own " + device] = to_text(limits[d].own);
      if (!limits[d].lend.is_unlimited()) s["lend " + device] = to_text(limits[d].lend);
      if (!limits[d].borrow.is_unlimited()) s["borrow " + device] = to_text(limits[d].borrow);
    }
  }
  void add_team(TeamId t) {
    const Team& team = org_.teams[t];
    const Team& parent = org_.teams[team.parent];
    const bool is_root = t == kRoot;
    Statements& s = at({Section::team, "team " + team.path});
    add_limits(s, team.limits);
    s["weight"] = std::to_string(team.weight);
    if (is_root || team.half_life != parent.half_life)
      s["half-life"] = lang::to_literal(team.half_life);
    if (team.classes.size() < org_.classes.size() && (is_root || team.classes != parent.classes))
      s["classes"] = names(team.classes);
    if (team.default_class && (is_root || team.default_class != parent.default_class))
      s["default class"] = org_.classes[*team.default_class].name;
    if (team.budget) s["budget"] = budget_text(org_, team);
    for (const Window& w : team.windows) {
      Statements outside, inside;
      add_limits(outside, team.limits);
      add_limits(inside, w.limits);
      outside["weight"] = std::to_string(team.weight);
      inside["weight"] = std::to_string(w.weight);
      for (const auto& [what, value] : outside) {
        if (!inside.contains(what)) inside[what] = "none";
        if (inside[what] == value) inside.erase(what);
      }
      std::string text;
      for (const auto& [what, value] : inside)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, value);
      s["during " + to_text(w)] = text.empty() ? "as outside" : text;
    }
  }
  void add_members() {
    std::map<std::pair<TeamId, std::string>, std::vector<std::string>> lists;
    for (const MemberRule& rule : org_.members)
      lists[{rule.team, source_text(rule)}].push_back(rule.pattern);
    for (auto& [key, patterns] : lists) {
      std::ranges::sort(patterns);
      constexpr size_t kNamed = 20;  // chosen: a table may list thousands
      const size_t more = patterns.size() - std::min(patterns.size(), kNamed);
      Hasher all;
      for (const std::string& pattern : patterns) all.add(pattern);
      std::string text;
      for (size_t i = 0; i < patterns.size() - more; ++i)
        text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", patterns[i]);
      if (more > 0) text += fmt::format(" and {} more, {}", more, to_text(all.digest()));
      at({Section::team, "team " + org_.teams[key.first].path})["members " + key.second] = text;
    }
  }
  void add_idle(const ReclaimIdle& idle) {
    Statements& s = at({Section::reclaim, "reclaim idle"});
    if (!idle.kinds.empty()) s["kinds"] = fmt::format("{}", fmt::join(idle.kinds, ", "));
    for (const Exempt& e : idle.unless)
      s["unless class " + org_.classes[e.klass].name] = "for " + lang::to_literal(e.time);
    for (size_t rung = 0; rung < idle.after.size(); ++rung)
      if (idle.after[rung])
        s[std::string(kRungNames[rung])] = "after " + lang::to_literal(*idle.after[rung]);
    if (idle.most) s["most"] = text_of(*idle.most, "gpu");
  }
  void add_for_waiting(const ReclaimForWaiting& r) {
    Statements& s = at({Section::reclaim, "reclaim for-waiting"});
    if (r.wait) s["wait"] = lang::to_literal(*r.wait);
    if (r.ask) s["ask"] = "checkpoint, " + lang::to_literal(*r.ask);
    if (r.most) s["most"] = text_of(*r.most, "evictions");
  }

  const Organisation& org_;
  Facts facts_;
};

void compare(const std::string& subject, const Statements& before, const Statements& after,
             std::vector<PolicyChange>& changes) {
  Statements all = before;
  all.insert(after.begin(), after.end());
  for (const auto& [what, ignored] : all) {
    const auto b = before.find(what), a = after.find(what);
    if (b == before.end())
      changes.push_back({ChangeKind::added, subject, what, "", a->second});
    else if (a == after.end())
      changes.push_back({ChangeKind::removed, subject, what, b->second, ""});
    else if (a->second != b->second)
      changes.push_back({ChangeKind::changed, subject, what, b->second, a->second});
  }
}

}  // namespace

std::vector<PolicyChange> changes_between(const Organisation& before, const Organisation& after) {
  const Facts old_facts = Reader(before).read(), new_facts = Reader(after).read();
  std::map<Subject, int> subjects;
  for (const auto* facts : {&old_facts, &new_facts})
    for (const auto& [subject, statements] : *facts) subjects[subject];
  static const Statements kNone;
  std::vector<PolicyChange> changes;
  for (const auto& [subject, ignored] : subjects) {
    const auto b = old_facts.find(subject), a = new_facts.find(subject);
    const bool was = b != old_facts.end(), is = a != new_facts.end();
    if (was != is)
      changes.push_back({is ? ChangeKind::added : ChangeKind::removed, subject.name, "", "", ""});
    compare(subject.name, was ? b->second : kNone, is ? a->second : kNone, changes);
  }
  return changes;
}

}  // namespace fairlead::policy
