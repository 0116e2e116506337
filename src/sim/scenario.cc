#include "sim/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/hostlist.h"
#include "fabric/shape.h"
#include "sim/history_read.h"
#include "sim/sbatch_options.h"
#include "sim/watched_site.h"

namespace fairlead {
namespace {

constexpr Instant kScenarioStart = instant_of_seconds(1'767'225'600);  // 2026-01-01T00:00:00Z
constexpr int64_t kScenarioMost = 30 * 86400;  // chosen: a scenario stays a matter of milliseconds

// Words of one line, taken from its front.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line), all_(line) {}
  std::string_view next() {
    const size_t begin = line_.find_first_not_of(" \t");
    if (begin == line_.npos) return line_ = {};
    line_.remove_prefix(begin);
    const std::string_view word =
        line_.substr(0, std::min(line_.find_first_of(" \t"), line_.size()));
    line_.remove_prefix(word.size());
    return word;
  }
  std::string_view rest() {
    return std::exchange(line_, {}).substr(std::min(line_.find_first_not_of(" \t"), line_.size()));
  }
  bool empty() const { return without_blanks(line_).empty(); }
  std::string_view all() const { return all_; }

 private:
  std::string_view line_, all_;
};

std::optional<Instant> instant_of(std::string_view text) {
  const auto after = parse_duration(text);
  if (!after || whole_seconds(*after) > kScenarioMost) return std::nullopt;
  return kScenarioStart + *after;
}

// "1h30m", "1h50s": as it is written in the input.
std::string time_text(Instant at) {
  const int64_t s = whole_seconds(at - kScenarioStart);
  std::string text;
  if (s >= 3600) text += fmt::format("{}h", s / 3600);
  if (s / 60 % 60 != 0) text += fmt::format("{}m", s / 60 % 60);
  if (s % 60 != 0 || s == 0) text += fmt::format("{}s", s % 60);
  return text;
}

std::vector<std::string> names_of(std::string_view hostlist) {
  const auto names = expand_hostlist(hostlist);
  return names ? *names : std::vector<std::string>{};
}

std::optional<Doing> doing_of(std::string_view word) { return enum_of_name<Doing>(word); }

const char* verb_of(DecisionKind kind) {
  switch (kind) {
    case DecisionKind::idle_hold_opened:
      return "idle";
    case DecisionKind::idle_hold_closed:
      return "not idle";
    case DecisionKind::work_lost:
      return "lost";
    case DecisionKind::workload_vanished:
      return "vanished";
    case DecisionKind::source_lost:
      return "unseen";
    case DecisionKind::source_back:
      return "seen again";
  }
  return "?";
}

class Runner {
 public:
  explicit Runner(const ScenarioOptions& options) : options_(options) {}

  // Returns what is wrong with the line, or nothing.
  std::string run(std::string_view line) {
    line = line.substr(0, std::min(line.find('#'), line.size()));
    Words words(line);
    const std::string_view first = words.next();
    if (first.empty()) return "";
    if (first == "at") return run_at(words);
    if (!site_ && !is_rule(first)) {  // rules come first, wherever they stand
      setup_.push_back(std::string(line));
      return "";
    }
    return set_up(first, words);
  }

  std::string take_outcome() { return std::exchange(out_, {}); }

 private:
  // --- setup
  // ---------------------------------------------------------------------------------------
  static bool is_rule(std::string_view word) {
    return word == "poll" || word == "looks" || word == "rule" || word == "model";
  }

  std::string make_site() {
    if (site_) return "";
    site_ = std::make_unique<WatchedSite>(kScenarioStart, rules_, model_);
    site_->slurm().put(Qos{.name = "normal"});
    site_->slurm().put(Association{.id = 1, .account = "root"});
    site_->decision = [this](const Decision& d) { tell(d); };
    site_->stepped = [this](const Event& event) {
      if (const Job* job = std::get_if<Job>(&event.what)) remember(*job);
      if (std::string wrong = site_->engine().recount(); !wrong.empty()) say("RECOUNT", "", wrong);
    };
    for (const std::string& line : setup_) {
      Words words(line);
      if (std::string wrong = set_up(words.next(), words); !wrong.empty())
        return fmt::format("{} (in '{}')", wrong, line);
    }
    return "";
  }

