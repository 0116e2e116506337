// How well starts are estimated: a history is played by a rule in virtual time, our engine watches
// it as it would a live site, and its own score card is printed.
//
//   estimate_bench RULE NODES [FILE | JOBS]
//
// RULE is the scheduler beside which we stand: easy, slurm-multifactor, fairlead, …; NODES are of
// eight devices. FILE is a history; without one a made-up one of JOBS (8,000) is played, 670 a day
// made for 1,440 devices, whose jobs all have a limit of four days. Where a history states no
// limits the engine is told of none. It learns the lengths of runs from what ends in the same
// history, as it goes. A poll is every ten minutes of the history.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "contest/match.h"
#include "contest/rivals.h"
#include "core/engine.h"
#include "cpu_clock.h"
#include "sim/synthetic.h"

namespace fairlead {
namespace {

constexpr int64_t kPollEvery = 600;  // seconds of the history

std::string node_name(contest::NodeNumber n) { return fmt::format("n{:05}", n); }
std::string device_name(const contest::Match& match, policy::DeviceId device) {
  return match.organisation.devices[device].name;
}

// A rule, and an engine that is told what it does.
class Watched : public contest::Rival {
 public:
  Watched(const contest::Match& match, const History& history, std::unique_ptr<Rival> rule)
      : match_(match),
        history_(history),
        rule_(std::move(rule)),
        engine_("history", {}),
        states_limits_(std::ranges::any_of(
            history.table().runs(), [](const HistoryRun& run) { return run.time_limit_s > 0; })) {
    const contest::Board board = match.board();
    for (contest::NodeNumber n = 0; n < board.nodes(); ++n)
      used_.emplace_back(static_cast<size_t>(board.size_of(n)), false);
  }

  void waits(const contest::Arena& arena, contest::JobIndex job) override {
    tell_begin(arena);
    rule_->waits(arena, job);
    jobs_[job] = fresh(arena, job);
    records_.push_back(jobs_.at(job));
  }
  void left(const contest::Arena& arena, contest::JobIndex job) override {
    rule_->left(arena, job);
    note_start(arena, job);
    Job& j = jobs_.at(job);
    const bool whole = arena.now() >= arena.run(job).start + arena.job(job).length;
    j.state = whole ? JobState::completed : JobState::preempted;
    j.end = instant_of_seconds(arena.now());
    give_back(j);
    records_.push_back(j);
    records_.push_back(JobGone{j.id});
    jobs_.erase(job);
  }
  void look(contest::Arena& arena) override {
    rule_->look(arena);
    if (arena.now() < next_poll_) return;
    next_poll_ = arena.now() + kPollEvery;
    poll(arena);
  }
  int64_t wake_at() const override { return std::min(rule_->wake_at(), next_poll_); }
  bool always_looks() const override { return !jobs_.empty(); }

  const State& state() const { return engine_.state(); }

 private:
  void step(int64_t at, What what) {
    engine_.step({.at = instant_of_seconds(at), .what = std::move(what)});
  }

  void tell_begin(const contest::Arena& arena) {
    if (told_begin_) return;
    told_begin_ = true;
    step(arena.now(), PollBegan{});
    Partition all{.name = "all"};
    for (contest::NodeNumber n = 0; n < arena.board().nodes(); ++n)
      all.nodes.push_back(node_name(n));
    for (policy::DeviceId d = 0; d < match_.organisation.devices.size(); ++d)
      for (auto n = arena.board().first(d); n < arena.board().end(d); ++n)
        step(arena.now(), Node{.name = node_name(n),
                               .state = NodeState::idle,
                               .devices = {{device_name(match_, d), arena.board().size_of(n)}}});
    step(arena.now(), all);
    step(arena.now(), OrganisationStated{.files = {{"bench.policy", organisation_text()}},
                                         .tables = {},
                                         .zones = {},
                                         .groups = {}});
    step(arena.now(), PollEnded{});
    CHECK(engine_.state().organisation != nullptr);
  }
  // A team for each account, and nobody owns more than the others.
  std::string organisation_text() const {
    std::string text =
        "org bench v1\nlang 1\nclass any { rank 1 }\nteam site {\n  default class any\n";
    for (policy::DeviceId d = 0; d < match_.organisation.devices.size(); ++d)
      text += fmt::format("  own {} {}\n", match_.board().capacity(d), device_name(match_, d));
    for (size_t t = 1; t < match_.organisation.teams.size(); ++t)
      text += fmt::format("  team t{} {{ members slurm account \"t{}\" }}\n", t, t);
    text += "}\n";
    for (policy::DeviceId d = 0; d < match_.organisation.devices.size(); ++d)
      text += fmt::format("devices {0} {{ {0} }}\n", device_name(match_, d));
    return text;
  }

  Job fresh(const contest::Arena& arena, contest::JobIndex index) const {
    const contest::Job& j = arena.job(index);
    Job job;
    job.id = index + 1;
    job.label = std::to_string(job.id);
    job.user =
        std::string(history_.table().name(history_.table().runs()[history_.order()[j.name]].user));
    job.account = fmt::format("t{}", j.team);
    job.qos = "any";
    job.partition = "all";
    job.state = JobState::pending;
    job.reason = "Priority";
    job.priority = 1;
    job.submit = job.eligible = instant_of_seconds(j.submit);
    const contest::Gang& gang = j.gang;
    const bool even = gang.rest == 0;
    job.request = {.devices = {.model = device_name(match_, gang.device),
                               .per_node = even ? gang.each : 0,
                               .total = static_cast<int32_t>(gang.total())},
                   .nodes_min = gang.full + (even ? 0 : 1),
                   .time_limit_s = states_limits_ ? j.limit : -1};
    return job;
  }

