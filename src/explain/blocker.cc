#include "explain/blocker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace fairlead {
namespace {

using enum BlockerCode;

// `reasons`: the scheduler's words for it, separated by blanks; one that ends with * is a prefix.
struct Row {
  CodeText text;
  std::string_view reasons;
};

constexpr Row kRows[] = {
    {{SHAPE_NEVER,
      "more nodes, devices, cpus or memory are asked for than the partition has at all",
      "ask for less, or another partition"},
     "BadConstraints PartitionConfig PartitionNodeLimit NodeDown ReqNodeNotAvail* Nodes_required* "
     "Resources"},
    {{DEVICES_NO_NODE, "no node of the partition has devices of this model, or so many of them",
      "ask for a model and number that a node has"},
     "BadConstraints PartitionConfig ReqNodeNotAvail* Resources"},
    {{FEATURES_NO_NODE, "no node of the partition has these features",
      "ask for features that a node has"},
     "BadConstraints ReqNodeNotAvail* Resources"},
    {{DEPENDENCY_NEVER, "a job it depends on ended in a way that the dependency excludes",
      "remove the dependency, or submit the other job again"},
     "DependencyNeverSatisfied Dependency"},
    {{PARTITION_TIME_LIMIT, "the time limit is above the partition's", "a shorter time limit"},
     "PartitionTimeLimit"},
    {{PARTITION_NODE_LIMIT, "the number of nodes is outside the partition's limits", "fewer nodes"},
     "PartitionNodeLimit"},
    {{PARTITION_ACCESS, "the partition is not for this account or class", "another partition"},
     "AccountNotAllowed QOSNotAllowed AccountingPolicy"},
    {{ASSOCIATION_MISSING,
      "the user has no association with this account, or may not use this class",
      "another account or class"},
     "InvalidAccount InvalidQOS AssociationNotFound"},
    {{QOS_JOB_LIMIT, "one job of this class may not be so large or so long",
      "a smaller or shorter job"},
     "QOSMax*PerJob* QOSMinGRES QOSMin* QOSMaxWallDurationPerJobLimit QOSMax*PerNode* QOSMaxGRES* "
     "QOSMaxCpu* QOSMaxNode*"},
    {{ASSOCIATION_JOB_LIMIT, "one job of this account may not be so large or so long",
      "a smaller or shorter job"},
     "AssocMax*PerJob* AssocMaxWallDurationPerJobLimit AssocMaxGRES* AssocMaxCpu* AssocMaxNode* "
     "AssocMax*"},
    {{CLASS_LIMIT,
      "one workload of this class may not hold so many devices, by the organisation's rules",
      "ask for fewer devices, or another class"},
     ""},
    {{HELD_BY_ADMIN, "an administrator holds it", "ask them to release it"}, "JobHeldAdmin"},
    {{HELD_BY_USER, "its owner holds it", "scontrol release"}, "JobHeldUser"},
    {{PARTITION_DOWN, "the partition starts no jobs now", "another partition"},
     "PartitionDown PartitionInactive"},
    {{BEGIN_TIME, "it is not to begin before a time", "an earlier begin time"}, "BeginTime"},
    {{DEPENDENCY, "a job it depends on has not come so far", "wait, or remove the dependency"},
     "Dependency"},
    {{ARRAY_LIMIT, "as many tasks of its array run as the array allows",
      "a higher limit (%) of the array"},
     "JobArrayTaskLimit"},
    {{QOS_LIMIT, "what its class may hold together is held", "wait, or another class"},
     "QOSGrp* QOSMax* MaxGRES* MaxCpu*"},
    {{ASSOCIATION_LIMIT, "what an account above it may hold together is held",
      "wait, or another account"},
     "AssocGrp* AssocMax*"},
    {{TEAM_LIMIT, "a team would hold more than it owns and may borrow", "wait, or ask for less"},
     ""},
    {{BUDGET_SPENT, "the budget of a team is spent, and hard",
      "wait until it begins anew, or a larger budget"},
     ""},
    {{LICENCES, "licences are in use", "wait, or fewer licences"}, "Licenses"},
    {{RESERVATION, "nodes are kept for a reservation, or its own has not begun",
      "a time limit that ends before the reservation begins"},
     "Reservation ReqNodeNotAvail* Resources Nodes_required*"},
    {{NODES_DOWN, "too many of the nodes that could take it are down or drained",
      "bring nodes back, or ask for fewer"},
     "ReqNodeNotAvail* NodeDown Resources Nodes_required* PartitionConfig"},
    {{CAPACITY, "not enough devices are free", "wait, or ask for less"},
     "Resources Priority Nodes_required*"},
    {{FRAGMENTED, "enough devices are free, but not together on enough nodes",
      "fewer devices on each node"},
     "Resources Priority Nodes_required*"},
    {{TOPOLOGY_FRAGMENTED, "enough nodes are free, but not under so few switches",
      "allow more switches"},
     "Resources Priority"},
    {{RESERVED_AHEAD, "it would keep devices that are promised to a workload ahead of it",
      "a time limit that ends before that starts"},
     ""},
    {{PRIORITY, "other work is ahead of it", "wait, or a smaller job that backfills"},
     "Priority Resources Nodes_required*"},
    {{UNEXPLAINED, "the scheduler gives a reason for which we see no cause",
      "ask the scheduler's administrator"},
     ""},
    {{NOT_YET_EXAMINED, "it fits; the scheduler has not come to it yet", "wait for its next cycle"},
     "None Priority Resources"},
};

bool word_matches(std::string_view word, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return word == pattern;
  if (!word.starts_with(pattern.substr(0, star))) return false;
  word.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  if (pattern.empty()) return true;
  for (size_t i = 0; i <= word.size(); ++i) {
    if (word_matches(word.substr(i), pattern)) return true;
  }
  return false;
}

const Row& row_of(BlockerCode code) {
  const auto* row = std::ranges::find(kRows, code, [](const Row& r) { return r.text.code; });
  CHECK(row != std::end(kRows));
  return *row;
}

}  // namespace

const CodeText& code_text(BlockerCode code) { return row_of(code).text; }

bool scheduler_means(std::string_view reason, BlockerCode code) {
  std::string word(reason.substr(0, reason.find(',')));
  std::ranges::replace(word, ' ', '_');
  std::string_view rest = row_of(code).reasons;
  while (!rest.empty()) {
    const size_t blank = std::min(rest.find(' '), rest.size());
    if (word_matches(word, rest.substr(0, blank))) return true;
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
  return false;
}

std::string count_text(int64_t amount, std::string_view unit) {
  if (amount == 1 && unit.size() > 1 && unit.ends_with('s')) unit.remove_suffix(1);
  return fmt::format("{} {}", amount, unit);
}

const char* is_or_are(int64_t amount) { return amount == 1 ? "is" : "are"; }

std::string asked_for(int64_t amount) {
  return fmt::format("{} {} asked for", amount, is_or_are(amount));
}

}  // namespace fairlead