  std::string set_up(std::string_view what, Words& words) {
    if (is_rule(what)) return site_ ? "stands after the first event" : set_rule(what, words);
    WatchedSite& s = *site_;
    if (what == "nodes") return set_nodes(words, s);
    if (what == "partition") return set_partition(words, s);
    if (what == "qos" || what == "account") return set_limit(what, words, s);
    if (what == "licence") {
      const std::string name(words.next());
      const auto total = whole_number(words.next());
      if (!total) return "wants: licence NAME COUNT";
      s.slurm().put(Licence{.name = name, .total = *total});
      return "";
    }
    return fmt::format("'{}' begins no line of a scenario", what);
  }

  std::string set_rule(std::string_view what, Words& words) {
    std::string_view name = words.next();
    if (what == "looks" && name == "off") {
      rules_.look_every = {};
      return "";
    }
    if (what == "poll" || what == "looks") {
      const auto every = parse_duration(name);
      if (!every || every->us <= 0) return "wants a span of time, e.g. 10s";
      (what == "poll" ? rules_.poll_every : rules_.look_every) = *every;
      return "";
    }
    const auto value = parse_duration(words.next());
    if (!value) return "wants: rule NAME SPAN";
    EngineRules& e = rules_.engine;
    if (what == "model" && name == "min_job_age")
      model_.min_job_age_s = whole_seconds(*value);
    else if (what == "model" && name == "requeue_delay")
      model_.requeue_delay_s = whole_seconds(*value);
    else if (what == "rule" && name == "idle_hold_after")
      e.evidence.idle_hold_after = *value;
    else if (what == "rule" && name == "stale_after")
      e.evidence.stale_after = *value;
    else if (what == "rule" && name == "source_grace")
      e.source_grace = *value;
    else
      return fmt::format("'{}' is no rule", name);
    return "";
  }

  std::string set_nodes(Words& words, WatchedSite& s) {
    const auto names = names_of(words.next());
    const auto count = whole_number(words.next());
    if (names.empty() || !count || *count < 0 || *count > 128)
      return "wants: nodes HOSTLIST COUNT MODEL [cpus N] [memory_gb N] [features A,B]";
    Node node{
        .name = {}, .state = NodeState::idle, .devices = {}, .cpus = 64, .memory_mb = 1'000'000};
    if (*count > 0)
      node.devices = {{.model = std::string(words.next()), .count = static_cast<int32_t>(*count)}};
    while (!words.empty()) {
      const std::string_view key = words.next();
      std::string_view value = words.next();
      if (key == "features") {
        while (!value.empty()) node.features.emplace_back(take_field(value, ','));
        continue;
      }
      const auto number = whole_number(value);
      if (!number) return fmt::format("'{}' wants a number", key);
      if (key == "cpus")
        node.cpus = static_cast<int32_t>(*number);
      else if (key == "memory_gb")
        node.memory_mb = *number * 1024;
      else
        return fmt::format("'{}' says nothing of a node", key);
    }
    for (const std::string& name : names) {
      node.name = name;
      s.slurm().put(node);
    }
    return "";
  }

  std::string set_partition(Words& words, WatchedSite& s) {
    Partition p{.name = std::string(words.next()), .nodes = names_of(words.next())};
    if (p.nodes.empty()) return "wants: partition NAME HOSTLIST [limit SPAN]";
    while (!words.empty()) {
      const std::string_view key = words.next();
      const auto limit = parse_duration(words.next());
      if (key != "limit" || !limit) return "wants: partition NAME HOSTLIST [limit SPAN]";
      p.time_max_s = whole_seconds(*limit);
    }
    if (partition_.empty()) partition_ = p.name;
    s.slurm().put(p);
    return "";
  }

