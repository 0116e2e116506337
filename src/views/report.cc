#include "views/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/words.h"
#include "views/entitlement.h"
#include "views/fragmentation.h"

namespace fairlead {
namespace {

constexpr int64_t kPpm = 1'000'000;

int64_t ppm(int64_t part, int64_t whole) {
  return whole <= 0 ? 0
                    : static_cast<int64_t>(static_cast<long double>(part) * kPpm /
                                           static_cast<long double>(whole));
}

// Gathers the rows of one dimension: team, class, user or partition.
class Dimension {
 public:
  struct Sums {
    ByColumn milli;
    ReportRow row;
    std::vector<int64_t> waits;
  };
  Sums& operator[](NameId name) { return sums_[name]; }

  std::vector<ReportRow> rows(const NameTable& names) {
    std::vector<ReportRow> rows;
    for (auto& [name, sums] : sums_) {
      sums.row.name = names.name(name);
      sums.row.gpu_seconds = columns_of(sums.milli);
      sums.row.wait_us = quantiles_of(std::move(sums.waits));
      rows.push_back(std::move(sums.row));
    }
    std::ranges::sort(rows, {},
                      [](const ReportRow& r) { return std::pair(-r.gpu_seconds.total, r.name); });
    return rows;
  }

 private:
  std::map<NameId, Sums> sums_;
};

struct Dimensions {
  Dimension team, klass, user, partition;
  template <class Who, class F>
  void each(const Who& who, F&& f) {
    f(team[who.team]);
    f(klass[who.klass]);
    f(user[who.user]);
    f(partition[who.partition]);
  }
};

// A workload of either kind, as the report counts it.
struct Counted {
  NameId team = 0, klass = 0, user = 0, partition = 0;
  int64_t count = 1;
  JobState state = JobState::unknown;
  Instant submit, first_start, end;
  int64_t devices = 0, time_limit_s = -1, run_s = 0;
  int64_t milli_seconds = 0;  // of its runs
};

void count(Dimensions& by, const Counted& w, Instant from, Instant to) {
  const bool waits = w.state == JobState::pending;
  if (!waits && w.end.known() && w.end < from) return;
  const bool started = w.first_start.known() && w.first_start >= from && w.first_start <= to;
  const bool ended = has_ended(w.state) && w.end >= from;
  by.each(w, [&](Dimension::Sums& sums) {
    sums.row.workloads += w.count;
    if (!w.first_start.known()) sums.row.never_started += w.count;
    if (started) {
      ++sums.row.started;
      sums.waits.push_back(std::max<int64_t>(0, (w.first_start - w.submit).us));
    }
    if (ended && w.first_start.known() && w.time_limit_s > 0) {
      sums.row.requested_gpu_seconds += w.devices * w.time_limit_s;
      sums.row.used_gpu_seconds += w.devices * w.run_s;
    }
  });
}

Counted counted(const State& state, const Workload& w) {
  const Job& job = w.job;
  const ByColumn use = use_of(state, w);
  return {.team = w.team,
          .klass = w.klass,
          .user = w.user,
          .partition = w.partition,
          .count = std::max<int64_t>(1, job.array.waiting_count),
          .state = job.state,
          .submit = w.first_submit,
          .first_start = w.first_start,
          .end = w.ended ? (w.run_end.known() ? w.run_end : job.end) : Instant{},
          .devices = job.request.devices.total,
          .time_limit_s = job.request.time_limit_s,
          .run_s = w.run_end.known() ? whole_seconds(w.run_end - w.run_start) : 0,
          .milli_seconds = use.held()};
}

Counted counted(const PastWorkload& p) {
  return {.team = p.team,
          .klass = p.klass,
          .user = p.user,
          .partition = p.partition,
          .state = p.state,
          .submit = p.submit,
          .first_start = p.first_start,
          .end = p.end,
          .devices = p.devices,
          .time_limit_s = p.time_limit_s,
          .run_s = p.run_s,
          .milli_seconds = p.milli_seconds.held()};
}

std::vector<IdleHoldRow> idle_holds_of(const State& state) {
  std::vector<IdleHoldRow> rows;
  for (const WorkloadId id : state.queues.holding()) {
    const Workload& w = state.workloads.at(id);
    if (w.idle.kind == IdleKind::none) continue;
    rows.push_back({.workload = w.job.label,
                    .team = state.names.name(w.team),
                    .user = w.job.user,
                    .kind = w.idle.kind,
                    .gpus = w.idle.devices,
                    .since = w.idle.since,
                    .gpu_seconds = use_of(state, w).held_idle / kMilli});
  }
  std::ranges::sort(rows, {},
                    [](const IdleHoldRow& r) { return std::pair(-r.gpu_seconds, r.workload); });
  return rows;
}

std::vector<ModelRow> models_of(const State& state, const std::map<NameId, ByColumn>& seconds) {
  std::map<NameId, ByColumn> now;
  for (const Device& device : state.fleet.devices()) {
    if (device.present)
      now[device.model][state.devices[static_cast<size_t>(&device - state.fleet.devices().data())]
                            .account.column] += kMilli;
  }
  for (const auto& [model, sums] : seconds) now.try_emplace(model);
  std::vector<ModelRow> rows;
  for (const auto& [model, gpus] : now) {
    const auto it = seconds.find(model);
    rows.push_back({.model = state.names.name(model),
                    .gpus = columns_of(gpus),
                    .gpu_seconds = columns_of(it == seconds.end() ? ByColumn{} : it->second)});
  }
  std::ranges::sort(rows, {}, [](const ModelRow& r) { return std::pair(-r.gpus.total, r.model); });
  return rows;
}

std::string percent(int64_t part, int64_t whole) {
  return whole == 0 ? "none"
                    : fmt::format("{:.1f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string hours(int64_t gpu_seconds) {
  const double h = static_cast<double>(gpu_seconds) / 3600;
  return h >= 100 ? fmt::format("{:.0f}", h)
         : h >= 1 ? fmt::format("{:.1f}", h)
                  : fmt::format("{:.2f}", h);
}

int64_t idle_now(const Report& r) {
  int64_t idle = 0;
  for (const ModelRow& m : r.models) idle += m.gpus.held_idle;
  return idle;
}

}  // namespace

bool is_blind_now(const Report& r) {
  ByColumn now;
  for (const ModelRow& m : r.models) {
    now.useful += m.gpus.useful;
    now.held_idle += m.gpus.held_idle;
    now.held_unmeasured += m.gpus.held_unmeasured;
  }
  const bool configured = std::ranges::any_of(
      r.sources, [](const SourceRow& s) { return s.source == Source::telemetry && s.known; });
  return configured && now.held_unmeasured > 0 && now.useful + now.held_idle == 0;
}

namespace {

std::vector<std::string> sentences_of(const Report& r) {
  const ColumnSeconds& s = r.gpu_seconds;
  std::vector<std::string> out;
  const int64_t held = s.useful + s.held_idle + s.held_unmeasured + s.lost;
  if (s.total == 0) {
    out.push_back(fmt::format("{}; nothing is booked yet.", plural(r.gpus, "GPU")));
  } else if (held == 0) {
    out.push_back(fmt::format("Of {} GPU-hours none were held.", hours(s.total)));
  } else if (r.telemetry_coverage_ppm == 0) {
    out.push_back(fmt::format(
        "Of {} GPU-hours {} were held; without telemetry nobody can say how much of it was useful.",
        hours(s.total), percent(held, s.total)));
  } else {
    out.push_back(
        fmt::format("Of {} GPU-hours {} were held and {} were seen to do useful work; telemetry "
                    "covers {} of what was held.",
                    hours(s.total), percent(held, s.total), percent(s.useful, s.total),
                    percent(r.telemetry_coverage_ppm, kPpm)));
  }
  int64_t idle_gpus = 0;
  for (const IdleHoldRow& hold : r.idle_holds) idle_gpus += hold.gpus;
  if (idle_gpus > 0) {
    out.push_back(fmt::format(
        "{} {} held and idle now, most of it by {} of team {} ({}); {} GPU-hours "
        "were held idle in all.",
        plural(idle_gpus, "GPU"), idle_gpus == 1 ? "is" : "are", r.idle_holds[0].workload,
        r.idle_holds[0].team, enum_name(r.idle_holds[0].kind), hours(s.held_idle)));
  } else {
    out.push_back(
        is_blind_now(r) ? "Idle holds cannot be seen now: no held GPU has a fresh sample."
        : r.telemetry_coverage_ppm == 0 && s.total > 0
            ? "Idle holds cannot be seen without telemetry."
        : s.held_idle > 0
            ? fmt::format("No hold is idle for long now; {} GPU-hours were held idle in all.",
                          hours(s.held_idle))
            : (idle_now(r) > 0
                   ? fmt::format("{} {} idle at the moment, none for long.",
                                 plural(idle_now(r), "held GPU"), idle_now(r) == 1 ? "is" : "are")
                   : std::string("No idle hold was seen.")));
  }
  const auto waiting = static_cast<int64_t>(r.waiting.size()) + r.waiting_more;
  if (waiting == 0) {
    out.push_back("Nothing waits.");
  } else {
    std::map<std::string, int64_t> firsts;
    for (const WaitingRow& row : r.waiting) {
      if (!row.blockers.empty()) ++firsts[enum_name(row.blockers[0])];
    }
    const auto most =
        std::ranges::max_element(firsts, {}, [](const auto& item) { return item.second; });
    const std::string wait = plural(waiting, "workload") + (waiting == 1 ? " waits" : " wait");
    out.push_back(
        !r.fleet_known
            ? fmt::format("{}; why is not known, since nothing is known of the nodes.", wait)
            : fmt::format("{}{}; GPUs free: {}, and stranded: {}.", wait,
                          most == firsts.end() ? "" : fmt::format(", most for {}", most->first),
                          r.fragmentation.free_gpus, r.fragmentation.stranded_gpus));
  }
  return out;
}

void add_notes(const State& state, Report& r) {
  r.sources = sources_of(state);
  for (const SourceRow& s : r.sources) {
    if (s.known && !s.ok)
      r.notes.push_back(fmt::format("{} is not seen: {}", enum_name(s.source), s.detail));
    if (s.unreadable > 0)
      r.notes.push_back(fmt::format("{} of {} could not be read", plural(s.unreadable, "record"),
                                    enum_name(s.source)));
  }
  if (!state.source(Source::telemetry).known)
    r.notes.push_back("no telemetry is configured: what is held cannot be measured");
  if (state.frozen)
    r.notes.push_back("what is held is shown as last seen; its use is not measurable meanwhile");
  if (!r.fleet_known)
    r.notes.push_back(
        "the fleet is not known: there is no free, stranded or down, only what jobs held");
  if (state.unplaced_milli > 0)
    r.notes.push_back(fmt::format("held on nodes that nobody stated: {}",
                                  plural(state.unplaced_milli / kMilli, "device")));
  const auto sharing = std::ranges::count_if(state.queues.holding(), [&](WorkloadId id) {
    const DeviceRequest& devices = state.workloads.at(id).job.request.devices;
    return devices.shares > 0 && devices.total == 0;
  });
  if (sharing > 0)
    r.notes.push_back(
        fmt::format("shares of GPUs (gres/shard, gres/mps) are held by {}: which GPUs is not "
                    "modelled, so these "
                    "count as not held",
                    plural(sharing, "job")));
  const bool cut = std::ranges::any_of(state.fleet.devices(), [&](const Device& device) {
    return device.present && is_slice_model(state.names.name(device.model));
  });
  if (cut)
    r.notes.push_back(
        "MIG instances count as one GPU each, of the model that the scheduler names; their use is "
        "not measured");
  if (state.samples_unmatched > 0)
    r.notes.push_back(fmt::format("of devices that no node states: {}",
                                  plural(state.samples_unmatched, "sample")));
  if (state.events_refused > 0)
    r.notes.push_back(fmt::format("from a clock that cannot be right: {}",
                                  plural(state.events_refused, "event")));
  if (state.past_dropped > 0)
    r.notes.push_back(
        fmt::format("{} oldest workloads are no longer counted in waits", state.past_dropped));
}

}  // namespace

std::vector<SourceRow> sources_of(const State& state) {
  std::vector<SourceRow> rows;
  for (size_t i = 0; i < state.sources.size(); ++i) {
    const SourceState& s = state.sources[i];
    rows.push_back({.source = static_cast<Source>(i),
                    .ok = s.ok,
                    .known = s.known,
                    .last_ok = s.last_ok,
                    .unreadable = s.unreadable,
                    .detail = s.detail});
  }
  return rows;
}

ColumnSeconds columns_of(const ByColumn& milli) {
  ByColumn s;
  Column largest = Column::useful;
  for (size_t c = 0; c < kColumns; ++c) {
    const auto column = static_cast<Column>(c);
    s[column] = milli[column] / kMilli;
    if (milli[column] > milli[largest]) largest = column;
  }
  const int64_t total = milli.total() / kMilli;
  s[largest] += total - s.total();
  return {.useful = s.useful,
          .held_idle = s.held_idle,
          .held_unmeasured = s.held_unmeasured,
          .lost = s.lost,
          .reserved = s.reserved,
          .free = s.free,
          .stranded = s.stranded,
          .down = s.down,
          .total = total};
}

WaitQuantiles quantiles_of(std::vector<int64_t> waits) {
  if (waits.empty()) return {};
  std::ranges::sort(waits);
  const auto rank = [&](size_t percent) { return waits[(waits.size() * percent + 99) / 100 - 1]; };
  return {.p50 = rank(50), .p90 = rank(90), .p99 = rank(99)};
}

Queue queue_of(const State& state, size_t most) {
  const SourceState& scheduler = state.source(Source::scheduler);
  Queue queue{.site = state.site, .as_of = scheduler.last_ok};
  if (scheduler.known && !scheduler.ok && scheduler.last_ok.known()) {
    queue.note = fmt::format("the scheduler is not seen since {}: {}",
                             to_rfc3339(scheduler.last_ok), scheduler.detail);
  }
  const bool fleet_known = !state.fleet.nodes().empty();
  const auto& waiting = state.queues.waiting();
  Explainer explainer(state);
  for (const auto& place : waiting) {
    if (queue.waiting.size() >= most) break;
    const Workload* w = &state.workloads.at(std::get<WorkloadId>(place));
    const Explanation x = explainer.explain(*w);
    WaitingRow row{.workload = x.workload,
                   .team = x.team,
                   .user = x.user,
                   .klass = x.klass,
                   .partition = x.partition,
                   .gang = to_text(shape_of(w->job)),
                   .wait_us = x.wait_us,
                   .gpus = w->job.request.devices.total,
                   .tasks = std::max<int64_t>(1, w->job.array.waiting_count),
                   .priority = x.priority,
                   .blockers = {},
                   .message = x.blockers.empty() ? "" : x.blockers[0].message,
                   .can_never_start = x.can_never_start,
                   .verdict = x.policy.verdict,
                   .start_p50 = x.start.p50,
                   .start_p90 = x.start.p90,
                   .scheduler_reason = x.scheduler_reason,
                   .scheduler_agrees = x.scheduler_agrees};
    if (fleet_known) {
      for (const Blocker& b : x.blockers) row.blockers.push_back(b.code);
    } else {  // a history of jobs alone
      row.message = "not known: nothing is known of the nodes";
      row.can_never_start = false;
    }
    queue.waiting.push_back(std::move(row));
  }
  queue.waiting_more = static_cast<int64_t>(waiting.size() - queue.waiting.size());
  return queue;
}

Report report_of(const State& state, const ReportOptions& options) {
  // 1. The window: since the books opened, or the hour that `from` lies in.
  Report r{.site = state.site, .to = state.now};
  const bool open = state.ledger.data().opened != 0;
  const int64_t opened = open ? state.ledger.data().opened : floor_seconds(state.now);
  const int64_t from = std::max(opened, floor_seconds(options.from) / kLedgerHour * kLedgerHour);
  r.from = instant_of_seconds(from);
  if (!state.scheduler.release.empty()) r.scheduler = "slurm";
  r.fleet_known = !state.fleet.nodes().empty();
  r.gpus = state.fleet.present_devices() + state.unplaced_milli / kMilli;
  // 2. The ledger's projections.
  ByColumn all;
  std::map<NameId, ByColumn> models;
  Dimensions by;
  state.ledger.for_each(from / kLedgerHour * kLedgerHour, floor_seconds(state.now),
                        [&](const Account& a, int64_t, int64_t ms) {
                          all[a.column] += ms;
                          models[a.model][a.column] += ms;
                          if (is_held(a.column) || a.column == Column::lost)
                            by.each(a, [&](Dimension::Sums& sums) { sums.milli[a.column] += ms; });
                        });
  r.gpu_seconds = columns_of(all);
  r.telemetry_coverage_ppm =
      ppm(all.useful + all.held_idle, all.useful + all.held_idle + all.held_unmeasured);
  r.useful_ppm = ppm(all.useful, all.total());
  // 3. Workloads: waits and ends.
  std::map<JobState, EndedRow> ended;
  const auto take = [&](const Counted& w) {
    count(by, w, r.from, r.to);
    if (!has_ended(w.state) || w.end < r.from) return;
    EndedRow& row = ended[w.state];
    row.state = w.state;
    ++row.workloads;
    row.gpu_seconds += w.milli_seconds / kMilli;
  };
  for (const auto& [id, w] : state.workloads) take(counted(state, w));
  for (const PastWorkload& p : state.past) take(counted(p));
  for (const auto& [s, row] : ended) r.ended.push_back(row);
  // 4. Rows.
  for (ReportRow& row : by.team.rows(state.names)) {
    TeamRow team;
    static_cast<ReportRow&>(team) = std::move(row);
    team.team = team.name;
    r.teams.push_back(std::move(team));
  }
  add_entitlement(state, r.teams);
  r.classes = by.klass.rows(state.names);
  r.users = by.user.rows(state.names);
  r.partitions = by.partition.rows(state.names);
  r.models = models_of(state, models);
  r.idle_holds = idle_holds_of(state);
  Queue queue = queue_of(state, options.waiting_max);
  r.waiting = std::move(queue.waiting);
  r.waiting_more = queue.waiting_more;
  r.fragmentation = fragmentation_of(state);
  // 5. Words.
  add_notes(state, r);
  r.sentences = sentences_of(r);
  return r;
}

}  // namespace fairlead
