#include "adapters/slurm/differ.h"

#include <algorithm>
#include <bit>
#include <set>

namespace fairlead::slurm {
namespace {

constexpr int64_t kPlannedGridUs =
    300 * kMicrosPerSecond;  // chosen: backfill's own grid is 1 to 5 min

bool holds(const Job& job) {
  return holds_devices(job.state) &&
         std::ranges::any_of(job.held, [](const NodeShare& s) { return s.device_count > 0; });
}

// Keeps the seven highest bits: equal for amounts that differ by less than about 1 %.
int64_t coarse(int64_t amount) {
  const auto bits = std::bit_width(static_cast<uint64_t>(std::max<int64_t>(amount, 0)));
  return bits <= 7 ? amount : amount >> (bits - 7) << (bits - 7);
}

template <class Record>
Digest whole_digest(const Record& record) {
  Hasher hasher;
  fold(hasher, record);
  return hasher.digest();
}
Digest digest_of(const Node& record) { return whole_digest(record); }
Digest digest_of(const Partition& record) { return whole_digest(record); }
Digest digest_of(const Qos& record) { return whole_digest(record); }
Digest digest_of(const Reservation& record) { return whole_digest(record); }
Digest digest_of(const Licence& record) { return whole_digest(record); }

}  // namespace

Digest digest_of(const Job& job) {
  Hasher hasher;
  for_each_member(job, [&](const char*, const auto& member) {
    const void* const at = &member;
    if (at == &job.last_evaluated || at == &job.start_planned) return;
    fold(hasher, member);
  });
  hasher.add(static_cast<uint64_t>(job.start_planned.us / kPlannedGridUs));
  return hasher.digest();
}

Digest digest_of(const Association& association) {
  Association rounded = association;
  rounded.usage_raw = coarse(association.usage_raw);
  rounded.fairshare_ppm = association.fairshare_ppm / 1000;
  return whole_digest(rounded);
}

std::string association_name(const Association& association) {
  return std::to_string(association.id);
}

std::vector<What> Differ::failed_poll(std::string detail) {
  return {PollBegan{}, PollEnded{.ok = false, .detail = std::move(detail)}};
}

template <class Record, class Key, class Emit>
void Differ::state_named(const std::vector<Record>& records, Stated& stated, bool may_drop, Key key,
                         Emit gone) {
  std::set<std::string> seen;
  for (const Record& record : records) {
    const std::string name = key(record);
    const Digest digest = digest_of(record);
    const auto [at, added] = stated.try_emplace(name, digest);
    if (added || at->second != digest) out_.push_back(record);
    at->second = digest;
    seen.insert(name);
  }
  if (!may_drop) return;
  for (auto it = stated.begin(); it != stated.end();) {
    if (seen.contains(it->first)) {
      ++it;
      continue;
    }
    gone(it->first);
    it = stated.erase(it);
  }
}

void Differ::rule_gone(const char* kind, const std::string& name) {
  out_.push_back(RuleGone{.kind = kind, .name = name});
}

void Differ::state_jobs(const SlurmFacts& facts) {
  boost::unordered_flat_map<uint32_t, Digest> seen;
  seen.reserve(facts.jobs.size());
  std::vector<const Job*> holding;
  for (const Job& job : facts.jobs) {
    const Digest digest = digest_of(job);
    seen[job.id] = digest;
    if (const auto known = jobs_.find(job.id); known != jobs_.end() && known->second == digest)
      continue;
    if (holds(job))
      holding.push_back(&job);
    else
      out_.push_back(job);
  }
  // What left is named before what took its place.
  std::vector<uint32_t> left;
  for (const auto& [id, digest] : jobs_) {
    if (seen.contains(id)) continue;
    if (facts.unreadable[Part::jobs] == 0)
      left.push_back(id);
    else
      seen[id] = digest;
  }
  std::ranges::sort(left);
  for (const uint32_t id : left) out_.push_back(JobGone{.id = id});
  for (const Job* job : holding) out_.push_back(*job);
  jobs_ = std::move(seen);
}

void Differ::state_rules(const SlurmFacts& facts, const PerPart<bool>& changed) {
  const auto by_name = [](const auto& record) { return record.name; };
  const auto may_drop = [&](Part part) { return facts.unreadable[part] == 0; };
  if (changed[Part::partitions]) {
    state_named(facts.partitions, partitions_, may_drop(Part::partitions), by_name,
                [&](const std::string& name) { rule_gone("partition", name); });
  }
  if (changed[Part::rules]) {
    state_named(facts.qos, qos_, may_drop(Part::rules), by_name,
                [&](const std::string& name) { rule_gone("qos", name); });
    state_named(facts.associations, associations_, may_drop(Part::rules), association_name,
                [&](const std::string& name) { rule_gone("association", name); });
  }
  if (changed[Part::reservations]) {
    state_named(facts.reservations, reservations_, may_drop(Part::reservations), by_name,
                [&](const std::string& name) { rule_gone("reservation", name); });
  }
  if (changed[Part::licences]) {
    state_named(facts.licences, licences_, may_drop(Part::licences), by_name,
                [&](const std::string& name) { rule_gone("licence", name); });
  }
}

std::vector<What> Differ::poll(const SlurmFacts& facts, const PerPart<bool>& changed, bool full) {
  PerPart<bool> look = changed;
  if (full || !started_) {
    *this = Differ{};
    started_ = full = true;
    look.values.fill(true);
  }
  out_.clear();
  out_.push_back(PollBegan{.full = full});
  if (look[Part::config] || look[Part::statistics]) {
    const Digest digest = whole_digest(facts.scheduler);
    if (full || digest != scheduler_) out_.push_back(facts.scheduler);
    scheduler_ = digest;
  }
  if (look[Part::topology] && facts.topology) {
    const Digest digest = whole_digest(*facts.topology);
    if (full || digest != topology_) out_.push_back(*facts.topology);
    topology_ = digest;
  }
  if (look[Part::nodes]) {
    state_named(
        facts.nodes, nodes_, facts.unreadable[Part::nodes] == 0,
        [](const Node& node) { return node.name; },
        [&](const std::string& name) { out_.push_back(NodeGone{.name = name}); });
  }
  state_rules(facts, look);
  if (look[Part::jobs] || look[Part::steps]) state_jobs(facts);
  PollEnded ended;
  for (const Part part : kParts) {
    if (look[part]) ended.unreadable += facts.unreadable[part];
  }
  out_.push_back(std::move(ended));
  return std::move(out_);
}

}  // namespace fairlead::slurm