  // What has begun since the last poll.
  void note_start(const contest::Arena& arena, contest::JobIndex index) {
    Job& job = jobs_.at(index);
    if (job.state != JobState::pending || !arena.runs(index)) return;
    const contest::Run& run = arena.run(index);
    const contest::Gang& gang = arena.job(index).gang;
    job.state = JobState::running;
    job.reason = "None";
    job.start = instant_of_seconds(run.start);
    for (size_t p = 0; p < run.places.size(); ++p) {
      const int32_t wanted = p < static_cast<size_t>(gang.full) ? gang.each : gang.rest;
      NodeShare share{.node = node_name(run.places[p])};
      std::vector<bool>& used = used_[run.places[p]];
      for (size_t d = 0; d < used.size() && share.device_count < wanted; ++d) {
        if (used[d]) continue;
        used[d] = true;
        share.devices.push_back(static_cast<int32_t>(d));
        ++share.device_count;
      }
      job.held.push_back(share);
    }
    records_.push_back(job);
  }
  void give_back(Job& job) {
    for (const NodeShare& share : job.held)
      for (const int32_t d : share.devices)
        used_[static_cast<size_t>(std::atoi(share.node.c_str() + 1))][static_cast<size_t>(d)] =
            false;
    job.held.clear();
  }
  void poll(const contest::Arena& arena) {
    for (const auto& [index, job] : jobs_) note_start(arena, index);
    step(arena.now(), PollBegan{});
    for (What& record : records_) step(arena.now(), std::move(record));
    records_.clear();
    step(arena.now(), PollEnded{});
  }

  const contest::Match& match_;
  const History& history_;
  std::unique_ptr<Rival> rule_;
  Engine engine_;
  const bool states_limits_;
  bool told_begin_ = false;
  std::map<contest::JobIndex, Job> jobs_;  // that wait or run
  std::vector<std::vector<bool>> used_;    // by node: devices
  std::vector<What> records_;              // of the next poll
  int64_t next_poll_ = 0;
};

std::string share(int64_t part, int64_t of) {
  return of == 0
             ? "-"
             : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(of));
}

// How far starts were from the P50, and that as a share of the wait that was promised.
void show_errors(const char* what, const EstimateCard& card,
                 const Promise ScoredEstimate::* promise) {
  std::vector<int64_t> errors, waits;
  for (const ScoredEstimate& s : card.last) {
    const Promise& p = s.*promise;
    if (!p.is_for_a_wait()) continue;
    errors.push_back(std::abs((s.started - p.p50).us));
    waits.push_back((s.started - p.made).us);
  }
  if (errors.empty()) return;
  std::ranges::sort(errors);
  std::ranges::sort(waits);
  fmt::print("{:<16} of the newest {}: median error {}, median wait from then {}\n", what,
             errors.size(), to_short_text({errors[errors.size() / 2]}),
             to_short_text({waits[waits.size() / 2]}));
}

Result<History> history_of(int argc, char** argv) {
  std::vector<HistoryInput> inputs;
  const int64_t jobs = argc > 3 ? std::atoll(argv[3]) : 8'000;
  if (jobs > 0) {
    inputs.push_back(
        {"synthetic",
         synthetic_sacct({.jobs = jobs, .devices = 1440, .span_s = jobs * 86400 / 670})});
  } else {
    std::ifstream file(argv[3], std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    inputs.push_back({argv[3], content.str()});
  }
  return read_history(std::move(inputs));
}

int run(int argc, char** argv) {
  if (argc < 3) return fmt::print("estimate_bench RULE NODES [FILE]\n"), 2;
  const auto history = history_of(argc, argv);
  if (!history) return fmt::print("{}\n", to_text(history.error())), 1;
  const contest::RivalKind* kind = contest::rival_kind(argv[1]);
  if (kind == nullptr) return fmt::print("there is no rule {}\n", argv[1]), 2;
  const auto match = contest::match_of(
      *history, {.organisation = {},
                 .zones = {},
                 .fleet = {{.nodes = std::atoi(argv[2]), .each = 8, .model = "GPU"}}});
  if (!match) return fmt::print("{}\n", to_text(match.error())), 1;
  int64_t work = 0;
  for (const contest::Job& job : match->jobs) work += job.length * job.gang.total();
  const int64_t span = match->jobs.back().submit - match->jobs.front().submit;
  fmt::print("{} jobs on {} x 8 devices under {}, load {}\n", match->jobs.size(), argv[2], argv[1],
             share(work, std::atoi(argv[2]) * 8 * span));
  Watched watched(*match, *history, kind->make(*match));
  contest::Arena arena(*match);
  const double begun = cpu_seconds();
  arena.play(watched);
  fmt::print("played in {:.1f} s of CPU, {} looks of ours\n", cpu_seconds() - begun,
             watched.state().suggested.card.looks);
  const EstimateCard& card = watched.state().estimates.card;
  fmt::print("promised a wait  {} started: by P50 {}, by P90 {} of {} that had one\n", card.started,
             share(card.by_p50, card.started), share(card.by_p90, card.with_p90), card.with_p90);
  fmt::print("promised now     {} started: {} within a minute\n", card.at_once,
             share(card.at_once_came, card.at_once));
  fmt::print("not told         {}\n", card.not_told);
  show_errors("first promise", card, &ScoredEstimate::first);
  show_errors("latest promise", card, &ScoredEstimate::latest);
  return 0;
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) { return fairlead::run(argc, argv); }
