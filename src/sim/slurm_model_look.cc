#include <algorithm>

#include "sim/slurm_model.h"

namespace fairlead {

Node SlurmModel::node_facts(const Node& node, const Rooms& rooms) const {
  Node facts = node;
  const Room& room = rooms.at(node.name);
  const auto busy = std::ranges::count(room.busy, true);
  facts.cpus_used = node.cpus - room.cpus;
  facts.memory_used_mb = node.memory_mb - room.memory_mb;
  if (node.state != NodeState::down) {
    const bool full = !room.busy.empty() && busy == static_cast<std::ptrdiff_t>(room.busy.size());
    facts.state = full                  ? NodeState::allocated
                  : facts.cpus_used > 0 ? NodeState::mixed
                                        : NodeState::idle;
  }
  for (const auto& [name, r] : reservations_) {
    if (r.start > now_ || r.end <= now_ || std::ranges::find(r.nodes, node.name) == r.nodes.end())
      continue;
    facts.reserved = true;
    facts.maintenance = facts.maintenance || std::ranges::find(r.flags, "MAINT") != r.flags.end();
  }
  return facts;
}

namespace {

std::string key_of(const char* kind, const std::string& name) {
  return std::string(kind) + "/" + name;
}

bool is_new(std::map<std::string, What>& told, const std::string& key, const What& record) {
  const auto [at, added] = told.try_emplace(key, record);
  if (!added && at->second == record) return false;
  at->second = record;
  return true;
}

}  // namespace

template <class Record>
void SlurmModel::tell_named(std::vector<What>& out, const std::map<std::string, Record>& now,
                            const char* kind) {
  for (const auto& [name, record] : now) {
    if (What what = record; is_new(told_records_, key_of(kind, name), what))
      out.push_back(std::move(what));
  }
  const std::string prefix = key_of(kind, "");
  for (auto it = told_records_.lower_bound(prefix);
       it != told_records_.end() && it->first.starts_with(prefix);) {
    const std::string name = it->first.substr(prefix.size());
    if (now.contains(name)) {
      ++it;
      continue;
    }
    if (std::string_view(kind) == "node")
      out.push_back(NodeGone{name});
    else
      out.push_back(RuleGone{.kind = kind, .name = name});
    it = told_records_.erase(it);
  }
}

void SlurmModel::tell_jobs(std::vector<What>& out) {
  std::vector<const Job*> holding;
  for (const auto& [id, j] : jobs_) {
    const auto known = told_jobs_.find(id);
    if (known != told_jobs_.end() && known->second == j.facts) continue;
    if (holds_devices(j.facts.state))
      holding.push_back(&j.facts);
    else
      out.push_back(j.facts);
  }
  for (const auto& [id, facts] : told_jobs_) {
    if (!jobs_.contains(id)) out.push_back(JobGone{id});
  }
  for (const Job* facts : holding) out.push_back(*facts);
  told_jobs_.clear();
  for (const auto& [id, j] : jobs_) told_jobs_[id] = j.facts;
}

std::vector<What> SlurmModel::poll(bool full) {
  if (away_) return {PollBegan{}, PollEnded{.ok = false, .detail = "slurmctld does not answer"}};
  full = full || !told_ || told_booted_ != booted_;
  if (full) {
    told_records_.clear();
    told_jobs_.clear();
  }
  told_ = true;
  told_booted_ = booted_;
  std::vector<What> out{PollBegan{.full = full}};
  const What scheduler = Scheduler{.cluster = "model",
                                   .release = "22.05.8",
                                   .enforces_limits = true,
                                   .enforces_qos = true,
                                   .enforces_associations = true,
                                   .booted = booted_};
  if (is_new(told_records_, "scheduler", scheduler)) out.push_back(scheduler);
  const Rooms free = rooms();
  std::map<std::string, Node> nodes;
  for (const auto& [name, node] : nodes_) nodes[name] = node_facts(node, free);
  tell_named(out, nodes, "node");
  tell_named(out, partitions_, "partition");
  tell_named(out, qos_, "qos");
  tell_named(out, associations_, "association");
  tell_named(out, reservations_, "reservation");
  std::map<std::string, Licence> licences = licences_;
  for (auto& [name, licence] : licences) licence.used = licences_used(name);
  tell_named(out, licences, "licence");
  tell_jobs(out);
  out.push_back(PollEnded{});
  return out;
}

namespace {

Doing doing_of(const std::vector<Phase>& phases, int64_t second, int32_t ordinal) {
  Doing doing = Doing::busy;
  for (const Phase& phase : phases) {
    if (phase.after_s > second) break;
    if (phase.devices == 0 || ordinal < phase.devices) doing = phase.doing;
  }
  return doing;
}

void fill_sample(DeviceSample& s, Doing doing) {
  s.utilisation_ppm = doing == Doing::busy ? 950'000 : doing == Doing::stuck ? 1'000'000 : 0;
  s.tensor_active_ppm = doing == Doing::busy ? 400'000 : 0;
  s.memory_active_ppm = doing == Doing::busy ? 500'000 : 0;
  s.memory_used_mib = doing == Doing::empty ? 4 : 60'000;
  s.memory_total_mib = 81'559;
  s.power_mw = doing == Doing::busy ? 620'000 : 75'000;
}

}  // namespace

Samples SlurmModel::look() const {
  struct Use {
    const ModelJob* job = nullptr;
    int32_t ordinal = 0;
  };
  std::map<std::pair<std::string, int32_t>, Use> uses;
  for (const auto& [id, j] : jobs_) {
    int32_t ordinal = 0;
    for (const NodeShare& share : j.facts.held) {
      for (const int32_t d : share.devices) uses[{share.node, d}] = {&j, ordinal++};
    }
  }
  Samples out;
  for (const auto& [name, node] : nodes_) {
    if (node.not_responding) continue;
    int32_t devices = 0;
    for (const DeviceGroup& group : node.devices) devices += group.count;
    for (int32_t d = 0; d < devices; ++d) {
      DeviceSample sample{.node = name, .index = d, .at = now_};
      const auto use = uses.find({name, d});
      Doing doing = Doing::empty;
      if (use != uses.end()) {
        const ModelJob& j = *use->second.job;
        const int64_t second = whole_seconds(now_ - j.facts.start);
        doing = j.facts.state == JobState::suspended
                    ? Doing::quiet
                    : doing_of(j.asked.does, second, use->second.ordinal);
      }
      if (doing == Doing::silent) continue;
      fill_sample(sample, doing);
      out.samples.push_back(std::move(sample));
    }
  }
  return out;
}

}  // namespace fairlead