  std::string set_limit(std::string_view what, Words& words, WatchedSite& s) {
    const std::string name(words.next());
    Qos qos{.name = name};
    Association account{.id = association_id(name, ""), .parent = 1, .account = name};
    if (name.empty()) return fmt::format("wants: {} NAME [gpus N]", what);
    while (!words.empty()) {
      const std::string_view key = words.next();
      std::string_view value = words.next();
      if (key == "preempts") {
        while (!value.empty()) qos.preempts.emplace_back(take_field(value, ','));
        continue;
      }
      const auto number = whole_number(value);
      if (!number) return fmt::format("'{}' wants a number", key);
      if (key == "gpus")
        qos.limits.tres_group["gres/gpu"] = account.limits.tres_group["gres/gpu"] = *number;
      else if (key == "gpus_per_user")
        qos.tres_per_user["gres/gpu"] = *number;
      else
        return fmt::format("'{}' says nothing of a limit", key);
    }
    if (what == "qos") {
      s.slurm().put(qos);
      return "";
    }
    s.slurm().put(account);
    return "";
  }

  // Ids of the account tree, given once; 1 is the root.
  int64_t association_id(const std::string& account, const std::string& user) {
    return associations_
        .try_emplace({account, user}, static_cast<int64_t>(associations_.size()) + 2)
        .first->second;
  }

  // Slurm takes a job only from a user whom it knows in the account.
  void know(const Job& job) {
    if (!associations_.contains({job.account, ""})) {
      site_->slurm().put(
          Association{.id = association_id(job.account, ""), .parent = 1, .account = job.account});
    }
    if (!associations_.contains({job.account, job.user})) {
      const int64_t id = association_id(job.account, job.user);
      site_->slurm().put(Association{.id = id,
                                     .parent = association_id(job.account, ""),
                                     .account = job.account,
                                     .user = job.user});
    }
  }

  // --- events
  // --------------------------------------------------------------------------------------
  std::string run_at(Words& words) {
    if (std::string wrong = make_site(); !wrong.empty()) return wrong;
    const auto at = instant_of(words.next());
    WatchedSite& s = *site_;
    if (!at) return "wants a span since the beginning, e.g. at 10m";
    if (*at < s.slurm().now()) return fmt::format("is before {}", time_text(s.slurm().now()));
    const std::string_view verb = words.next();
    if (verb == "report") {
      s.run_until(*at, /*inclusive=*/true);
      report();
      return "";
    }
    s.run_until(*at, /*inclusive=*/false);
    if (verb == "submit") return submit(words);
    if (verb == "controller" || verb == "telemetry" || verb == "we" || verb == "clock")
      return change_world(verb, words);
    if (verb == "drain" || verb == "undrain" || verb == "down" || verb == "up" || verb == "remove")
      return change_nodes(verb, words);
    if (verb == "reserve" || verb == "unreserve") return reserve(verb, words);
    if (verb == "qos" || verb == "account") return set_limit(verb, words, s);
    if (verb == "nodes") return set_nodes(words, s);
    if (verb == "partition") return change_partition(words);
    return change_job(verb, words);
  }

  std::string submit(Words& words) {
    const std::string name(words.next());
    ModelSubmission s;
    s.job.name = name;
    s.job.user = "ana";
    s.job.account = "main";
    s.job.qos = "normal";
    s.job.partition = partition_;
    const SbatchContext context{.now = site_->slurm().now(),
                                .id_of = [&](std::string_view other) { return id_of(other); }};
    while (!words.empty()) {
      const std::string_view word = words.next();
      if (word == ":") break;
      if (std::string wrong = read_sbatch_option(word, context, s); !wrong.empty()) return wrong;
    }
    settle_sbatch_options(s);
    std::string_view truth = words.rest();
    while (!truth.empty()) {
      if (std::string wrong = read_truth(Words(take_field(truth, ',')), s); !wrong.empty())
        return wrong;
    }
    know(s.job);
    const auto id = site_->slurm().submit(std::move(s));
    if (!id)
      say("refused", name, "the controller is away");
    else
      ids_[name] = *id;
    return "";
  }

