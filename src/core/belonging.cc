#include "core/belonging.h"

#include <fmt/format.h>

#include "base/words.h"
#include "core/books.h"

namespace fairlead {
namespace {

using policy::MemberSource;

// A scheduler without a QOS or partition of its own has stated none: then nothing can be said.
template <class Rules>
bool is_known(const Rules& rules, const std::string& name) {
  return rules.empty() || rules.contains(name);
}

policy::Who who_of(const State& state, const Job& job) {
  policy::Who who;
  const auto say = [&](MemberSource source, const std::string& value) {
    if (!value.empty()) who.identities.push_back({source, "", value});
  };
  say(MemberSource::slurm_account, job.account);
  say(MemberSource::slurm_user, job.user);
  say(MemberSource::slurm_qos, job.qos);
  if (!job.qos.empty()) who.class_words.push_back({job.qos, is_known(state.qos, job.qos)});
  for_each_name(job.partition, [&](const std::string& partition) {
    say(MemberSource::slurm_partition, partition);
    who.class_words.push_back({partition, is_known(state.partitions, partition)});
  });
  for (const std::string& group : state.organisation->directory.groups_of(job.user))
    say(MemberSource::group, group);
  return who;
}

void find_partition_slips(const State& state, const Job& job, std::vector<policy::Slip>& slips) {
  for_each_name(job.partition, [&](const std::string& partition) {
    if (is_known(state.partitions, partition)) return;
    std::vector<std::string> names;
    for (const auto& [name, facts] : state.partitions) names.push_back(name);
    const std::string nearest = nearest_word(partition, names);
    if (!nearest.empty()) slips.push_back({policy::SlipKind::partition, partition, nearest});
  });
}

}  // namespace

Belonging belonging_of(const State& state, const Job& job) {
  const policy::Directory& directory = state.organisation->directory;
  policy::Belonging belonging = directory.find(who_of(state, job));
  find_partition_slips(state, job, belonging.slips);
  const policy::Organisation& org = directory.organisation();
  return {.team = belonging.team ? org.teams[*belonging.team].path : kUnassigned,
          .klass = belonging.klass ? org.classes[*belonging.klass].name : "",
          .slips = std::move(belonging.slips)};
}

std::string organisation_title(const State& state) {
  if (!state.organisation) return "";
  const policy::Organisation& rules = state.organisation->rules();
  return rules.name + " " + rules.version;
}

Stage stage_of(const State& state) {
  return state.organisation ? state.organisation_stated.stage : Stage::observe;
}

void assign(State& state, Workload& workload, const Workload* array) {
  workload.assigned = true;
  if (array != nullptr && array->assigned && array->job.user == workload.job.user) {
    rebook(state, workload, array->team, array->klass);
    workload.slips = array->slips;
    return;
  }
  Belonging found = belonging_of(state, workload.job);
  rebook(state, workload, state.names.intern(found.team), state.names.intern(found.klass));
  workload.slips = std::move(found.slips);
}

void assign_all(State& state) {
  for (auto& [id, workload] : state.workloads) {
    if (!workload.assigned) assign(state, workload, nullptr);
  }
}

std::string told(const policy::Slip& slip) {
  switch (slip.kind) {
    case policy::SlipKind::account:
      return fmt::format(
          "no team claims account '{}': is '{}' meant, or a line of members missing?", slip.name,
          slip.nearest);
    case policy::SlipKind::partition:
      return fmt::format("there is no partition '{}': is '{}' meant?", slip.name, slip.nearest);
    case policy::SlipKind::class_unknown:
      return fmt::format("there is no class '{}': is '{}' meant?", slip.name, slip.nearest);
    case policy::SlipKind::class_not_allowed:
      return slip.nearest.empty()
                 ? fmt::format("its team may not have class '{}', and has no default class",
                               slip.name)
                 : fmt::format("its team may not have class '{}'; '{}' counts", slip.name,
                               slip.nearest);
  }
  return "";
}

std::optional<policy::TeamId> team_of(const State& state, const Workload& workload) {
  if (!state.organisation || !workload.assigned) return std::nullopt;
  return state.organisation->rules().team(state.names.name(workload.team));
}

std::optional<policy::ClassId> class_of(const State& state, const Workload& workload) {
  if (!state.organisation || !workload.assigned) return std::nullopt;
  return state.organisation->rules().klass(state.names.name(workload.klass));
}

}  // namespace fairlead
