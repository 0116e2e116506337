// Amounts: who owns, lends and may borrow how much, by the clock too.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "policy/check_parts.h"
#include "policy/week.h"

namespace fairlead::policy {
namespace {

using lang::in_quotes;

Opening opening_of(const Window& w) { return {w.days, w.begin_minute, w.end_minute}; }

// What is in force at a minute of the week: the team's own line, or one of its windows.
struct InForce {
  Milli own;
  const WindowNode* window = nullptr;
};

struct Family {
  CheckContext& c;
  TeamId parent;
  DeviceId device;

  const std::string& device_name() const { return c.org.devices[device].name; }

  InForce at(TeamId team, int minute) const {
    const Team& t = c.org.teams[team];
    for (size_t w = 0; w < t.windows.size(); ++w) {
      if (is_open(opening_of(t.windows[w]), minute))
        return {t.windows[w].limits[device].own, &c.team_nodes[team]->windows[w]};
    }
    return {t.limits[device].own, nullptr};
  }

  // Where a team's amount is written, as far as it is.
  lang::Label written(TeamId team, const InForce& in_force, std::string text) const {
    const TeamNode& node = *c.team_nodes[team];
    if (in_force.window != nullptr)
      if (const auto* a = amount_of(in_force.window->limits.own, device_name()))
        return {a->span, std::move(text)};
    if (const auto* a = amount_of(node.limits.own, device_name()))
      return {a->span, std::move(text)};
    return {node.head, std::move(text)};
  }

  std::vector<TeamId> children() const {
    std::vector<TeamId> ids;
    for (TeamId id = parent + 1; id < c.org.teams[parent].end; id = c.org.teams[id].end)
      ids.push_back(id);
    return ids;
  }

  // Returns whether the children own too much at that minute, and tells of it.
  bool told_at(int minute) const {
    constexpr size_t kShown = 6;  // chosen: more second places than that hide the first
    const InForce owns = at(parent, minute);
    Milli sum;
    std::vector<lang::Label> labels;
    const WindowNode* window = owns.window;
    for (const TeamId child : children()) {
      const InForce theirs = at(child, minute);
      sum = sum + theirs.own;
      if (theirs.window != nullptr) window = theirs.window;
      if (theirs.own.value > 0 && labels.size() < kShown)
        labels.push_back(written(child, theirs, fmt::format("{} of them", to_text(theirs.own))));
    }
    if (sum <= owns.own) return false;
    const std::string& name = c.org.teams[parent].name;
    const std::string when =
        window == nullptr ? "" : fmt::format(" in {}", in_quotes(c.sources.text(window->span)));
    c.error("E801",
            fmt::format("the teams of {} own {} together{}; {} owns {}", in_quotes(name),
                        amount_text(sum, device_name()), when, in_quotes(name),
                        owns.own.value == 0 ? "none" : to_text(owns.own)),
            written(parent, owns,
                    owns.own.value == 0 ? "owns none" : fmt::format("owns {}", to_text(owns.own))),
            fmt::format("{} `own {}`, or lower what its teams own",
                        owns.own.value == 0 ? "give it" : "raise it to",
                        amount_text(sum, device_name())),
            std::move(labels));
    return true;
  }