  // "runs 30m", "fails", "[2] empty [from 10m]"
  static std::string read_truth(Words words, ModelSubmission& s) {
    std::string_view word = words.next();
    if (word == "runs") {
      const auto length = parse_duration(words.next());
      if (!length) return "wants: runs SPAN";
      s.runs_s = whole_seconds(*length);
      return "";
    }
    if (word == "fails") {
      s.fails = true;
      return "";
    }
    Phase phase;
    if (const auto count = whole_number(word)) {
      phase.devices = static_cast<int32_t>(*count);
      word = words.next();
    }
    const auto doing = doing_of(word);
    if (!doing)
      return fmt::format(
          "'{}' is nothing that a job does (busy, quiet, empty, stuck, silent, runs, fails)", word);
    phase.doing = *doing;
    if (!words.empty()) {
      const auto after = words.next() == "from" ? parse_duration(words.next()) : std::nullopt;
      if (!after) return "wants: DOING from SPAN";
      phase.after_s = whole_seconds(*after);
    }
    s.does.push_back(phase);
    return "";
  }

  std::optional<uint32_t> id_of(std::string_view name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  std::string change_job(std::string_view verb, Words& words) {
    const std::string_view name = words.next();
    const auto id = id_of(name);
    if (!id) return fmt::format("'{}' is no verb, or '{}' was not submitted", verb, name);
    SlurmModel& m = site_->slurm();
    bool done = false;
    if (verb == "cancel")
      done = m.cancel(*id);
    else if (verb == "hold")
      done = m.hold(*id);
    else if (verb == "release")
      done = m.release(*id);
    else if (verb == "suspend")
      done = m.suspend(*id);
    else if (verb == "resume")
      done = m.resume(*id);
    else if (verb == "requeue")
      done = m.requeue(*id);
    else if (verb == "preempt")
      done = m.preempt(*id);
    else if (verb == "shrink")
      done = m.shrink(*id, static_cast<int32_t>(whole_number(words.next()).value_or(0)));
    else
      return fmt::format("'{}' is no verb", verb);
    if (!done) say("refused", name, fmt::format("{} does not apply", verb));
    return "";
  }

  std::string change_nodes(std::string_view verb, Words& words) {
    const auto names = names_of(words.next());
    const std::string reason(words.rest());
    if (names.empty()) return fmt::format("wants: {} HOSTLIST", verb);
    SlurmModel& m = site_->slurm();
    for (const std::string& name : names) {
      bool done = false;
      if (verb == "drain")
        done = m.drain(name, reason);
      else if (verb == "down")
        done = m.fail_node(name);
      else if (verb == "remove")
        done = m.drop_node(name);
      else
        done = m.undrain(name);
      if (!done) say("refused", name, fmt::format("{} does not apply", verb));
    }
    return "";
  }

  std::string change_world(std::string_view verb, Words& words) {
    const std::string_view how = words.next();
    WatchedSite& s = *site_;
    if (verb == "controller" && how == "stops")
      s.slurm().stop();
    else if (verb == "controller" && how == "crashes")
      s.slurm().crash();
    else if (verb == "controller" && how == "starts")
      s.slurm().restart();
    else if (verb == "telemetry" && how == "away")
      s.set_telemetry_away(true);
    else if (verb == "telemetry" && how == "back")
      s.set_telemetry_away(false);
    else if (verb == "we" && how == "stop")
      s.stop_watching();
    else if (verb == "we" && how == "start")
      s.start_watching();
    else if (verb == "clock" && how == "right")
      s.set_clock_ahead({});
    else if (verb == "clock" && how == "ahead") {
      const auto by = parse_duration(words.next());
      if (!by) return "wants: clock ahead SPAN";
      s.set_clock_ahead(*by);
    } else
      return fmt::format("'{} {}' is nothing that happens", verb, how);
    return "";
  }

  std::string reserve(std::string_view verb, Words& words) {
    const std::string name(words.next());
    SlurmModel& m = site_->slurm();
    if (verb == "unreserve") {
      m.drop_reservation(name);
      return "";
    }
    Reservation r{.name = name, .start = m.now(), .nodes = names_of(words.next())};
    r.end = r.start + seconds(3600);
    while (!words.empty()) {
      const std::string_view key = words.next();
      if (key == "maint") {
        r.flags = {"MAINT"};
        continue;
      }
      const std::string_view value = words.next();
      const auto at = instant_of(value);
      const auto span = parse_duration(value);
      if (key == "from" && at) {
        r.end = *at + (r.end - r.start);
        r.start = *at;
      } else if (key == "for" && span)
        r.end = r.start + *span;
      else
        return "wants: reserve NAME HOSTLIST [from T] [for SPAN] [maint]";
    }
    m.put(r);
    return "";
  }

  std::string change_partition(Words& words) {
    const std::string name(words.next());
    const std::string_view how = words.next();
    for (const auto& [key, known] : site_->engine().state().partitions) {
      if (key != name || (how != "up" && how != "down")) continue;
      Partition p = known;
      p.up = how == "up";
      p.state = p.up ? "UP" : "DOWN";
      site_->slurm().put(p);
      return "";
    }
    return "wants: partition NAME up|down, of one that was seen";
  }

  // --- the outcome
  // ---------------------------------------------------------------------------------
  void say(std::string_view verb, std::string_view who, std::string_view what) {
    std::string line =
        fmt::format("{:>9}  {:<11} {:<14} {}", time_text(site_->our_now()), verb, who, what);
    while (line.ends_with(' ')) line.pop_back();
    out_ += line + "\n";
  }

  void remember(const Job& job) {
    names_[job.label] = name_of(job);
    for (const auto& [id, w] : site_->engine().state().workloads) {
      if (w.job.id == job.id) names_by_workload_[id] = name_of(job);
    }
  }

  // Ids differ from one Slurm to the next; names do not.
  std::string name_of(const std::string& label) const {
    const auto found = names_.find(label);
    return found == names_.end() ? label : found->second;
  }
  static std::string name_of(const Job& job) {
    if (job.array.id == 0) return job.name;
    if (job.array.task >= 0) return fmt::format("{}_{}", job.name, job.array.task);
    return fmt::format("{}_[{}]", job.name, job.array.waiting);
  }

  void tell(const Decision& d) {
    std::string what;
    if (d.devices > 0) what += fmt::format("{} gpus  ", d.devices);
    if (d.idle_kind != IdleKind::none) what += enum_name(d.idle_kind);
    if (d.kind == DecisionKind::work_lost) what += fmt::format("{} gpu-seconds", d.device_seconds);
    if (d.kind == DecisionKind::source_lost || d.kind == DecisionKind::source_back)
      what += d.reason.substr(0, d.reason.find(' '));
    if (d.kind == DecisionKind::workload_vanished)
      what += d.reason.find("(running)") != std::string::npos ? "while it ran" : "while it waited";
    say(verb_of(d.kind), d.workload.empty() ? "" : name_of(d.workload), what);
  }

  void report() {
    site_->tick();
    const State& s = site_->engine().state();
    ByColumn sum;
    s.ledger.for_each(0, floor_seconds(s.now),
                      [&](const Account& a, int64_t, int64_t ms) { sum[a.column] += ms; });
    std::string columns;
    for (size_t c = 0; c < kColumns; ++c) {
      const auto column = static_cast<fairlead::Column>(c);
      if (sum[column] != 0)
        columns += fmt::format("{} {}  ", enum_name(column), sum[column] / kMilli);
    }
    say("columns", "", fmt::format("{}of {} gpu-seconds", columns, sum.total() / kMilli));
    for (const auto& [id, w] : s.workloads) tell_workload(s, w);
    for (const PastWorkload& w : s.past) {
      say("past", names_by_workload_[w.id],
          fmt::format("{}, {} runs{}", enum_name(w.state), w.epochs, use_text(w.milli_seconds)));
    }
    if (s.unplaced_milli != 0)
      say("unplaced", "",
          fmt::format("{} gpus on nodes that are not known", s.unplaced_milli / kMilli));
    if (s.events_refused != 0)
      say("refused", "", fmt::format("{} events of a broken clock", s.events_refused));
  }

  static std::string use_text(const ByColumn& use) {
    std::string out;
    for (size_t c = 0; c < kColumns; ++c) {
      const auto column = static_cast<fairlead::Column>(c);
      if (use[column] != 0) out += fmt::format("  {} {}", enum_name(column), use[column] / kMilli);
    }
    return out;
  }

  void tell_workload(const State& s, const Workload& w) {
    const std::string name = name_of(w.job.label);
    if (w.job.state == JobState::pending) {
      const std::string why = options_.why_it_waits ? options_.why_it_waits(s, w) : "";
      say("waits", name,
          fmt::format("{}  {}  {}{}{}", to_text(shape_of(w.job)),
                      to_short_text(s.now - w.job.submit), w.job.reason, why.empty() ? "" : ": ",
                      why));
    } else if (holds_devices(w.job.state)) {
      std::vector<std::string> nodes;
      for (const NodeShare& share : w.job.held) nodes.push_back(share.node);
      say(w.job.state == JobState::running ? "runs" : enum_name(w.job.state), name,
          fmt::format("{} gpus on {}{}{}", w.devices.size(), fold_hostlist(nodes),
                      w.idle.kind == IdleKind::none
                          ? ""
                          : fmt::format("  {} idle ({})", w.idle.devices, enum_name(w.idle.kind)),
                      use_text(use_of(s, w))));
    } else {
      say("ended", name, fmt::format("{}{}", enum_name(w.job.state), use_text(use_of(s, w))));
    }
  }

  const ScenarioOptions& options_;
  WatchRules rules_;
  ModelRules model_;
  std::unique_ptr<WatchedSite> site_;
  std::string partition_;  // the default: the first one
  std::map<std::string, uint32_t, std::less<>> ids_;
  std::vector<std::string> setup_;  // lines that wait for the rules
  std::map<std::pair<std::string, std::string>, int64_t> associations_;  // by account and user
  std::map<std::string, std::string> names_;                             // by label
  std::map<WorkloadId, std::string> names_by_workload_;
  std::string out_;
};

}  // namespace

Result<std::string> run_scenario(std::string_view text, const ScenarioOptions& options) {
  Runner runner(options);
  std::string written;
  bool in_outcome = false;
  int line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const std::string_view line = take_line(text);
    if (in_outcome && !line.empty()) continue;  // what it was; written anew
    in_outcome = false;
    written += fmt::format("{}\n", line);
    if (line == "----") {
      in_outcome = true;
      written += runner.take_outcome();
      continue;
    }
    if (std::string wrong = runner.run(line); !wrong.empty()) {
      return fail("scenario-bad", fmt::format("'{}': {}", without_blanks(line), wrong),
                  "see docs/howto/scenario.md", {.source = options.source, .line = line_number});
    }
  }
  if (std::string rest = runner.take_outcome(); !rest.empty()) written += "----\n" + rest;
  return written;
}

}  // namespace fairlead
