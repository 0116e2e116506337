// fairlead policy explain: a team's arithmetic with its numbers.
#include <fmt/format.h>

#include "apps/policy_input.h"
#include "base/words.h"
#include "lang/units.h"
#include "policy/team_view.h"
#include "present/table.h"

namespace fairlead {
namespace {

// --holds "product/search=40 H100"
Result<void> take_holds(const PolicyArguments& a, const policy::Organisation& org,
                        policy::Quota& quota) {
  for (const std::string& text : a.holds) {
    const size_t equals = text.find('=');
    const auto amount =
        read_amount(text.substr(equals == std::string::npos ? 0 : equals + 1), "--holds TEAM=");
    if (!amount) return std::unexpected(amount.error());
    const auto team = org.team(text.substr(0, equals));
    const auto device = org.device(amount->first);
    if (equals == std::string::npos || !team || !device)
      return fail("usage", fmt::format("'{}' names no {}", text, !team ? "team" : "device class"),
                  "--holds \"product/search=40 H100\"");
    quota.charge(*team, *device, amount->second);
  }
  return {};
}

// The limits that hold at that instant, by the zones of this machine.
Result<void> take_calendar(const PolicyArguments& a, const policy::Organisation& org,
                           policy::Quota& quota) {
  if (a.at.empty()) return {};
  const auto at = parse_rfc3339(a.at);
  if (!at)
    return fail("usage", fmt::format("'{}' is no instant", a.at), "--at 2026-06-01T10:00:00+02:00");
  const auto zones = read_zones(org);
  if (!zones) return std::unexpected(zones.error());
  policy::follow_calendar(org, *zones, *at, quota);
  return {};
}

std::string limit_text(std::optional<int64_t> milli) {
  return milli ? policy::to_text(policy::Milli{*milli}) : "-";
}

Table table_of(const policy::TeamView& view) {
  Table t{.columns = {{"device"}}, .rows = {}};
  for (const char* title :
       {"own", "lend", "kept", "borrow", "limit", "direct", "inner", "load", "used", "headroom"})
    t.columns.push_back({title, Align::right});
  for (const auto& d : view.devices) {
    const auto text = [](int64_t milli) { return policy::to_text(policy::Milli{milli}); };
    t.rows.push_back({d.device, text(d.own_milli), limit_text(d.lend_milli), text(d.kept_milli),
                      limit_text(d.borrow_milli), limit_text(d.limit_milli), text(d.direct_milli),
                      text(d.inner_milli), text(d.load_milli), text(d.used_milli),
                      text(d.headroom_milli)});
  }
  return t;
}

std::string text_of(const policy::TeamView& v, bool headers) {
  std::string out = fmt::format("{}  {}of {} {}\n", v.team,
                                v.parent.empty() ? "the root " : fmt::format("in {}, ", v.parent),
                                v.organisation, v.version);
  const auto line = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) out += fmt::format("  {:<9} {}\n", key, value);
  };
  line("weight", fmt::format("{}", v.weight));
  line("half-life", fmt::format("{}", lang::to_literal({v.half_life_us})));
  line("classes", fmt::format("{}", fmt::join(v.classes, ", ")));
  line("default", v.default_class);
  line("budget", v.budget);
  for (const std::string& window : v.windows) line("during", window);
  for (const std::string& member : v.members) line("members", member);
  line("teams", fmt::format("{}", fmt::join(v.children, ", ")));
  out += "\n" + to_text(table_of(v), {.headers = headers});
  for (const auto& d : v.devices) {
    out += fmt::format("\n{}\n", d.device);
    for (const std::string& step : d.steps) out += "  " + step + "\n";
  }
  return out;
}

}  // namespace

int explain_policy_team(Program& p, const PolicyArguments& a) {
  const auto loaded = load_good_policy(a);
  if (!loaded) return complain(loaded.error());
  const auto& org = loaded->checked.organisation;
  const auto team = org.team(a.team);
  if (!team) {
    std::vector<std::string> paths;
    for (const auto& t : org.teams) paths.push_back(t.path);
    const auto meant = nearest_word(a.team, paths);
    return complain(policy_problem("usage", fmt::format("there is no team '{}'", a.team),
                                   !meant.empty()
                                       ? fmt::format("did you mean '{}'?", meant)
                                       : fmt::format("teams are {}", fmt::join(paths, ", "))));
  }
  policy::Quota quota(org);
  if (const auto followed = take_calendar(a, org, quota); !followed)
    return complain(followed.error());
  const auto fleet = read_fleet(a.fleet);
  if (!fleet) return complain(fleet.error());
  for (const auto& [name, amount] : *fleet)
    if (const auto device = org.device(name)) quota.set_capacity(*device, amount);
  if (const auto held = take_holds(a, org, quota); !held) return complain(held.error());
  return print_view(
      policy::view_of(org, quota, *team), p.output,
      [&](const policy::TeamView& v, const TextOptions&) { return text_of(v, p.output.headers); },
      [](const policy::TeamView& v) { return table_of(v); }, kNoRows);
}

}  // namespace fairlead
