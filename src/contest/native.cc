// The history's own outcome, and teams alone on what they are entitled to.
#include <algorithm>

#include "contest/entitlement.h"
#include "contest/rivals.h"
#include "contest/score.h"

namespace fairlead::contest {

Outcome native_outcome(const Match& match) {
  Outcome out;
  out.placed = false;
  out.fates.reserve(match.jobs.size());
  Use& use = out.use;
  use.from = match.jobs.front().submit;
  use.until = match.jobs.back().submit;
  for (const Job& job : match.jobs) {
    out.fates.push_back(
        {.start = job.began, .end = job.ended, .lost = job.lost, .evictions = job.requeues});
    if (use.from == match.jobs.back().submit) use.until = std::max(use.until, job.ended);
  }
  int64_t capacity = 0;
  for (const NodeGroup& g : match.fleet) capacity += int64_t{g.nodes} * g.each;
  use.capacity = capacity * (use.until - use.from);
  for (const Job& job : match.jobs) {
    const int64_t begin = std::max(job.began, use.from), end = std::min(job.ended, use.until);
    use.held += std::max<int64_t>(0, end - begin) * job.gang.total() + job.lost;
  }
  return out;
}

namespace {

// What a team may call its own of each device class: what it owns beyond its sub-teams, else, where
// nobody owns anything, its part by weight.
std::vector<int64_t> entitlement_of(const Match& match, TeamId team,
                                    const std::vector<int64_t>& by_weight) {
  const auto& teams = match.organisation.teams;
  const size_t devices = match.organisation.devices.size();
  std::vector<int64_t> own(devices);
  for (DeviceId d = 0; d < devices; ++d) {
    if (!match.own_entitlement) {
      own[d] = by_weight[team * devices + d];
      continue;
    }
    if (team == policy::kRoot) continue;
    own[d] = teams[team].limits[d].own.value / 1000;
    for (TeamId c = team + 1; c < teams[team].end; c = teams[c].end)
      own[d] -= teams[c].limits[d].own.value / 1000;
  }
  return own;
}

}  // namespace

std::vector<int64_t> completions_alone(const Match& match) {
  const size_t devices = match.organisation.devices.size();
  std::vector<int64_t> wants(match.organisation.teams.size() * devices);
  for (const Job& job : match.jobs) wants[job.team * devices + job.gang.device] += 1'000'000;
  const std::vector<int64_t> by_weight = fair_amounts(match, wants);
  std::vector<std::vector<JobIndex>> of_team(match.organisation.teams.size());
  for (JobIndex i = 0; i < match.jobs.size(); ++i) of_team[match.jobs[i].team].push_back(i);
  std::vector<int64_t> alone(match.jobs.size());
  for (TeamId team = 0; team < of_team.size(); ++team) {
    const std::vector<int64_t> own = entitlement_of(match, team, by_weight);
    Match small{.organisation = match.organisation,
                .zones = {},
                .fleet = {},
                .jobs = {},
                .shapes = match.shapes,
                .notes = {}};
    for (DeviceId d = 0; d < devices; ++d) {
      if (own[d] > 0)  // of one device each: an entitlement says nothing of nodes
        small.fleet.push_back({.nodes = static_cast<int32_t>(own[d]), .each = 1, .device = d});
    }
    std::vector<JobIndex> who;
    for (const JobIndex i : of_team[team]) {
      Job job = match.jobs[i];
      if (job.gang.total() > own[job.gang.device]) continue;
      job.gang = gang_of(job.gang.device, job.gang.total(), 1);
      small.jobs.push_back(job);
      who.push_back(i);
    }
    if (small.jobs.empty()) continue;
    const auto rule = make_easy(small);
    Arena arena(small);
    const Outcome outcome = arena.play(*rule);
    for (size_t i = 0; i < who.size(); ++i)
      if (const Fate& f = outcome.fates[i]; f.end != 0)
        alone[who[i]] = f.end - small.jobs[i].submit;
  }
  return alone;
}

}  // namespace fairlead::contest
