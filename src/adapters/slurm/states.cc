#include <algorithm>

#include "adapters/slurm/words.h"

namespace fairlead::slurm {
namespace {

// The words of job_state_string(), base states first, then the flags that the commands print in the
// place of the base state. A flag that implies a base says so; JobState::unknown leaves it.
struct JobWord {
  std::string_view word;
  JobState base;
  bool JobWords::* flag = nullptr;
};
constexpr JobWord kJobWords[] = {
    {"PENDING", JobState::pending},     {"RUNNING", JobState::running},
    {"SUSPENDED", JobState::suspended}, {"COMPLETED", JobState::completed},
    {"CANCELLED", JobState::cancelled}, {"FAILED", JobState::failed},
    {"TIMEOUT", JobState::timeout},     {"NODE_FAIL", JobState::node_fail},
    {"PREEMPTED", JobState::preempted}, {"BOOT_FAIL", JobState::boot_fail},
    {"DEADLINE", JobState::deadline},   {"OUT_OF_MEMORY", JobState::out_of_memory},
};
constexpr JobWord kJobFlags[] = {
    {"COMPLETING", JobState::completing, &JobWords::completing},
    {"EXPEDITING", JobState::completing, &JobWords::completing},  // its epilogs still run
    {"STOPPED", JobState::suspended, &JobWords::stopped},         // SIGSTOP was sent
    {"REQUEUED", JobState::pending, &JobWords::requeued},
    {"REQUEUE_FED", JobState::pending, &JobWords::requeued},
    {"REQUEUE_HOLD", JobState::pending, &JobWords::requeued},
    {"SPECIAL_EXIT", JobState::pending, &JobWords::requeued},
    {"RESV_DEL_HOLD", JobState::pending},
    {"CONFIGURING", JobState::running},
    {"POWER_UP_NODE", JobState::running},
    {"RESIZING", JobState::running},
    {"SIGNALING", JobState::running},
    {"STAGE_OUT", JobState::completed},
    {"REVOKED", JobState::cancelled},
};

struct NodeWord {
  std::string_view word;
  NodeState state = NodeState::unknown;  // unknown: the word says nothing of it
  bool Node::* flag = nullptr;
};
constexpr NodeWord kNodeWords[] = {
    {"IDLE", NodeState::idle},
    {"MIXED", NodeState::mixed},
    {"ALLOCATED", NodeState::allocated},
    {"DOWN", NodeState::down},
    {"ERROR", NodeState::error},
    {"FUTURE", NodeState::future},
    {"DRAIN", NodeState::unknown, &Node::drain},
    {"FAIL", NodeState::unknown, &Node::fail},
    {"MAINTENANCE", NodeState::unknown, &Node::maintenance},
    {"MAINT", NodeState::unknown, &Node::maintenance},
    {"RESERVED", NodeState::unknown, &Node::reserved},
    {"NOT_RESPONDING", NodeState::unknown, &Node::not_responding},
    {"NO_RESPOND", NodeState::unknown, &Node::not_responding},
    {"POWERED_DOWN", NodeState::unknown, &Node::powered_down},
    {"POWERING_DOWN", NodeState::unknown, &Node::powered_down},
    {"PLANNED", NodeState::unknown, &Node::planned},
    {"INVALID_REG", NodeState::unknown, &Node::drain},  // takes no work
    {"INVAL", NodeState::unknown, &Node::drain},
};

}  // namespace

void add_state_word(JobWords& words, std::string_view word) {
  for (const JobWord& known : kJobWords) {
    if (known.word == word) words.base = known.base;
  }
  for (const JobWord& known : kJobFlags) {
    if (known.word != word) continue;
    if (known.flag != nullptr) words.*known.flag = true;
    if (words.base == JobState::unknown) words.base = known.base;
  }
}

// A job whose nodes are being cleaned keeps its devices, whatever it becomes afterwards.
JobState state_of(const JobWords& words) {
  if (words.completing) return JobState::completing;
  if (words.stopped) return JobState::suspended;
  return words.base;
}

void add_state_words(Node& node, std::string_view words) {
  for (std::string_view word : split(words, '+')) {
    // A mark behind the word: * not responding, ~ powered down, % powering down, $ maintenance,
    // - planned, and # ! @ ^ of power-up and reboot.
    while (!word.empty() &&
           std::string_view("*~#!%$@^-").find(word.back()) != std::string_view::npos) {
      switch (word.back()) {
        case '*':
          node.not_responding = true;
          break;
        case '~':
        case '%':
          node.powered_down = true;
          break;
        case '$':
          node.maintenance = true;
          break;
        case '-':
          node.planned = true;
          break;
        default:
          break;
      }
      word.remove_suffix(1);
    }
    for (const NodeWord& known : kNodeWords) {
      if (known.word != word) continue;
      if (known.state != NodeState::unknown) node.state = known.state;
      if (known.flag != nullptr) node.*known.flag = true;
    }
  }
}

}  // namespace fairlead::slurm
