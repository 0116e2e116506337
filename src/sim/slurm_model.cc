#include "sim/slurm_model.h"

#include <algorithm>

namespace fairlead {

SlurmModel::SlurmModel(Instant start, ModelRules rules)
    : rules_(rules),
      now_(start),
      booted_(start),
      next_id_(rules.first_id),
      saved_next_id_(rules.first_id) {}

void SlurmModel::put(Node node) {
  if (!nodes_.contains(node.name)) node_order_.push_back(node.name);
  nodes_[node.name] = std::move(node);
  touch();
}

void SlurmModel::put(Partition partition) {
  partitions_[partition.name] = std::move(partition);
  touch();
}

void SlurmModel::put(Qos qos) {
  qos_[qos.name] = std::move(qos);
  touch();
}

void SlurmModel::put(Association association) {
  associations_[std::to_string(association.id)] = std::move(association);
  touch();
}

void SlurmModel::put(Reservation reservation) {
  reservations_[reservation.name] = std::move(reservation);
  touch();
}

void SlurmModel::put(Licence licence) {
  licences_[licence.name] = std::move(licence);
  touch();
}

void SlurmModel::drop_reservation(const std::string& name) {
  reservations_.erase(name);
  touch();
}

bool SlurmModel::drain(const std::string& node, const std::string& reason) {
  const auto found = nodes_.find(node);
  if (away_ || found == nodes_.end()) return false;
  found->second.drain = true;
  found->second.reason = reason;
  found->second.reason_since = now_;
  touch();
  return true;
}

bool SlurmModel::undrain(const std::string& node) {
  const auto found = nodes_.find(node);
  if (away_ || found == nodes_.end()) return false;
  found->second.drain = false;
  found->second.not_responding = false;
  found->second.state = NodeState::idle;
  found->second.reason.clear();
  found->second.reason_since = {};
  touch();
  return true;
}

bool SlurmModel::fail_node(const std::string& node) {
  const auto found = nodes_.find(node);
  if (away_ || found == nodes_.end() || found->second.state == NodeState::down) return false;
  found->second.state = NodeState::down;
  found->second.not_responding = true;
  found->second.reason = "Not responding";
  found->second.reason_since = now_;
  for (auto& [id, j] : jobs_) {
    if (!holds_devices(j.facts.state)) continue;
    if (std::ranges::any_of(j.facts.held, [&](const NodeShare& s) { return s.node == node; }))
      throw_off(j, JobState::node_fail);
  }
  touch();
  return true;
}

bool SlurmModel::drop_node(const std::string& node) {
  if (away_ || !nodes_.contains(node)) return false;
  fail_node(node);
  nodes_.erase(node);
  std::erase(node_order_, node);
  touch();
  return true;
}

void SlurmModel::refuse_launches(const std::string& node, bool refuses) {
  if (refuses)
    refusing_.insert(node);
  else
    refusing_.erase(node);
}

void SlurmModel::save() {
  saved_jobs_ = jobs_;
  saved_next_id_ = next_id_;
  unsaved_ = false;
}

void SlurmModel::stop() {
  if (away_) return;
  save();
  away_ = true;
}

void SlurmModel::crash() {
  if (away_) return;
  away_ = true;
  jobs_ = saved_jobs_;
  next_id_ = saved_next_id_;
}

void SlurmModel::restart() {
  if (!away_) return;
  away_ = false;
  booted_ = now_;
  slow_until_ = {};
  // What was saved may run on nodes that have left or failed since.
  const auto is_gone = [&](const NodeShare& share) {
    const auto node = nodes_.find(share.node);
    return node == nodes_.end() || node->second.state == NodeState::down;
  };
  for (auto& [id, j] : jobs_)
    if (std::ranges::any_of(j.facts.held, is_gone)) throw_off(j, JobState::node_fail);
  touch();
  settle();
}

std::vector<uint32_t> SlurmModel::listed() const {
  std::vector<uint32_t> ids;
  for (const auto& [id, j] : jobs_) ids.push_back(id);
  return ids;
}

const Job* SlurmModel::find(uint32_t id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second.facts;
}

int64_t SlurmModel::held_device_seconds() const {
  int64_t sum = held_before_;
  for (const auto& [id, j] : jobs_) sum += device_seconds(j, now_);
  return sum;
}

}  // namespace fairlead
