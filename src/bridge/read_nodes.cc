// SPDX-License-Identifier: GPL-2.0-or-later
#include <cerrno>
#include <cstdlib>
#include <limits>

#include "adapters/slurm/command.h"
#include "adapters/slurm/text_rules.h"
#include "adapters/slurm/words.h"
#include "bridge/libslurm.h"
#include "bridge/reader.h"

namespace fairlead::slurm {
namespace {

struct Flag {
  uint32_t bit;
  bool Node::* member;
};
constexpr Flag kFlags[] = {
    {NODE_STATE_DRAIN, &Node::drain},
    {NODE_STATE_FAIL, &Node::fail},
    {NODE_STATE_MAINT, &Node::maintenance},
    {NODE_STATE_RES, &Node::reserved},
    {NODE_STATE_NO_RESPOND, &Node::not_responding},
    {NODE_STATE_POWERED_DOWN, &Node::powered_down},
    {NODE_STATE_POWERING_DOWN, &Node::powered_down},
    {NODE_STATE_PLANNED, &Node::planned},
    {NODE_STATE_INVALID_REG, &Node::drain},
};

// libslurm says allocated, or idle, of a node that is partly in use.
NodeState state_of(uint32_t state, int64_t cpus_used, int64_t cpus) {
  switch (state & NODE_STATE_BASE) {
    case NODE_STATE_DOWN:
      return NodeState::down;
    case NODE_STATE_ERROR:
      return NodeState::error;
    case NODE_STATE_FUTURE:
      return NodeState::future;
    case NODE_STATE_IDLE:
    case NODE_STATE_ALLOCATED:
    case NODE_STATE_MIXED:
      if (cpus_used > 0 && cpus_used < cpus) return NodeState::mixed;
      if (cpus_used > 0) return NodeState::allocated;
      return (state & NODE_STATE_BASE) == NODE_STATE_ALLOCATED ? NodeState::allocated
                                                               : NodeState::idle;
    default:
      return NodeState::unknown;
  }
}

Node node_of(const node_info_t& info, std::string reason_by) {
  Node node;
  node.name = text_of(info.name);
  if (text_of(info.node_hostname) != node.name) node.hostname = text_of(info.node_hostname);
  const NodeUse use = use_of(info);
  node.cpus_used = static_cast<int32_t>(use.cpus);
  node.memory_used_mb = use.memory_mb;
  node.cpus = info.cpus;
  node.memory_mb = number_of(uint64_t{info.real_memory}, 0);
  node.state =
      state_of(info.node_state, use.cpus, info.cpus_efctv != 0 ? info.cpus_efctv : info.cpus);
  for (const Flag& flag : kFlags) {
    if ((info.node_state & flag.bit) != 0) node.*flag.member = true;
  }
  if (info.reason != nullptr && *info.reason != '\0') {
    node.reason = text_of(info.reason) + " [" + reason_by + "]";
    node.reason_since = instant_of(info.reason_time);
  }
  node.devices = parse_node_gres(text_of(info.gres));
  node.features =
      split_names(text_of(info.features_act != nullptr ? info.features_act : info.features));
  node.weight = number_of(info.weight, 0);
  node.topology = topology_of(info);
  return node;
}

}  // namespace

Result<bool> LibslurmReader::read_nodes(SlurmFacts& facts) {
  node_info_msg_t* raw = nullptr;
  if (slurm_load_node(updated_[Part::nodes], &raw, SHOW_ALL | SHOW_DETAIL) != 0) {
    if (errno == SLURM_NO_CHANGE_IN_DATA) return false;
    return slurm_failure("loading nodes", errno);
  }
  const Message<node_info_msg_t, slurm_free_node_info_msg> message(raw);
  facts.nodes.clear();
  for (uint32_t i = 0; i < message->record_count; ++i) {
    const node_info_t& info = message->node_array[i];
    if (info.name == nullptr) continue;  // a slot of a dynamic node
    facts.nodes.push_back(
        node_of(info, info.reason != nullptr ? user_name(info.reason_uid) : std::string()));
  }
  updated_[Part::nodes] = message->last_update;
  return true;
}

// The struct differs with each release and topology plugin; what is printed of it does not.
// From 23.11 on libslurm unpacks it with a plugin, which up to 25.05 does not load outside of
// Slurm's own programs.
Result<bool> LibslurmReader::read_topology(SlurmFacts& facts) {
  if constexpr (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0) &&
                SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 0)) {
    const auto printed = run_command({.words = {"scontrol", "show", "topology"},
                                      .environment = {"LC_ALL=C"},
                                      .timeout = seconds(5)});
    if (!printed) return fail("slurm-refused", printed.error().message, printed.error().hint);
    facts.topology = parse_topology(printed->out);
    return true;
  }
  topo_info_response_msg_t* raw = nullptr;
  if (load_topology(&raw) != 0) return slurm_failure("loading the topology", errno);
  const Message<topo_info_response_msg_t, slurm_free_topo_info_msg> message(raw);
  char* text = nullptr;
  size_t size = 0;
  FILE* const out = open_memstream(&text, &size);
  if (out == nullptr) return fail("slurm-setup", "out of memory");
  print_topology(out, message.get());
  std::fclose(out);
  facts.topology = parse_topology({text, size});
  std::free(text);
  return true;
}

}  // namespace fairlead::slurm
