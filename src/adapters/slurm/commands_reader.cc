#include "adapters/slurm/commands_reader.h"

#include <map>

#include "adapters/slurm/text_assoc.h"
#include "adapters/slurm/text_jobs.h"
#include "adapters/slurm/text_rules.h"
#include "adapters/slurm/words.h"

namespace fairlead::slurm {
namespace {

// slurmdbd is asked once in so many reads of the rules: what it adds changes by hand only.
constexpr int kSacctmgrEvery = 10;

constexpr const char* kPing =
    "check with `scontrol ping` that slurmctld runs and that SLURM_CONF names its slurm.conf";

template <class T>
bool take(Parsed<T> parsed, std::vector<T>& to, int64_t& unreadable) {
  to = std::move(parsed.records);
  unreadable = parsed.unreadable;
  return true;
}

std::unexpected<Diagnostic> failed(const std::vector<std::string>& words,
                                   const CommandOutput& output) {
  std::string what;
  for (const std::string& word : words) what += (what.empty() ? "" : " ") + word;
  what += ": " + std::string(trim(output.err.empty() ? output.out : output.err));
  if (what.size() > 500) what.resize(500);
  const auto says = [&](const char* text) { return output.err.find(text) != std::string::npos; };
  if (says("Access/permission denied"))
    return fail("slurm-refused", what,
                "let this user see the data: AdminLevel=Operator, or a PrivateData without it");
  if (says("Munge") || says("authentication")) {
    return fail("slurm-setup", what,
                "check that munged runs here (`munge -n | unmunge`), or slurm.key for auth/slurm");
  }
  if (says("configuration") || says("slurm.conf"))
    return fail("slurm-setup", what, "check SLURM_CONF and the slurm.conf that it names");
  return fail("slurm-unreachable", what, kPing);
}

std::vector<std::string> words_for(Part part) {
  switch (part) {
    case Part::config:
      return {"scontrol", "show", "config"};
    case Part::jobs:
      return {"scontrol", "-a", "-d", "show", "job"};
    case Part::steps:
      return {"squeue", "-h", "-a", "-s", "-o", "%i"};
    case Part::nodes:
      return {"scontrol", "-a", "show", "node"};
    case Part::partitions:
      return {"scontrol", "-a", "show", "partition"};
    case Part::rules:
      return {"scontrol", "show", "assoc_mgr", "flags=assoc,qos"};
    case Part::reservations:
      return {"scontrol", "show", "reservation"};
    case Part::licences:
      return {"scontrol", "show", "licenses"};
    case Part::topology:
      return {"scontrol", "show", "topology"};
    case Part::statistics:
      return {"sdiag"};
  }
  return {};
}

}  // namespace

Result<std::string> CommandsReader::output(std::vector<std::string> words) {
  // TZ: times are printed local, and the local zone repeats an hour in autumn.
  Command command{
      .environment = {"TZ=UTC0", "LC_ALL=C", "SLURM_TIME_FORMAT=standard", "SLURM_BITSTR_LEN=0"}};
  if (!options_.conf.empty()) command.environment.push_back("SLURM_CONF=" + options_.conf);
  command.words = options_.prefix;
  command.words.insert(command.words.end(), words.begin(), words.end());
  command.timeout = seconds(8);  // chosen: a failed poll is told within 10 s
  auto result = options_.run(command);
  if (!result) {
    const std::string& hint = result.error().hint;
    return fail("slurm-unreachable", result.error().message, hint.empty() ? kPing : hint);
  }
  if (result->exit_code != 0) return failed(words, *result);
  return std::move(result->out);
}

Result<bool> CommandsReader::read(Part part, SlurmFacts& facts) {
  if (part == Part::rules) return read_rules(facts);
  if (part == Part::steps) return read_steps(facts);
  auto text = output(words_for(part));
  if (!text) return std::unexpected(text.error());
  if (part != Part::statistics && part != Part::jobs) {
    if (!last_[part].empty() && last_[part] == *text) return false;
    last_[part] = *text;
  }
  switch (part) {
    case Part::jobs:
      return take(parse_jobs(*text), facts.jobs, facts.unreadable[part]);
    case Part::nodes:
      return take(parse_nodes(*text), facts.nodes, facts.unreadable[part]);
    case Part::partitions:
      return take(parse_partitions(*text), facts.partitions, facts.unreadable[part]);
    case Part::reservations:
      return take(parse_reservations(*text), facts.reservations, facts.unreadable[part]);
    case Part::licences:
      return take(parse_licences(*text), facts.licences, facts.unreadable[part]);
    case Part::topology:
      facts.topology = parse_topology(*text);
      return true;
    case Part::statistics:
      facts.scheduler.statistics = parse_statistics(*text);
      return true;
    default:
      break;
  }
  auto config = parse_config(*text);
  if (!config)
    return fail("slurm-bad-answer", "'scontrol show config' states no ClusterName or BOOT_TIME",
                "is this Slurm's own scontrol?");
  config->scheduler.statistics = std::move(facts.scheduler.statistics);
  facts.scheduler = std::move(config->scheduler);
  facts.start_mark = std::move(config->start_mark);
  return true;
}

Result<bool> CommandsReader::read_rules(SlurmFacts& facts) {
  auto text = output(words_for(Part::rules));
  if (!text) return std::unexpected(text.error());
  if (rules_read_++ % kSacctmgrEvery ==
      0) {  // without a slurmdbd these fail, and there is nothing to add
    qos_text_ = output({"sacctmgr", "-nP", "show", "qos", kQosFormat}).value_or(qos_text_);
    association_text_ = output({"sacctmgr", "-nP", "show", "assoc", kAssociationFormat})
                            .value_or(association_text_);
  }
  AssocText parsed = parse_assoc_mgr(*text);
  facts.unreadable[Part::rules] = parsed.qos.unreadable + parsed.associations.unreadable;
  facts.qos = std::move(parsed.qos.records);
  facts.associations = std::move(parsed.associations.records);
  add_from_sacctmgr_qos(facts.qos, qos_text_);
  add_from_sacctmgr_assoc(facts.associations, association_text_);
  return true;
}

Result<bool> CommandsReader::read_steps(SlurmFacts& facts) {
  const auto text = output(words_for(Part::steps));
  if (!text) return std::unexpected(text.error());
  std::map<std::string, uint32_t> tasks;  // "2_3" -> the id of that task's own record
  for (const Job& job : facts.jobs) {
    if (job.array.id != 0)
      tasks[std::to_string(job.array.id) + "_" + std::to_string(job.array.task)] = job.id;
  }
  facts.steps.clear();
  for (const std::string& step : parse_steps(*text)) {
    if (const auto found = tasks.find(step); found != tasks.end())
      ++facts.steps[found->second];
    else if (const auto id = parse_whole(step); id && std::in_range<uint32_t>(*id))
      ++facts.steps[static_cast<uint32_t>(*id)];
  }
  return true;
}

}  // namespace fairlead::slurm
