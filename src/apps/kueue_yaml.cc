#include "apps/kueue_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>

namespace fairlead {
namespace {

using imports::KueueLocalQueue;
using imports::KueueQueue;
using imports::KueueQuota;
using imports::KueueSays;

// The first of several members that is there: their names changed from v1beta1 to v1beta2.
std::string text_of(const YAML::Node& map, std::initializer_list<const char*> names) {
  if (!map || !map.IsMap()) return "";
  for (const char* name : names)
    if (const YAML::Node node = map[name]; node && node.IsScalar()) return node.Scalar();
  return "";
}
YAML::Node member(const YAML::Node& map, const char* name) {
  return map && map.IsMap() ? map[name] : YAML::Node(YAML::NodeType::Undefined);
}

class Reader {
 public:
  Reader(KueueSays& says, std::string name) : says_(says), name_(std::move(name)) {}

  Result<void> object(const YAML::Node& node) {
    if (!node.IsMap()) return {};
    if (const YAML::Node items = member(node, "items"); items && items.IsSequence()) {
      for (const YAML::Node& item : items)
        if (auto taken = object(item); !taken) return taken;
      return {};
    }
    const std::string kind = text_of(node, {"kind"});
    const bool ours = kind == "ClusterQueue" || kind == "Cohort" || kind == "LocalQueue" ||
                      kind == "ResourceFlavor" || kind == "WorkloadPriorityClass";
    if (!ours) return {};
    const YAML::Node metadata = member(node, "metadata");
    const std::string name = text_of(metadata, {"name"});
    if (name.empty())
      return fail(
          "kueue-bad", fmt::format("this {} has no name", kind), "add metadata.name",
          {.source = name_, .line = node.Mark().line + 1, .column = node.Mark().column + 1});
    const YAML::Node spec = member(node, "spec");
    if (kind == "ClusterQueue") says_.queues.push_back(queue(name, spec));
    if (kind == "Cohort") says_.cohorts.push_back(queue(name, spec));
    if (kind == "LocalQueue")
      says_.local_queues.push_back(
          {name, text_of(metadata, {"namespace"}), text_of(spec, {"clusterQueue"})});
    if (kind == "ResourceFlavor") says_.products[name] = product(member(spec, "nodeLabels"));
    if (kind == "WorkloadPriorityClass") {
      const std::string value = text_of(node, {"value"});
      int64_t number = 0;
      std::from_chars(value.data(), value.data() + value.size(), number);
      says_.priorities[name] = number;
    }
    return {};
  }

 private:
  static std::string product(const YAML::Node& labels) {
    return text_of(labels, {"nvidia.com/gpu.product", "cloud.google.com/gke-accelerator",
                            "amd.com/gpu.product-name", "cloud.google.com/gke-tpu-accelerator"});
  }

  static KueueQueue queue(const std::string& name, const YAML::Node& spec) {
    KueueQueue q{.name = name,
                 .cohort = text_of(spec, {"cohortName", "cohort", "parentName", "parent"}),
                 .quotas = {},
                 .weight = text_of(member(spec, "fairSharing"), {"weight"}),
                 .within_queue = {},
                 .reclaim_within_cohort = {},
                 .borrow_within_cohort = {},
                 .others = {}};
    const YAML::Node preemption = member(spec, "preemption");
    q.within_queue = text_of(preemption, {"withinClusterQueue"});
    q.reclaim_within_cohort = text_of(preemption, {"reclaimWithinCohort"});
    q.borrow_within_cohort = text_of(member(preemption, "borrowWithinCohort"), {"policy"});
    for (const char* other :
         {"queueingStrategy", "stopPolicy", "namespaceSelector", "flavorFungibility",
          "admissionChecks", "admissionChecksStrategy", "admissionScope"}) {
      const YAML::Node node = member(spec, other);
      if (!node || node.IsNull() || (node.IsMap() && node.size() == 0)) continue;
      q.others.push_back(node.IsScalar() ? fmt::format("{}: {}", other, node.Scalar())
                                         : std::string(other));
    }
    for (const YAML::Node& group : member(spec, "resourceGroups"))
      for (const YAML::Node& flavor : member(group, "flavors"))
        for (const YAML::Node& resource : member(flavor, "resources"))
          q.quotas.push_back({.flavor = text_of(flavor, {"name"}),
                              .resource = text_of(resource, {"name"}),
                              .nominal = text_of(resource, {"nominalQuota"}),
                              .borrowing = text_of(resource, {"borrowingLimit"}),
                              .lending = text_of(resource, {"lendingLimit"})});
    return q;
  }

  KueueSays& says_;
  std::string name_;
};

}  // namespace

Result<void> add_kueue_yaml(KueueSays& says, const std::string& text, const std::string& name) {
  try {
    Reader reader(says, name);
    for (const YAML::Node& document : YAML::LoadAll(text))
      if (auto taken = reader.object(document); !taken) return taken;
  } catch (const YAML::Exception& e) {
    return fail("kueue-bad", "not YAML: " + e.msg, "",
                {.source = name, .line = e.mark.line + 1, .column = e.mark.column + 1});
  }
  return {};
}

}  // namespace fairlead
