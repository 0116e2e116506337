#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/hostlist.h"
#include "fabric/shape.h"
#include "sim/slurm_model.h"

namespace fairlead {
namespace {

int64_t devices_asked(const Job& job) { return shape_of(job).total; }

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    parts.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

// "sim:4,cap" -> how many of `name`.
int64_t licences_asked(const std::string& text, const std::string& name) {
  for (const std::string_view item : split(text)) {
    const size_t colon = std::min(item.find(':'), item.size());
    if (item.substr(0, colon) != name) continue;
    int64_t count = 1;
    if (colon < item.size())
      std::from_chars(item.data() + colon + 1, item.data() + item.size(), count);
    return count;
  }
  return 0;
}

}  // namespace

std::vector<const Partition*> SlurmModel::partitions_of(const Job& j) const {
  std::vector<const Partition*> found;
  for (const std::string_view name : split(j.partition)) {
    if (const auto at = partitions_.find(std::string(name)); at != partitions_.end())
      found.push_back(&at->second);
  }
  return found;
}

SlurmModel::Rooms SlurmModel::empty_rooms() const {
  Rooms all;
  for (const auto& [name, node] : nodes_) {
    size_t devices = 0;
    for (const DeviceGroup& group : node.devices)
      devices += static_cast<size_t>(std::max(group.count, 0));
    all[name] = {
        .busy = std::vector<bool>(devices, false), .cpus = node.cpus, .memory_mb = node.memory_mb};
  }
  return all;
}

SlurmModel::Rooms SlurmModel::rooms() const {
  Rooms all = empty_rooms();
  for (const auto& [id, j] : jobs_) {
    for (const NodeShare& share : j.facts.held) {
      const auto at = all.find(share.node);
      if (at == all.end()) continue;
      at->second.cpus -= share.cpus;
      at->second.memory_mb -= share.memory_mb;
      for (const int32_t d : share.devices) {
        if (static_cast<size_t>(d) < at->second.busy.size())
          at->second.busy[static_cast<size_t>(d)] = true;
      }
    }
  }
  return all;
}

bool SlurmModel::node_takes(const ModelJob& j, const Node& node, bool& reserved) const {
  if (node.drain || node.not_responding || node.state == NodeState::down) return false;
  const JobRequest& r = j.facts.request;
  if (!features_match(r.features, node.features)) return false;
  const Instant ends = r.time_limit_s >= 0 ? now_ + seconds(r.time_limit_s) : Instant{INT64_MAX};
  for (const auto& [name, reservation] : reservations_) {
    if (std::ranges::find(reservation.nodes, node.name) == reservation.nodes.end()) {
      if (name == j.facts.reservation) return false;
      continue;
    }
    if (name == j.facts.reservation || reservation.end <= now_ || reservation.start >= ends)
      continue;
    reserved = true;
    return false;
  }
  return true;
}

namespace {

// Free devices of the node that the shape takes, `most` of them at the most.
std::vector<int32_t> pick_devices(const Node& node, const std::vector<bool>& busy,
                                  const std::string& model, int64_t most) {
  std::vector<int32_t> picked;
  int32_t index = 0;
  for (const DeviceGroup& group : node.devices) {
    for (int32_t k = 0; k < group.count; ++k, ++index) {
      if (!model.empty() && group.model != model) continue;
      if (!busy[static_cast<size_t>(index)] && static_cast<int64_t>(picked.size()) < most)
        picked.push_back(index);
    }
  }
  return picked;
}

}  // namespace

// What the job would hold of the node, of `devices_left` that it still lacks; nothing where there
// is no room.
std::optional<NodeShare> SlurmModel::share_of(const ModelJob& j, const Node& node, const Room& room,
                                              int64_t devices_left, bool& reserved) const {
  const Shape shape = shape_of(j.facts);
  if (!node_takes(j, node, reserved)) return std::nullopt;
  NodeShare share{.node = node.name,
                  .cpus = std::max(1, shape.cpus_per_node),
                  .memory_mb = shape.memory_per_node_mb};
  if (share.cpus > room.cpus || share.memory_mb > room.memory_mb) return std::nullopt;
  if (shape.exclusive && std::ranges::count(room.busy, true) > 0) return std::nullopt;
  share.devices = pick_devices(node, room.busy, shape.model,
                               shape.per_node > 0 ? shape.per_node : devices_left);
  share.device_count = static_cast<int32_t>(share.devices.size());
  if (shape.per_node > 0 && share.device_count < shape.per_node) return std::nullopt;
  if (shape.per_node == 0 && shape.total > 0 && share.device_count == 0) return std::nullopt;
  return share;
}

// The first nodes, in their order, that have room for the whole job; none where they do not. A sum
// of devices is spread over nodes only where no single node has room for all of it.
std::vector<NodeShare> SlurmModel::fit(const ModelJob& j, const Rooms& rooms,
                                       bool& reserved) const {
  const Shape shape = shape_of(j.facts);
  const auto nodes_of = [&](const Partition& partition) {
    std::vector<const Node*> nodes;
    for (const std::string& name : node_order_) {
      if (std::ranges::find(partition.nodes, name) != partition.nodes.end())
        nodes.push_back(&nodes_.at(name));
    }
    return nodes;
  };
  for (const Partition* partition : partitions_of(j.facts)) {
    const std::vector<const Node*> nodes = nodes_of(*partition);
    if (shape.nodes <= 1) {
      for (const Node* node : nodes) {
        auto share = share_of(j, *node, rooms.at(node->name), shape.total, reserved);
        if (share && share->device_count == shape.total) return {*std::move(share)};
      }
    }
    std::vector<NodeShare> held;
    int64_t devices_left = shape.total;
    for (const Node* node : nodes) {
      if (static_cast<int32_t>(held.size()) >= shape.nodes && devices_left <= 0) break;
      auto share = share_of(j, *node, rooms.at(node->name), devices_left, reserved);
      if (!share) continue;
      devices_left -= share->device_count;
      held.push_back(*std::move(share));
    }
    if (static_cast<int32_t>(held.size()) >= shape.nodes && devices_left <= 0) return held;
  }
  return {};
}

// Slurm takes no job whose devices its nodes do not have, whatever their state.
std::string SlurmModel::submission_refusal(const Job& job) const {
  const Shape shape = shape_of(job);
  const auto has_devices = [&](const Partition* partition) {
    int64_t sum = 0, fitting = 0;
    for (const std::string& name : partition->nodes) {
      const auto node = nodes_.find(name);
      if (node == nodes_.end()) continue;
      int64_t devices = 0;
      for (const DeviceGroup& group : node->second.devices)
        devices += shape.model.empty() || group.model == shape.model ? group.count : 0;
      sum += devices;
      fitting += devices >= std::max(1, shape.per_node);
    }
    return shape.total == 0 || (fitting > 0 && (shape.per_node > 0 || sum >= shape.total));
  };
  const auto partitions = partitions_of(job);
  if (partitions.empty() || std::ranges::any_of(partitions, has_devices)) return "";
  return "Requested node configuration is not available";
}

std::string SlurmModel::limit_refusal(const ModelJob& j) const {
  const int64_t wanted = devices_asked(j.facts);
  const auto held_by = [&](auto&& counts) {
    int64_t sum = 0;
    for (const auto& [id, other] : jobs_) {
      if (!holds_devices(other.facts.state) || !counts(other.facts)) continue;
      for (const NodeShare& share : other.facts.held) sum += share.device_count;
    }
    return sum;
  };
  const auto over = [&](const Amounts& limits, auto&& counts) {
    const auto limit = limits.find("gres/gpu");
    return limit != limits.end() && limit->second >= 0 && wanted > 0 &&
           held_by(counts) + wanted > limit->second;
  };
  if (const auto qos = qos_.find(j.facts.qos); qos != qos_.end()) {
    const auto same_qos = [&](const Job& o) { return o.qos == j.facts.qos; };
    if (over(qos->second.limits.tres_group, same_qos)) return "QOSGrpGRES";
    const auto same_user = [&](const Job& o) {
      return o.qos == j.facts.qos && o.user == j.facts.user;
    };
    if (over(qos->second.tres_per_user, same_user)) return "QOSMaxGRESPerUser";
  }
  for (const auto& [key, a] : associations_) {
    if (!a.user.empty() || a.account != j.facts.account) continue;
    if (over(a.limits.tres_group, [&](const Job& o) { return o.account == a.account; }))
      return "AssocGrpGRES";
  }
  return "";
}

int64_t SlurmModel::licences_used(const std::string& name) const {
  int64_t used = 0;
  for (const auto& [id, other] : jobs_) {
    if (holds_devices(other.facts.state))
      used += licences_asked(other.facts.request.licences, name);
  }
  return used;
}

std::string SlurmModel::refusal(const ModelJob& j) const {
  const JobRequest& r = j.facts.request;
  if (j.facts.priority == 0 && j.launch_failed) return "launch failed requeued held";
  if (j.facts.priority == 0) return j.asked.held ? "JobHeldUser" : "JobHeldAdmin";
  if (j.facts.begin > now_) return "BeginTime";
  for (const uint32_t other : j.asked.after_ok) {
    const Job* before = find(other);
    if (before != nullptr && before->state == JobState::completed) continue;
    if (before != nullptr && has_ended(before->state)) return "DependencyNeverSatisfied";
    if (before != nullptr) return "Dependency";
  }
  const auto partitions = partitions_of(j.facts);
  if (std::ranges::none_of(partitions, [](const Partition* p) { return p->up; }))
    return "PartitionDown";
  const auto too_long = [&](const Partition* p) {
    return p->time_max_s >= 0 && (r.time_limit_s < 0 || r.time_limit_s > p->time_max_s);
  };
  if (std::ranges::all_of(partitions, too_long)) return "PartitionTimeLimit";
  const auto too_small = [&](const Partition* p) { return std::ssize(p->nodes) < r.nodes_min; };
  if (std::ranges::all_of(partitions, too_small)) return "PartitionNodeLimit";
  if (j.facts.array.running_max > 0 && !j.tasks.empty()) {
    const auto runs = [&](const auto& item) {
      return item.second.facts.array.id == j.facts.array.id &&
             holds_devices(item.second.facts.state);
    };
    if (std::ranges::count_if(jobs_, runs) >= j.facts.array.running_max) return "JobArrayTaskLimit";
  }
  if (!j.facts.reservation.empty()) {
    const auto at = reservations_.find(j.facts.reservation);
    if (at == reservations_.end()) return "ReservationDeleted";
    if (at->second.start > now_ || at->second.end <= now_) return "Reservation";
  }
  if (std::string limit = limit_refusal(j); !limit.empty()) return limit;
  for (const auto& [name, licence] : licences_) {
    const int64_t wanted = licences_asked(r.licences, name);
    if (wanted > 0 && licences_used(name) + wanted > licence.total) return "Licenses";
  }
  return "";
}

// Throws off what the job's QOS may preempt until it fits: jobs of the fewest nodes first, then the
// oldest, and of those only what is in the way. Nothing where all of them are not enough.
bool SlurmModel::make_room(const ModelJob& j) {
  const auto qos = qos_.find(j.facts.qos);
  if (qos == qos_.end() || qos->second.preempts.empty()) return false;
  std::vector<ModelJob*> victims;
  for (auto& [id, other] : jobs_) {
    const auto& may = qos->second.preempts;
    if (other.facts.state == JobState::running &&
        std::ranges::find(may, other.facts.qos) != may.end())
      victims.push_back(&other);
  }
  std::ranges::sort(victims, [](const ModelJob* a, const ModelJob* b) {
    return std::tuple(a->facts.held.size(), a->facts.id) <
           std::tuple(b->facts.held.size(), b->facts.id);
  });
  Rooms free = rooms();
  bool reserved = false;
  for (size_t n = 0; n < victims.size(); ++n) {
    for (const NodeShare& share : victims[n]->facts.held) {
      Room& room = free.at(share.node);
      room.cpus += share.cpus;
      room.memory_mb += share.memory_mb;
      for (const int32_t d : share.devices) room.busy[static_cast<size_t>(d)] = false;
    }
    const std::vector<NodeShare> wanted = fit(j, free, reserved);
    if (wanted.empty()) continue;
    const auto in_the_way = [&](const NodeShare& share) {
      return std::ranges::find(wanted, share.node, &NodeShare::node) != wanted.end();
    };
    for (size_t k = 0; k <= n; ++k) {
      if (std::ranges::any_of(victims[k]->facts.held, in_the_way))
        throw_off(*victims[k], JobState::preempted);
    }
    return true;
  }
  return false;
}

void SlurmModel::schedule() {
  // Every start and every eviction changes what there is: a pass ends with each, and the next
  // begins.
  for (bool again = true; again;) {
    again = false;
    dirty_ = false;
    std::vector<ModelJob*> order;
    for (auto& [id, j] : jobs_) {
      if (j.facts.state == JobState::pending) order.push_back(&j);
    }
    std::ranges::sort(order, [](const ModelJob* a, const ModelJob* b) {
      return std::tuple(-a->facts.priority, a->facts.id) <
             std::tuple(-b->facts.priority, b->facts.id);
    });
    const Rooms free = rooms();
    std::set<std::string, std::less<>> blocked;  // partitions whose first job lacks room
    for (ModelJob* j : order) {
      std::string reason = refusal(*j);
      const auto is_blocked = [&](std::string_view name) { return blocked.contains(name); };
      if (reason.empty() && std::ranges::any_of(split(j->facts.partition), is_blocked))
        reason = "Priority";
      if (!reason.empty()) {
        j->facts.reason = std::move(reason);
        continue;
      }
      bool reserved = false;
      if (auto held = fit(*j, free, reserved); !held.empty()) {
        start(*j, std::move(held));
        again = true;
        break;
      }
      if (make_room(*j)) {
        again = true;
        break;
      }
      // What is taken by others may come free; what is kept for others will not.
      const bool kept = reserved && fit(*j, empty_rooms(), reserved).empty();
      j->facts.reason = kept ? "ReqNodeNotAvail" : "Resources";
      for (const std::string_view name : split(j->facts.partition)) blocked.emplace(name);
    }
  }
  dirty_ = false;
}

}  // namespace fairlead
