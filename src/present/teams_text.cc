#include "present/teams_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/belonging.h"
#include "policy/amount.h"

namespace fairlead {
namespace {

std::string amount(int64_t milli) { return to_text(policy::Milli{milli}); }
std::string amount(std::optional<int64_t> milli) { return milli ? amount(*milli) : "-"; }

std::string budget_cell(const TeamDeviceRow& row) {
  if (row.budget.empty()) return "";
  return row.budget_used_ppm
             ? fmt::format("{} ({})", row.budget_used, share(*row.budget_used_ppm, 1'000'000))
             : row.budget;
}

// `product/search` stands below `product`, and so is `search` there; a row whose parent is not
// shown above it has its whole path.
std::string name_cell(const TeamDeviceRow& row, const TeamDeviceRow* above) {
  if (row.parent.empty()) return row.team;
  const bool below_above = above != nullptr && row.depth <= above->depth + 1;
  if (!below_above) return row.team;
  const size_t slash = row.team.rfind('/');
  return std::string(static_cast<size_t>(2 * row.depth), ' ') +
         row.team.substr(slash == row.team.npos ? 0 : slash + 1);
}

Table tree_table(const TeamList& list, bool wide) {
  Table t{.columns = {{"team"}, {"device"}, {"own", Align::right}}, .rows = {}};
  const auto add = [&](std::string title) {
    t.columns.push_back({std::move(title), Align::right});
  };
  if (wide)
    for (const char* title : {"lend", "borrow", "limit"}) add(title);
  for (const char* title : {"used", "borrowed", "headroom", "running", "waiting", "asked"})
    add(title);
  if (wide) add("weight");
  add("GPU-h");
  add("share");
  if (wide) {
    t.columns.push_back({"budget"});
    t.columns.push_back({"now"});
  }
  const TeamDeviceRow* above = nullptr;
  for (const TeamDeviceRow& r : list.teams) {
    const bool nobodys = r.team == kUnassigned;
    std::vector<std::string> cells = {name_cell(r, above), r.device,
                                      nobodys ? "-" : amount(r.own_milli)};
    if (wide)
      for (const auto& limit : {r.lend_milli, r.borrow_milli, r.limit_milli})
        cells.push_back(amount(limit));
    cells.push_back(amount(r.used_milli));
    cells.push_back(nobodys ? "-" : amount(r.borrowed_milli));
    cells.push_back(nobodys ? "-" : amount(r.headroom_milli));
    cells.push_back(with_thousands(r.running));
    cells.push_back(with_thousands(r.waiting));
    cells.push_back(amount(r.waiting_milli));
    if (wide) cells.push_back(nobodys ? "-" : with_thousands(r.weight));
    cells.push_back(nobodys ? "-" : gpu_hours(r.usage_gpu_seconds));
    cells.push_back(nobodys ? "-" : share(r.share_ppm, 1'000'000));
    if (wide) {
      cells.push_back(budget_cell(r));
      cells.push_back(r.window);
    }
    t.rows.push_back(std::move(cells));
    above = &r;
  }
  return t;
}

}  // namespace

std::string teams_text(const TeamList& list, const TextOptions& options) {
  std::string out;
  if (!list.organisation.empty())
    out += fmt::format("{} {}, as of {}\n\n", list.organisation, list.version,
                       list.as_of.known() ? local_time(list.as_of) : "no look yet");
  if (!list.teams.empty()) out += block(tree_table(list, options.wide), options, {.indent = 0});
  if (!list.unassigned.empty()) {
    Table t{.columns = {{"account"},
                        {"running", Align::right},
                        {"waiting", Align::right},
                        {"GPUs", Align::right}},
            .rows = {}};
    for (const UnassignedRow& r : list.unassigned)
      t.rows.push_back({r.account.empty() ? "(none)" : r.account, with_thousands(r.running),
                        with_thousands(r.waiting), with_thousands(r.gpus)});
    out +=
        "\n" + heading("Nobody's: no rule of `members` matches these", options) + block(t, options);
  }
  if (!list.misconfigured.empty()) {
    Table t{.columns = {{"workloads", Align::right}, {"GPUs", Align::right}, {"as"}, {"in words"}},
            .rows = {}};
    for (const MisconfiguredRow& r : list.misconfigured)
      t.rows.push_back({with_thousands(r.workloads), with_thousands(r.gpus), r.first, r.hint});
    out += "\n" + heading("Misconfigured: names that fit nothing", options) + block(t, options);
  }
  for (const std::string& note : list.notes)
    out += (out.empty() ? "" : "\n") + paragraph(note, options, 0) + "\n";
  return out;
}

Table teams_table(const TeamList& list) {
  Table t{.columns = {{"team"}, {"parent"}, {"device"}}, .rows = {}};
  for (const char* title : {"own_milli", "lend_milli", "borrow_milli", "limit_milli", "used_milli",
                            "borrowed_milli", "headroom_milli", "running", "waiting",
                            "waiting_milli", "weight", "usage_gpu_seconds", "share_ppm"})
    t.columns.push_back({title, Align::right});
  for (const char* title : {"budget", "window"}) t.columns.push_back({title});
  const auto text = [](std::optional<int64_t> value) {
    return value ? std::to_string(*value) : "";
  };
  for (const TeamDeviceRow& r : list.teams)
    t.rows.push_back({r.team, r.parent, r.device, std::to_string(r.own_milli), text(r.lend_milli),
                      text(r.borrow_milli), text(r.limit_milli), std::to_string(r.used_milli),
                      std::to_string(r.borrowed_milli), std::to_string(r.headroom_milli),
                      std::to_string(r.running), std::to_string(r.waiting),
                      std::to_string(r.waiting_milli), std::to_string(r.weight),
                      std::to_string(r.usage_gpu_seconds), std::to_string(r.share_ppm), r.budget,
                      r.window});
  return t;
}

}  // namespace fairlead
