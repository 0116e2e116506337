#include <fmt/format.h>

#include <algorithm>

#include "apps/contest_view.h"
#include "base/words.h"

namespace fairlead {
namespace {

using contest::Group;
using contest::Interval;
using contest::Score;

std::string times(int64_t milli) {
  return fmt::format("{}.{:02}", milli / 1000, milli % 1000 / 10);
}
std::string percent(std::optional<int64_t> ppm) {
  return ppm ? fmt::format("{}.{} %", *ppm / 10'000, *ppm % 10'000 / 1000) : "-";
}

Table with_columns(std::vector<std::string> names, std::vector<std::string> numbers) {
  Table t;
  for (std::string& name : names) t.columns.push_back({std::move(name)});
  for (std::string& number : numbers) t.columns.push_back({std::move(number), Align::right});
  return t;
}

struct Shown {
  std::string_view metric, title;
  std::string (*text)(int64_t);
};
constexpr Shown kSeedColumns[] = {
    {"wait_mean_us", "wait, mean", wait_text},
    {"wait_p90_us", "wait, P90", wait_text},
    {"completion_mean_us", "completion, mean", wait_text},
    {"slowdown_mean_milli", "slowdown", times},
    {"utilisation_ppm", "utilised", [](int64_t v) { return percent(v); }},
    {"share_error_ppm", "share error", [](int64_t v) { return percent(v); }},
};

}  // namespace

std::string over_seeds(int64_t seeds) {
  constexpr int64_t kFew = 40;  // of fewer the middle 95 % is all of them (contest/contest.h)
  return fmt::format("Over {}: mean [{}]", plural(seeds, "seed"),
                     seeds < kFew ? "least to most" : "middle 95 %");
}

Table contest_waits_table(const ContestView& view) {
  Table t = with_columns({"rule"}, {"wait, mean", "P50", "P90", "P99", "slowdown", "slowdown P90",
                                    "completion", "completion P99", "makespan", "never began"});
  for (const Score& s : view.rules) {
    const Group& g = s.all;
    t.rows.push_back({s.rule, wait_text(g.wait_us.mean), wait_text(g.wait_us.p50),
                      wait_text(g.wait_us.p90), wait_text(g.wait_us.p99),
                      times(g.slowdown_milli.mean), times(g.slowdown_milli.p90),
                      wait_text(g.completion_us.mean), wait_text(g.completion_us.p99),
                      wait_text(s.makespan_us), with_thousands(g.never_started)});
  }
  return t;
}

Table contest_use_table(const ContestView& view) {
  Table t = with_columns(
      {"rule"}, {"utilised", "useful", "fragmented", "share error", "finish-time fairness", "worst",
                 "unfair", "evictions", "lost GPU-hours"});
  for (const Score& s : view.rules) {
    const auto& f = s.finish_time_fairness;
    t.rows.push_back({s.rule, percent(s.utilisation_ppm), percent(s.useful_ppm),
                      percent(s.fragmentation_ppm), percent(s.share_error_ppm),
                      f ? times(f->mean_milli) : "-", f ? times(f->worst_milli) : "-",
                      f ? percent(f->unfair_ppm) : "-", with_thousands(s.all.evictions),
                      gpu_hours(s.all.lost_gpu_seconds)});
  }
  return t;
}

// Each group's rules under one another.
Table contest_groups_table(const ContestView& view, bool teams) {
  Table t = with_columns({teams ? "team" : "class", "rule"},
                         {"workloads", "wait, mean", "P50", "P90", "P99", "slowdown", "completion",
                          "evictions", "lost GPU-hours"});
  if (view.rules.empty()) return t;
  const auto groups_of = [&](const Score& s) -> const std::vector<Group>& {
    return teams ? s.teams : s.classes;
  };
  std::vector<Group> order = groups_of(view.rules.front());
  std::ranges::sort(order, {}, [](const Group& g) { return std::pair(-g.workloads, g.name); });
  for (const Group& first : order) {
    for (const Score& s : view.rules) {
      const auto g = std::ranges::find(groups_of(s), first.name, &Group::name);
      if (g == groups_of(s).end()) continue;
      t.rows.push_back({&s == &view.rules.front() ? g->name : "", s.rule,
                        with_thousands(g->workloads), wait_text(g->wait_us.mean),
                        wait_text(g->wait_us.p50), wait_text(g->wait_us.p90),
                        wait_text(g->wait_us.p99), times(g->slowdown_milli.mean),
                        wait_text(g->completion_us.mean), with_thousands(g->evictions),
                        gpu_hours(g->lost_gpu_seconds)});
    }
  }
  return t;
}

Table contest_seeds_table(const ContestView& view) {
  Table t{.columns = {{"rule"}}, .rows = {}};
  for (const Shown& shown : kSeedColumns)
    t.columns.push_back({std::string(shown.title), Align::right});
  for (const Score& s : view.rules) {
    if (s.seeds.empty()) continue;
    auto& row = t.rows.emplace_back();
    row.push_back(s.rule);
    for (const Shown& shown : kSeedColumns) {
      const auto i = std::ranges::find(s.seeds, shown.metric, &Interval::metric);
      row.push_back(i == s.seeds.end() ? "-"
                                       : fmt::format("{} [{}, {}]", shown.text(i->mean),
                                                     shown.text(i->low), shown.text(i->high)));
    }
  }
  return t;
}

std::string contest_text(const ContestView& v, const TextOptions& o) {
  std::string out =
      paragraph(fmt::format("{}: {}, submitted {} to {}, on {} ({}), by {}", v.history,
                            plural(v.workloads, "workload"), short_time(v.from),
                            short_time(v.until), v.fleet, plural(v.gpus, "GPU"), v.organisation),
                o, 0);
  out += heading("Waits, from submission, beyond the job's own run", o);
  out += block(contest_waits_table(v), o);
  out += heading("Use and fairness", o);
  out += block(contest_use_table(v), o);
  const size_t groups_shown = 5 * v.rules.size();
  out += heading("By class", o);
  out += block(contest_groups_table(v, false), o, {.rows_max = groups_shown});
  out += heading("By team", o);
  out += block(contest_groups_table(v, true), o, {.rows_max = groups_shown});
  if (v.seeds > 0) {
    out += heading(over_seeds(v.seeds), o);
    out += block(contest_seeds_table(v), o);
  }
  out += heading("What to know", o);
  for (const std::string& note : v.notes) out += paragraph(note, o);
  out += fmt::format("\ndigest {}\nagain: {}\n", v.digest, printable(v.repeat));
  return out;
}

Table contest_table(const ContestView& v) {
  Table t =
      with_columns({"rule", "group", "name"},
                   {"workloads", "never_started", "wait_us_mean", "wait_us_p50", "wait_us_p90",
                    "wait_us_p99", "slowdown_milli_mean", "completion_us_mean", "completion_us_p99",
                    "evictions", "lost_gpu_seconds", "makespan_us", "utilisation_ppm", "useful_ppm",
                    "fragmentation_ppm", "share_error_ppm", "finish_time_fairness_mean_milli",
                    "finish_time_fairness_worst_milli", "unfair_ppm"});
  const auto add = [&](const Score& s, std::string group, const Group& g) {
    std::vector<std::string> row = {s.rule, std::move(group), g.name};
    for (const int64_t n :
         {g.workloads, g.never_started, g.wait_us.mean, g.wait_us.p50, g.wait_us.p90, g.wait_us.p99,
          g.slowdown_milli.mean, g.completion_us.mean, g.completion_us.p99, g.evictions,
          g.lost_gpu_seconds})
      row.push_back(std::to_string(n));
    row.resize(t.columns.size());
    t.rows.push_back(std::move(row));
  };
  for (const Score& s : v.rules) {
    add(s, "all", s.all);
    std::vector<std::string>& row = t.rows.back();
    const auto text = [](std::optional<int64_t> n) { return n ? std::to_string(*n) : ""; };
    const auto& f = s.finish_time_fairness;
    std::vector<std::string> whole = {std::to_string(s.makespan_us),
                                      std::to_string(s.utilisation_ppm),
                                      std::to_string(s.useful_ppm),
                                      text(s.fragmentation_ppm),
                                      text(s.share_error_ppm),
                                      f ? std::to_string(f->mean_milli) : "",
                                      f ? std::to_string(f->worst_milli) : "",
                                      f ? std::to_string(f->unfair_ppm) : ""};
    std::ranges::move(whole, row.end() - std::ssize(whole));
    for (const Group& g : s.classes) add(s, "class", g);
    for (const Group& g : s.teams) add(s, "team", g);
  }
  return t;
}

}  // namespace fairlead
