#include "views/comparison.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/belonging.h"

namespace fairlead {
namespace {

void add(ComparisonRow& row, const ScoredSuggestion& s) {
  if (!s.started.known()) {
    ++row.went_away;
    return;
  }
  const int64_t sooner = std::max<int64_t>(0, (s.started - s.suggested).us);
  ++row.started;
  row.sooner_us += sooner;  // the sum until it is divided
  row.sooner_most_us = std::max(row.sooner_most_us, sooner);
  row.sooner_gpu_seconds += sooner / 1'000'000 * s.devices;
  row.with_victims += s.victims > 0 ? 1 : 0;
}

SuggestionRow row_of(const State& state, WorkloadId id, const Suggestion& s) {
  const Workload& w = state.workloads.at(id);
  SuggestionRow row{.workload = w.job.label,
                    .team = state.names.name(w.team),
                    .klass = state.names.name(w.klass),
                    .kind = s.kind,
                    .since = s.since,
                    .tasks = s.tasks,
                    .gpus = s.devices,
                    .nodes = s.nodes,
                    .takes_back = {},
                    .claimant = {},
                    .rule = s.rule,
                    .lost_gpu_seconds = s.lost_device_seconds,
                    .moves = moves_told(state, s.moves)};
  const auto label = [&](WorkloadId other) {
    const auto found = state.workloads.find(other);
    return found == state.workloads.end() ? std::string() : found->second.job.label;
  };
  if (s.claimant != 0) row.claimant = label(s.claimant);
  for (const WorkloadId victim : s.victims) row.takes_back.push_back(label(victim));
  return row;
}

void add_page(const State& state, const ComparisonFilter& filter, Comparison& c) {
  std::vector<std::pair<WorkloadId, const Suggestion*>> chosen;
  for (const auto& [id, s] : state.suggested.now) {
    const auto workload = state.workloads.find(id);
    if (workload == state.workloads.end()) continue;
    if (!filter.kind.empty() && filter.kind != enum_name(s.kind)) continue;
    if (!filter.team.empty() && filter.team != state.names.name(workload->second.team)) continue;
    chosen.emplace_back(id, &s);
  }
  std::ranges::sort(chosen, {}, [](const auto& item) {
    return std::tuple(item.second->kind, item.second->since, item.first);
  });
  const size_t begin = std::min(filter.after, chosen.size());
  const size_t end = std::min(chosen.size() - begin, std::max<size_t>(1, filter.most)) + begin;
  for (size_t i = begin; i < end; ++i)
    c.now.push_back(row_of(state, chosen[i].first, *chosen[i].second));
  if (end < chosen.size()) c.next_cursor = static_cast<int64_t>(end);
}

}  // namespace

Comparison comparison_of(const State& state, const ComparisonFilter& filter) {
  const Instant from = filter.from;
  Comparison c{.site = state.site,
               .as_of = state.source(Source::scheduler).last_ok,
               .from = from,
               .organisation = {},
               .looks = state.suggested.card.looks,
               .not_foreseen = state.suggested.card.not_foreseen,
               .teams = {},
               .now = {},
               .estimates = estimates_of(state),
               .note = {}};
  c.organisation = organisation_title(state);
  if (!state.organisation)
    c.note = "no organisation is known, so nothing is suggested: `organisation:` in fairlead.yaml";
  ComparisonRow all{.team = "(all)"};
  std::map<std::string, ComparisonRow> teams;
  for (const ScoredSuggestion& s : state.suggested.card.last) {
    if (from.known() && (s.started.known() ? s.started : s.suggested) < from) continue;
    add(all, s);
    ComparisonRow& team = teams[s.team];
    team.team = s.team;
    add(team, s);
  }
  c.teams.push_back(all);
  for (auto& [name, row] : teams) c.teams.push_back(std::move(row));
  for (ComparisonRow& row : c.teams)
    if (row.started > 0) row.sooner_us /= row.started;
  add_page(state, filter, c);
  return c;
}

}  // namespace fairlead
