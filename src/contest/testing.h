// Small matches for the tests of this module.
#pragma once

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "contest/arena.h"
#include "lang/source.h"
#include "policy/check.h"

namespace fairlead::contest::testing {

struct JobRow {
  int64_t submit = 0, length = 0;
  int64_t devices = 1;
  int64_t limit = 0;  // 0: the length
  std::string team = {}, klass = {};
};

inline policy::Organisation organisation_of(const std::string& text) {
  lang::Sources sources;
  sources.add("test.policy", text);
  const auto checked = policy::check_files(sources, {});
  for (const auto& d : checked.problems)
    if (d.severity == lang::Severity::error)
      std::fprintf(stderr, "%s", lang::to_text(d, sources).c_str());
  return checked.organisation;
}

constexpr const char* kPlain =
    "org acme v1\nlang 1\nteam acme { own 16 H100 }\nclass batch { rank 1 }\n";

// `nodes` of `each` devices; seconds count from kZero.
constexpr int64_t kZero = 1'767'225'600;
inline Match match_of(int32_t nodes, int32_t each, const std::vector<JobRow>& rows,
                      const std::string& policy = kPlain) {
  Match match{
      .organisation = organisation_of(policy), .zones = {}, .fleet = {}, .jobs = {}, .notes = {}};
  match.own_entitlement = anybody_owns(match.organisation);
  match.fleet = {{.nodes = nodes, .each = each, .device = 0}};
  std::map<Gang, uint32_t> shapes;
  for (const JobRow& row : rows) {
    Job job{.submit = kZero + row.submit,
            .length = row.length,
            .limit = row.limit > 0 ? row.limit : row.length,
            .gang = gang_of(0, row.devices, each),
            .name = static_cast<uint32_t>(match.jobs.size())};
    if (!row.team.empty()) job.team = *match.organisation.team(row.team);
    if (!row.klass.empty()) job.klass = *match.organisation.klass(row.klass);
    job.shape = shapes.try_emplace(job.gang, shapes.size()).first->second;
    match.jobs.push_back(job);
  }
  sort_by_submission(match.jobs);
  match.shapes = static_cast<uint32_t>(shapes.size());
  return match;
}

inline Outcome played(const Match& match, Rival& rival) {
  Arena arena(match);
  return arena.play(rival);
}

// When each began, in seconds from the beginning; -1: never.
inline std::vector<int64_t> starts_of(const Outcome& outcome) {
  std::vector<int64_t> starts;
  for (const Fate& f : outcome.fates) starts.push_back(f.end == 0 ? -1 : f.start - kZero);
  return starts;
}

}  // namespace fairlead::contest::testing
