// fairlead policy import: from what another system says to an organisation file.
#include <fmt/format.h>

#include "adapters/slurm/sacctmgr_dump.h"
#include "apps/kueue_yaml.h"
#include "apps/policy_input.h"
#include "imports/slurm.h"
#include "io/file.h"
#include "policy/check.h"

namespace fairlead {
namespace {

constexpr size_t kInputMax = size_t{256} << 20;

// What was made is checked as any file is; that it passes is ours to see to.
int show(const imports::Draft& draft) {
  const std::string text = to_policy(draft);
  lang::Sources sources;
  sources.add("import.policy", text);
  const policy::Checked checked = policy::check_files(sources, {});
  for (const auto& problem : checked.problems)
    if (problem.severity == lang::Severity::error)
      fmt::print(stderr, "{}", to_text(problem, sources));
  const int code = print(text);
  return code != kExitGood ? code : checked.good() ? kExitGood : kExitFound;
}

imports::SlurmSays says_of(const State& state) {
  imports::SlurmSays says{.cluster = state.scheduler.cluster,
                          .associations = {},
                          .qos = {},
                          .models = {},
                          .half_life_s = state.scheduler.usage_half_life_s,
                          .priority_weights = state.scheduler.priority_weights};
  for (const auto& [id, a] : state.associations) says.associations.push_back(a);
  for (const auto& [name, q] : state.qos) says.qos.push_back(q);
  for (const Device& device : state.fleet.devices())
    if (device.present) ++says.models[state.names.name(device.model)];
  return says;
}

}  // namespace

int import_slurm(Program& p, const PolicyArguments& a) {
  if (a.paths.empty()) {
    AskOptions ask = p.ask;
    ask.local = true;  // a daemon tells views, not associations
    const auto look = LocalLook::take(ask);
    if (!look) return complain(look.error());
    return show(draft_of(says_of((*look)->engine().state())));
  }
  slurm::SacctmgrDump dump;
  for (const std::string& path : a.paths) {
    const auto text = io::read_file(path, kInputMax);
    if (!text) return complain(text.error());
    if (const auto added = add_sacctmgr_dump(dump, *text, path); !added)
      return complain(added.error());
  }
  imports::SlurmSays says{.cluster = dump.cluster,
                          .associations = dump.associations,
                          .qos = dump.qos,
                          .models = {},
                          .half_life_s = -1,
                          .priority_weights = {}};
  const auto fleet = read_fleet(a.fleet);
  if (!fleet) return complain(fleet.error());
  for (const auto& [model, amount] : *fleet) says.models[model] = amount.value / 1000;
  return show(draft_of(says));
}

int import_kueue(Program&, const PolicyArguments& a) {
  imports::KueueSays says;
  for (const std::string& path : a.paths) {
    const auto text = io::read_file(path, kInputMax);
    if (!text) return complain(text.error());
    if (const auto added = add_kueue_yaml(says, *text, path); !added)
      return complain(added.error());
  }
  if (says.queues.empty())
    return complain(policy_problem("kueue-none", "there is no ClusterQueue in these files",
                                   "kubectl get clusterqueues,cohorts,localqueues,resourceflavors,"
                                   "workloadpriorityclasses -A -o yaml"));
  return show(draft_of(says));
}

}  // namespace fairlead
