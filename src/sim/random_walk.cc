#include "sim/random_walk.h"

#include "core/thin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/rng.h"
#include "sim/walk_wire.h"
#include "sim/watched_site.h"

namespace fairlead {
namespace {

constexpr Instant kWalkStart = instant_of_seconds(1'767'225'600);
constexpr int32_t kNodesMost = 12;
constexpr size_t kJobsMost = 60;  // listed at once: keeps a step cheap

WatchRules walk_rules(bool calm) {
  WatchRules rules;
  rules.poll_every = seconds(calm ? 1 : 20);
  rules.engine.evidence.idle_hold_after = seconds(300);
  return rules;
}

class Walk {
 public:
  explicit Walk(const WalkOptions& options)
      : options_(options), site_(kWalkStart, walk_rules(options.calm)) {
    for (int32_t i = 0; i < 6; ++i) add_node(i);
    for (const char* name : {"gpu", "big"})
      site_.slurm().put(Partition{.name = name, .nodes = all_names()});
    site_.slurm().put(Qos{.name = "normal"});
    Qos prod{.name = "prod"};
    prod.preempts = {"normal"};
    site_.slurm().put(prod);
    site_.wire = [this](std::vector<Event>& events) {
      wire_.pass(events, rng_);
      if (options_.thin) thin_samples(site_.engine().state(), events);
    };
    site_.decision = [this](const Decision& d) {
      ++result_.decisions;
      fold(decided_, d);
    };
    site_.stepped = [this](const Event&) { ++result_.events; };
  }

  WalkResult run(std::span<const WalkStep> steps) {
    for (size_t i = 0; i < steps.size() && result_.problem.empty(); ++i) {
      result_.step = static_cast<int64_t>(i);
      rng_ = Rng(steps[i].draws);
      make(steps[i].kind);
      if (options_.calm) look_at_once();
      if (result_.problem.empty()) result_.problem = site_.engine().recount();
      if (result_.problem.empty() && options_.also)
        result_.problem = options_.also(steps.first(i + 1));
    }
    Hasher all;
    all.add(site_.engine().digest().value);
    all.add(decided_.digest().value);
    result_.digest = all.digest();
    return result_;
  }

 private:
  // --- the walk
  void make(StepKind kind) {
    switch (kind) {
      case StepKind::pass:
        return pass(rng_.between(1, 45));
      case StepKind::pause:
        return pass(rng_.between(60, options_.calm ? 600 : 1200));
      case StepKind::submit:
        return submit();
      case StepKind::job:
        return change_job();
      case StepKind::node:
        return change_node();
      case StepKind::controller:
        return change_controller();
      case StepKind::organisation:
        return change_organisation();
      case StepKind::fault:
        return change_faults();
      case StepKind::compare:
        return compare();
    }
  }

  // A run that begins and is thrown away between two looks is one that nobody can know of.
  void look_at_once() {
    site_.slurm().advance(site_.slurm().now());
    site_.poll();
  }

  void pass(int64_t s) {
    site_.run_until(site_.slurm().now() + seconds(s), options_.calm || rng_.chance(500'000));
  }

  void submit() {
    if (site_.slurm().listed().size() >= kJobsMost) return pass(30);
    constexpr std::array<const char*, 3> kTeams = {"ads", "llm", "vision"};
    constexpr std::array<int32_t, 6> kDevices = {0, 1, 2, 4, 8, 8};
    ModelSubmission s;
    s.job.name = "j";
    s.job.user = fmt::format("u{}", rng_.below(4));
    s.job.account = kTeams[rng_.below(kTeams.size())];
    s.job.qos = rng_.chance(200'000) ? "prod" : "normal";
    s.job.partition = rng_.chance(200'000) ? "gpu,big" : rng_.chance(500'000) ? "gpu" : "big";
    JobRequest& r = s.job.request;
    const int32_t devices = kDevices[rng_.below(kDevices.size())];
    r.nodes_min = devices == 8 ? static_cast<int32_t>(rng_.between(1, 3)) : 1;
    if (rng_.chance(700'000))
      r.devices = {.model = {}, .per_node = devices, .total = devices * r.nodes_min};
    else
      r.devices.total = devices;
    if (rng_.chance(300'000)) r.devices.model = rng_.chance(500'000) ? "h100" : "a100";
    r.time_limit_s = rng_.chance(800'000) ? rng_.between(60, 3000) : -1;
    s.runs_s = rng_.between(1, 4000);
    s.fails = rng_.chance(100'000);
    s.may_requeue = rng_.chance(700'000);
    s.held = rng_.chance(50'000);
    if (rng_.chance(80'000)) {
      const int64_t last =
          rng_.between(0, 6);  // one draw a statement: compilers order arguments as they like
      s.array = fmt::format("0-{}%{}", last, rng_.between(0, 3));
    }
    if (rng_.chance(100'000)) s.job.begin = site_.slurm().now() + seconds(rng_.between(1, 600));
    if (last_id_ != 0 && rng_.chance(100'000)) s.after_ok = {last_id_};
    for (int64_t at = 0; rng_.chance(600'000) && s.does.size() < 4; at += rng_.between(1, 900)) {
      s.does.push_back({.after_s = at,
                        .doing = static_cast<Doing>(rng_.below(5)),
                        .devices = static_cast<int32_t>(rng_.below(3))});
    }
    if (const auto id = site_.slurm().submit(std::move(s))) {
      last_id_ = *id;
      ++result_.submitted;
    }
  }

  void change_job() {
    const auto ids = site_.slurm().listed();
    if (ids.empty()) return;
    const uint32_t id = ids[rng_.below(ids.size())];
    SlurmModel& m = site_.slurm();
    switch (rng_.below(8)) {
      case 0:
        m.cancel(id);
        break;
      case 1:
        m.hold(id);
        break;
      case 2:
        m.release(id);
        break;
      case 3:
        m.suspend(id);
        break;
      case 4:
        m.resume(id);
        break;
      case 5:
        m.requeue(id);
        break;
      case 6:
        m.preempt(id);
        break;
      default:
        if (!options_.calm) m.shrink(id, 1);
        break;
    }
  }

  static std::string name_of(int32_t i) { return fmt::format("n{:02}", i); }
  static std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (int32_t i = 0; i < kNodesMost; ++i) names.push_back(name_of(i));
    return names;
  }

  void add_node(int32_t i) {
    Node node{.name = name_of(i),
              .state = NodeState::idle,
              .devices = {{.model = i % 3 == 0 ? "a100" : "h100", .count = i % 4 == 0 ? 4 : 8}},
              .cpus = 64,
              .memory_mb = 1'000'000};
    site_.slurm().put(std::move(node));
  }

  void change_node() {
    const auto i = static_cast<int32_t>(rng_.below(kNodesMost));
    SlurmModel& m = site_.slurm();
    switch (rng_.below(9)) {
      case 0:
        m.fail_node(name_of(i));
        break;
      case 1:
        m.drain(name_of(i), "walk");
        break;
      case 2:
        if (!options_.calm && rng_.chance(200'000)) m.drop_node(name_of(i));
        break;
      case 3:
        if (!options_.calm && !m.away()) {
          m.drop_node(name_of(i));  // a node that is configured anew runs nothing
          add_node(i);
        }
        break;
      case 4: {
        Reservation r{.name = fmt::format("r{}", rng_.below(3)),
                      .start = m.now() + seconds(rng_.between(0, 600)),
                      .nodes = {name_of(i)}};
        r.end = r.start + seconds(rng_.between(1, 1200));
        if (rng_.chance(500'000)) r.flags = {"MAINT"};
        m.put(std::move(r));
        break;
      }
      case 5:
        m.refuse_launches(name_of(i), rng_.chance(300'000));
        break;
      case 6:
        m.drop_reservation(fmt::format("r{}", rng_.below(3)));
        break;
      default:
        m.undrain(name_of(i));
        break;
    }
  }

  void change_controller() {
    SlurmModel& m = site_.slurm();
    if (m.away())
      m.restart();
    else if (rng_.chance(300'000))
      m.schedule_from(m.now() + seconds(rng_.between(1, 900)));
    else if (rng_.chance(500'000))
      m.crash();
    else
      m.stop();
  }

  // Accounts become teams, change teams, and are accounts again.
  void change_organisation() {
    constexpr std::string_view kHead = "org walk v1\nlang 1\nclass prod { rank 9 }\n";
    constexpr std::array<std::string_view, 3> kTeams = {
        "team all { team a { members slurm account \"ads\" } team b { members slurm user \"u*\" } "
        "}\n",
        "team all { members slurm partition \"gpu\" team c { members slurm account \"lln\" } }\n",
        "team all { members slurm account \"*\" default class prod }\n"};
    const uint64_t draw = rng_.below(kTeams.size() + 1);
    OrganisationStated stated;
    if (draw < kTeams.size())
      stated.files.push_back({"walk.policy", std::string(kHead) + std::string(kTeams[draw])});
    site_.state_organisation(std::move(stated));
  }

  void change_faults() {
    switch (rng_.below(9)) {
      case 0:
        wire_.faults.lost = rng_.chance(500'000) ? 100'000 : 0;
        break;
      case 1:
        wire_.faults.doubled = rng_.chance(500'000) ? 200'000 : 0;
        break;
      case 2:
        wire_.faults.late = rng_.chance(500'000) ? 150'000 : 0;
        break;
      case 3:
        wire_.faults.lying = rng_.chance(500'000) ? 200'000 : 0;
        break;
      case 4:
        site_.set_telemetry_away(rng_.chance(500'000));
        break;
      case 5:
        site_.set_clock_ahead(rng_.chance(600'000) ? Duration{}
                                                   : seconds(rng_.between(-7200, 90'000)));
        break;
      case 6:
        site_.start_watching();
        break;
      case 7:
        site_.set_answer_takes(rng_.chance(500'000) ? Duration{} : seconds(rng_.between(1, 120)));
        break;
      default:
        site_.stop_watching();
        pass(rng_.between(1, 1200));
        site_.start_watching();
        break;
    }
  }

  // --- truth
  // ----------------------------------------------------------------------------------------- For
  // one full poll all is well; then the books must say what is.
  void compare() {
    const WalkWire::Faults faults = std::exchange(wire_.faults, {.lying = wire_.faults.lying});
    const Duration takes = site_.answer_takes();
    site_.set_answer_takes({});
    site_.slurm().restart();
    wire_.forget_late();
    site_.poll(/*full=*/true);
    ++result_.comparisons;
    result_.problem = compare_holds(site_);
    if (result_.problem.empty() && options_.calm) result_.problem = compare_seconds();
    wire_.faults = faults;
    site_.set_answer_takes(takes);
  }

  std::string compare_seconds() {
    site_.tick();
    ByColumn sum;
    const State& s = site_.engine().state();
    s.ledger.for_each(0, floor_seconds(s.now),
                      [&](const Account& a, int64_t, int64_t ms) { sum[a.column] += ms; });
    const int64_t truth = site_.slurm().held_device_seconds();
    if (sum.held() == truth * kMilli) return "";
    return fmt::format("the books have {} device-seconds held, {} were", sum.held() / kMilli,
                       truth);
  }

  const WalkOptions& options_;
  Rng rng_{0};  // of the present step
  WatchedSite site_;
  WalkResult result_;
  Hasher decided_;
  WalkWire wire_;
  uint32_t last_id_ = 0;
};

}  // namespace

std::vector<WalkStep> draw_walk(const WalkOptions& options) {
  constexpr int64_t kCompareEvery = 50;
  struct Share {
    StepKind kind;
    uint64_t percent;
  };
  constexpr std::array<Share, 8> kShares = {{{StepKind::pass, 40},
                                             {StepKind::submit, 25},
                                             {StepKind::job, 15},
                                             {StepKind::node, 8},
                                             {StepKind::controller, 3},
                                             {StepKind::pause, 2},
                                             {StepKind::organisation, 1},
                                             {StepKind::fault, 6}}};
  Rng rng(options.seed);
  std::vector<WalkStep> steps;
  for (int64_t i = 0; i < options.steps; ++i) {
    uint64_t draw = rng.below(100);
    auto share = kShares.begin();
    for (; draw >= share->percent; ++share) draw -= share->percent;
    StepKind kind = i % kCompareEvery == kCompareEvery - 1 ? StepKind::compare : share->kind;
    if (options.calm && kind == StepKind::controller) kind = StepKind::pause;
    if ((options.calm || !options.faults) && kind == StepKind::fault) kind = StepKind::pass;
    steps.push_back({.kind = kind, .draws = rng.next()});
  }
  return steps;
}

std::string to_text(std::span<const WalkStep> steps) {
  std::string out;
  for (const WalkStep& step : steps)
    out += fmt::format("      {{StepKind::{}, 0x{:x}}},\n", enum_name(step.kind), step.draws);
  return out;
}

WalkResult walk(std::span<const WalkStep> steps, const WalkOptions& options) {
  return Walk(options).run(steps);
}

WalkResult random_walk(const WalkOptions& options) { return walk(draw_walk(options), options); }

}  // namespace fairlead
