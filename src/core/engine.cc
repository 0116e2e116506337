#include "core/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/hostlist.h"
#include "core/belonging.h"
#include "core/books.h"
#include "core/jobs.h"

namespace fairlead {

Engine::Engine(std::string site, EngineRules rules) {
  state_.site = std::move(site);
  state_.rules = rules;
}

Engine::Engine(State state) : state_(std::move(state)) {
  index_workloads();
  for (const auto& [name, r] : state_.reservations)
    state_.kept_hostlists[name] = fold_hostlist(r.nodes);
  if (auto known = understand(state_.organisation_stated)) state_.organisation = std::move(*known);
  intern_organisation();
}

// Whoever asks about a job that does not exist needs a number for its team and class.
void Engine::intern_organisation() {
  if (!state_.organisation) return;
  state_.names.intern(kUnassigned);
  for (const policy::Team& team : state_.organisation->rules().teams)
    state_.names.intern(team.path);
  for (const policy::Class& klass : state_.organisation->rules().classes)
    state_.names.intern(klass.name);
}

void Engine::index_workloads() {
  state_.queues.clear();
  for (auto& [id, workload] : state_.workloads) {
    // A snapshot from before teams had another source than accounts does not hold these two.
    workload.account = state_.names.intern(workload.job.account);
    workload.qos = state_.names.intern(workload.job.qos);
    by_job_[workload.job.id] = id;
    state_.queues.add(workload);
  }
  for (const PastWorkload& past : state_.past) index_past(past);
}

std::vector<Decision> Engine::step(const Event& event) {
  decisions_.clear();
  // A clock that cannot be right would close years of empty hours: its event is refused whole.
  if (event.at.us <= 0 || (state_.now.known() && event.at > state_.now + state_.rules.jump_max)) {
    ++state_.events_refused;
    return {};
  }
  ++state_.steps;
  if (event.seq != 0) state_.seq = event.seq;
  advance(event.at);
  std::visit([&](const auto& what) { apply(what); }, event.what);
  CHECK(state_.ledger.balanced());
  CHECK(state_.ledger.data().hardware.amount ==
        state_.fleet.present_devices() * kMilli + state_.unplaced_milli);
  return std::move(decisions_);
}

void Engine::advance(Instant at) {
  const Instant before = state_.now;
  state_.now = std::max(before, at);
  advance_books(state_, state_.now);
  // While nobody looked (we were down, or the clock jumped) nothing can be said of what was held.
  if (before.known() && state_.now > before + state_.rules.source_grace &&
      state_.source(Source::scheduler).ok) {
    lose_source(Source::scheduler, "nobody looked");
    freeze(before);
  }
}

void Engine::decide(DecisionKind kind, const Workload* workload, std::string reason,
                    int64_t devices, int64_t device_seconds, IdleKind idle_kind) {
  decisions_.push_back({.id = fmt::format("{}.{}", state_.steps, decisions_.size()),
                        .at = state_.now,
                        .kind = kind,
                        .workload = workload == nullptr ? "" : workload->job.label,
                        .team = workload == nullptr ? "" : state_.names.name(workload->team),
                        .idle_kind = idle_kind,
                        .devices = devices,
                        .device_seconds = device_seconds,
                        .reason = std::move(reason)});
}

// --- sources -------------------------------------------------------------------------------------

void Engine::apply(const PollBegan& began) {
  polls_[static_cast<size_t>(began.source)] = {
      .full = began.full, .rules = {}, .nodes = {}, .jobs = {}};
}

void Engine::lose_source(Source which, const std::string& why) {
  SourceState& source = state_.source(which);
  if (!source.known || !source.ok) return;
  source.ok = false;
  source.lost_since = source.last_ok;
  source.detail = why;
  decide(
      DecisionKind::source_lost, nullptr,
      fmt::format("{} not seen since {}: {}", enum_name(which), to_rfc3339(source.last_ok), why));
}

void Engine::freeze(Instant since) {
  state_.frozen = true;
  refresh_all(state_, since);
}

void Engine::apply(const PollEnded& ended) {
  SourceState& source = state_.source(ended.source);
  const Poll poll = std::exchange(polls_[static_cast<size_t>(ended.source)], {});
  if (!ended.ok) {
    lose_source(ended.source, ended.detail);
    source.detail = ended.detail;
    source.known = true;
  } else {
    if (source.known && !source.ok) {
      decide(DecisionKind::source_back, nullptr,
             fmt::format("{} is seen again", enum_name(ended.source)));
    }
    // A record that could not be read may be the one that seems gone: then nothing is dropped.
    if (poll.full && ended.unreadable == 0 && ended.source == Source::scheduler)
      drop_unrestated(poll);
    source = {.known = true,
              .ok = true,
              .last_ok = state_.now,
              .unreadable = ended.unreadable,
              .detail = ended.detail};
    if (ended.source == Source::scheduler && state_.frozen) {
      state_.frozen = false;
      refresh_all(state_, state_.now);
    }
    if (ended.source == Source::accounting) finish_accounted();
  }
  place_unplaced();
  check_sources();
  if (waiting_changed_ && state_.source(Source::scheduler).ok) {
    mark_stranded(state_, state_.now);
    waiting_changed_ = false;
  }
  find_idle_holds();
  if (ended.source == Source::scheduler && ended.ok && !state_.frozen) suggest();
}

void Engine::apply(const Tick&) {
  check_sources();
  find_idle_holds();
}

// A source that is silent, or fails, for longer than the grace is lost; without the scheduler
// nobody can say what the devices that were held do now.
void Engine::check_sources() {
  for (const Source which : {Source::scheduler, Source::telemetry}) {
    const SourceState& source = state_.source(which);
    if (source.ok && state_.now > source.last_ok + state_.rules.source_grace)
      lose_source(which, "silent");
  }
  const SourceState& scheduler = state_.source(Source::scheduler);
  if (!scheduler.ok && scheduler.last_ok.known() && !state_.frozen &&
      state_.now > scheduler.last_ok + state_.rules.source_grace) {
    freeze(scheduler.last_ok);
  }
  expire_looks();
}

// A job may be stated before its node; its devices are taken once the node is known.
void Engine::place_unplaced() {
  if (state_.unplaced_milli == 0 || state_.fleet.present_devices() == 0) return;
  for (const WorkloadId id : state_.queues.holding()) {
    Workload& workload = state_.workloads.at(id);
    if (workload.unplaced_milli != 0 && !workload.job.held.empty()) place(state_, workload);
  }
}

void Engine::restated(const char* kind, const std::string& name) {
  Poll& poll = polls_[static_cast<size_t>(Source::scheduler)];
  if (poll.full) poll.rules.emplace(kind, name);
}

// What a full poll did not restate is gone.
void Engine::drop_unrestated(const Poll& poll) {
  std::vector<std::string> nodes;
  for (NodeIndex i = 0; i < state_.fleet.nodes().size(); ++i) {
    const FleetNode& node = state_.fleet.node(i);
    if (node.present && !poll.nodes.contains(i)) nodes.push_back(node.facts.name);
  }
  for (const std::string& name : nodes) apply(NodeGone{name});
  std::vector<uint32_t> jobs;
  for (const auto& [id, workload] : state_.workloads) {
    if (!workload.unsettled && !poll.jobs.contains(workload.job.id))
      jobs.push_back(workload.job.id);
  }
  for (const uint32_t job : jobs) apply(JobGone{job});
  const auto drop = [&](const char* kind, auto& known, auto&& name_of) {
    std::erase_if(
        known, [&](const auto& item) { return !poll.rules.contains({kind, name_of(item.first)}); });
  };
  const auto itself = [](const std::string& name) { return name; };
  drop("partition", state_.partitions, itself);
  drop("qos", state_.qos, itself);
  drop("reservation", state_.reservations, itself);
  drop("licence", state_.licences, itself);
  drop("association", state_.associations, [](int64_t id) { return std::to_string(id); });
}

// --- nodes and rules -----------------------------------------------------------------------------

void Engine::apply(const Node& node) {
  const FleetChange change = state_.fleet.state(node, state_.now, state_.names);
  if (Poll& poll = polls_[static_cast<size_t>(Source::scheduler)]; poll.full)
    poll.nodes.insert(change.node);
  if (state_.node_free.size() <= change.node) state_.node_free.resize(change.node + 1, 0);
  for (const DeviceIndex device : change.added) add_device(state_, device, state_.now);
  for (const DeviceIndex device : change.removed) remove_device(state_, device, state_.now);
  if (!change.changed) return;
  refresh_node(state_, change.node, state_.now);
  waiting_changed_ = true;
}

void Engine::apply(const NodeGone& gone) {
  const auto change = state_.fleet.remove(gone.name);
  if (!change) return;
  for (const DeviceIndex device : change->removed) remove_device(state_, device, state_.now);
  waiting_changed_ = true;
}

void Engine::apply(const Partition& partition) {
  restated("partition", partition.name);
  state_.partitions[partition.name] = partition;
  waiting_changed_ = true;
}

void Engine::apply(const Qos& qos) {
  restated("qos", qos.name);
  state_.qos[qos.name] = qos;
}

void Engine::apply(const Association& association) {
  restated("association", std::to_string(association.id));
  state_.associations[association.id] = association;
}

void Engine::apply(const Reservation& reservation) {
  restated("reservation", reservation.name);
  state_.reservations[reservation.name] = reservation;
  state_.kept_hostlists[reservation.name] = fold_hostlist(reservation.nodes);
}

void Engine::apply(const Licence& licence) {
  restated("licence", licence.name);
  state_.licences[licence.name] = licence;
}

void Engine::apply(const RuleGone& gone) {
  if (gone.kind == "partition") state_.partitions.erase(gone.name);
  if (gone.kind == "qos") state_.qos.erase(gone.name);
  if (gone.kind == "reservation") state_.reservations.erase(gone.name);
  if (gone.kind == "licence") state_.licences.erase(gone.name);
  if (gone.kind == "association") {
    std::erase_if(state_.associations,
                  [&](const auto& item) { return std::to_string(item.first) == gone.name; });
  }
  waiting_changed_ = true;
}

// Whoever states an organisation has checked it: one with errors is of another version of us, and
// the one before it stays.
void Engine::apply(const OrganisationStated& stated) {
  auto known = understand(stated);
  if (!known) {
    ++state_.events_refused;
    return;
  }
  state_.organisation_stated = stated;
  state_.organisation = std::move(*known);
  intern_organisation();
  if (state_.organisation) {
    assign_all(state_);
  } else {  // nothing is suggested any more
    state_.suggested.now.clear();
    state_.suggested.claims.clear();
    state_.estimates.now.clear();
  }
  allocator_.forget();
  state_.allocation = nullptr;
}

// --- telemetry -----------------------------------------------------------------------------------

void Engine::apply(const Samples& samples) {
  for (const DeviceSample& sample : samples.samples) {
    const auto node = state_.fleet.find(sample.node);
    const auto device = node ? state_.fleet.device_at(*node, sample.index) : std::nullopt;
    if (!device || is_slice_model(state_.names.name(state_.fleet.device(*device).model))) {
      ++state_.samples_unmatched;
      continue;
    }
    const std::string& model = state_.names.name(state_.fleet.device(*device).model);
    look(*device, sample.at, seen_in(sample, model, state_.rules.evidence));
  }
  for (const UnchangedLook& same : samples.unchanged) {
    const auto node = state_.fleet.find(same.node);
    for (const int32_t index : same.devices) {
      const auto device = node ? state_.fleet.device_at(*node, index) : std::nullopt;
      if (device)
        look(*device, same.at, last_seen(state_.devices[*device].activity));
      else
        ++state_.samples_unmatched;
    }
  }
}

// An exporter whose clock is ahead looked now: else no look after it would seem newer.
void Engine::look(DeviceIndex device, Instant at, Seen seen) {
  DeviceBook& book = state_.devices[device];
  take_in(book.activity, std::min(at, state_.now), seen, state_.rules.evidence);
  if (book.holder != 0) refresh(state_, device, std::min(at, state_.now));
}

// A look counts for a while; after that nobody knows.
void Engine::expire_looks() {
  const Duration stale_after = state_.rules.evidence.stale_after;
  for (DeviceIndex device = 0; device < state_.devices.size(); ++device) {
    DeviceBook& book = state_.devices[device];
    if (book.activity.look == Look::unknown || state_.now <= book.activity.at + stale_after)
      continue;
    book.activity.look = Look::unknown;
    if (book.holder != 0) refresh(state_, device, book.activity.at + stale_after);
  }
}

namespace {

// Idle devices of one workload: the kind of most weight, how many, since when.
IdleHold idle_of(const State& state, const Workload& workload) {
  bool gone = false;
  bool alive = false;
  for (const DeviceIndex device : workload.devices) {
    const Activity& a = state.devices[device].activity;
    if (a.look == Look::unknown || !a.process_known) continue;
    gone = gone || (a.ever_process && !a.process);
    alive = alive || a.process;
  }
  IdleHold hold;
  const Instant latest = state.now - state.rules.evidence.idle_hold_after;
  for (const DeviceIndex device : workload.devices) {
    const Activity& a = state.devices[device].activity;
    const IdleKind kind = idle_kind(a, gone && alive);
    if (kind == IdleKind::none || a.quiet_since > latest) continue;
    ++hold.devices;
    if (hold.kind == IdleKind::none || kind < hold.kind) hold.kind = kind;
    if (!hold.since.known() || a.quiet_since < hold.since) hold.since = a.quiet_since;
  }
  return hold;
}

}  // namespace

void Engine::find_idle_holds() {
  for (const WorkloadId id : state_.queues.holding()) {
    Workload& workload = state_.workloads.at(id);
    const IdleHold found = state_.frozen ? IdleHold{} : idle_of(state_, workload);
    const IdleHold before = std::exchange(workload.idle, found);
    if (before.kind == found.kind) continue;
    if (before.kind != IdleKind::none) {
      decide(DecisionKind::idle_hold_closed, &workload,
             fmt::format("{} no longer idle as {}", workload.job.label, enum_name(before.kind)),
             before.devices, 0, before.kind);
    }
    if (found.kind != IdleKind::none) {
      decide(DecisionKind::idle_hold_opened, &workload,
             fmt::format("{} of {} devices of {} idle since {}: {}", found.devices,
                         workload.devices.size(), workload.job.label, to_rfc3339(found.since),
                         enum_name(found.kind)),
             found.devices, 0, found.kind);
    }
  }
}

}  // namespace fairlead