  // The minutes at which something changes; -1 stands for a time outside every window.
  std::set<int> minutes() const {
    std::set<int> minutes;
    std::vector<TeamId> ids = children();
    ids.push_back(parent);
    for (const TeamId id : ids) {
      for (const Window& w : c.org.teams[id].windows) {
        for (const WeekSpan& span : spans_of(opening_of(w))) {
          minutes.insert(span.begin);
          minutes.insert(span.end % kMinutesOfWeek);
        }
      }
    }
    return minutes;
  }
};

// E801. Windows in several zones are compared as if all followed one clock: they shift against each
// other by the hour, so the planner, which knows the instant, is what holds then.
void check_children(CheckContext& c, TeamId parent) {
  if (c.team_nodes[parent] == nullptr) return;  // a root that was made owns what they own
  for (DeviceId device = 0; device < c.org.devices.size(); ++device) {
    const Family family{c, parent, device};
    if (family.children().empty()) continue;
    const std::set<int> minutes = family.minutes();
    if (minutes.empty()) {
      family.told_at(0);
      continue;
    }
    for (const int minute : minutes)
      if (family.told_at(minute)) break;
  }
}

// E805, W813.
void check_lending(CheckContext& c, TeamId team, const LimitsNode& written,
                   const std::vector<Limits>& limits, const LimitsNode& base) {
  for (const AmountNode& lends : written.lend) {
    const auto device = c.device(lends.device);
    if (!device) continue;
    const Milli own = limits[*device].own;
    const std::string& name = c.org.teams[team].name;
    const AmountNode* owns = amount_of(written.own, lends.device.value);
    if (owns == nullptr) owns = amount_of(base.own, lends.device.value);
    if (lends.amount > own) {
      auto& d = c.error("E805",
                        fmt::format("{} lends {} but owns {}", in_quotes(name),
                                    amount_text(lends.amount, lends.device.value),
                                    own.value == 0 ? "none" : to_text(own)),
                        {lends.span, "more than it owns"},
                        own.value == 0 ? "delete it: a team can lend only what it owns itself"
                                       : fmt::format("write `lend {}`, or raise what it owns",
                                                     amount_text(own, lends.device.value)));
      if (owns != nullptr) d.others.push_back({owns->span, fmt::format("owns {}", to_text(own))});
    } else if (lends.amount.value == 0 && own.value > 0 && team != kRoot) {
      auto& d = c.warning("W813",
                          fmt::format("{} can never lend any of its {}", in_quotes(name),
                                      amount_text(own, lends.device.value)),
                          {lends.span, "lends none"},
                          "delete it to lend what is not used, or leave it so on purpose");
      if (owns != nullptr) d.others.push_back({owns->span, fmt::format("owns {}", to_text(own))});
    }
  }
}

}  // namespace

void check_limits(CheckContext& c) {
  for (TeamId team = 0; team < c.org.teams.size(); ++team) {
    check_children(c, team);
    const TeamNode* node = c.team_nodes[team];
    if (node == nullptr) continue;
    check_lending(c, team, node->limits, c.org.teams[team].limits, node->limits);
    for (size_t w = 0; w < node->windows.size(); ++w)
      check_lending(c, team, node->windows[w].limits, c.org.teams[team].windows[w].limits,
                    node->limits);
  }
}

void check_windows(CheckContext& c) {
  for (TeamId team = 0; team < c.org.teams.size(); ++team) {
    if (c.team_nodes[team] == nullptr) continue;
    const auto& nodes = c.team_nodes[team]->windows;
    const auto& windows = c.org.teams[team].windows;
    for (size_t b = 0; b < nodes.size(); ++b) {
      if (c.options.zone_exists && !c.options.zone_exists(nodes[b].zone.value)) {
        c.error("E810", fmt::format("there is no time zone {}", in_quotes(nodes[b].zone.value)),
                {nodes[b].zone.span, "unknown time zone"},
                "write one such as `Europe/Berlin` or `UTC`");
      }
      for (size_t a = 0; a < b; ++a) {
        const bool zones_differ = windows[a].zone != windows[b].zone;
        if (!zones_differ && !overlap(opening_of(windows[a]), opening_of(windows[b]))) continue;
        c.error(
            "E806",
            zones_differ
                ? "two windows of one team must be in one time zone, or nobody can say that they "
                  "do not overlap"
                : fmt::format("two windows of {} are open at one time",
                              in_quotes(c.org.teams[team].name)),
            {nodes[b].span, zones_differ ? "another zone" : "overlaps"},
            zones_differ ? fmt::format("write both in {}", in_quotes(nodes[a].zone.value))
                         : "let one end where the other begins",
            {{nodes[a].span, zones_differ ? "one zone" : "with this"}});
        break;
      }
    }
  }
}

// W812, W815.
void check_fleet(CheckContext& c) {
  if (c.options.fleet.empty() || c.org.teams.empty()) return;
  const TeamNode* node = c.team_nodes[kRoot];
  const Span head = node != nullptr          ? node->head
                    : c.tree.headers.empty() ? Span{}
                                             : c.tree.headers.front().span;
  for (DeviceId d = 0; d < c.org.devices.size(); ++d) {
    const std::string& device = c.org.devices[d].name;
    const auto up = c.options.fleet.find(device);
    if (up == c.options.fleet.end()) continue;
    const Milli fleet = up->second;
    const Milli own = c.org.teams[kRoot].limits[d].own;
    if (own == fleet) continue;
    const AmountNode* written = node != nullptr ? amount_of(node->limits.own, device) : nullptr;
    const bool less = own < fleet;
    c.warning(less ? "W812" : "W815",
              fmt::format("the fleet has {}, {} owns {}", amount_text(fleet, device),
                          in_quotes(c.org.teams[kRoot].name), to_text(own)),
              {written != nullptr ? written->span : head,
               less ? fmt::format("{} belong to nobody", to_text(fleet - own))
                    : fmt::format("{} are not there", to_text(own - fleet))},
              fmt::format("write `own {}`", amount_text(fleet, device)));
  }
}

// W817: a budget in money does not see what has no price. Where nothing has one, none is followed,
// and `fairlead teams` shows it without a sum.
void check_budgets(CheckContext& c) {
  std::vector<std::string> unpriced;
  for (const DeviceClass& device : c.org.devices)
    if (!device.price) unpriced.push_back(device.name);
  if (unpriced.empty() || unpriced.size() == c.org.devices.size()) return;
  for (TeamId team = 0; team < c.org.teams.size(); ++team) {
    const TeamNode* node = c.team_nodes[team];
    if (node == nullptr || !node->budget || !node->budget->micro_dollars) continue;
    c.warning("W817",
              fmt::format("the budget of {} is in money, and nothing says what {} {}",
                          in_quotes(c.org.teams[team].name), fmt::join(unpriced, ", "),
                          unpriced.size() == 1 ? "costs" : "cost"),
              {node->budget->span, "counts only what has a price"},
              fmt::format("write `price {} $2.50/h` with your own price", unpriced.front()));
  }
}

}  // namespace fairlead::policy
