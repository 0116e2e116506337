#include "sim/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "sim/history_read.h"
#include "sim/sbatch_options.h"
#include "sim/scenario_outcome.h"
#include "sim/scenario_site.h"
#include "sim/scenario_words.h"

namespace fairlead {
namespace {

// "runs 30m", "fails", "[2] empty [from 10m]"
std::string read_truth(ScenarioWords words, ModelSubmission& s) {
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
  const auto doing = enum_of_name<Doing>(word);
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

class Runner {
 public:
  explicit Runner(const ScenarioOptions& options) : options_(options) {}

  // Returns what is wrong with the line, or nothing.
  std::string run(std::string_view line) {
    line = line.substr(0, std::min(line.find('#'), line.size()));
    ScenarioWords words(line);
    const std::string_view first = words.next();
    if (first.empty()) return "";
    return first == "at" ? run_at(words) : site_.take_line(line);
  }

  std::string take_outcome() { return outcome_ ? outcome_->take() : ""; }

 private:
  std::string make_site() {
    bool made = false;
    std::string wrong = site_.make(made);
    if (!made) return wrong;
    WatchedSite& site = site_.watched();
    outcome_.emplace(site, options_);
    site.decision = [this](const Decision& d) { outcome_->tell(d); };
    site.stepped = [this, &site](const Event& event) {
      if (const Job* job = std::get_if<Job>(&event.what)) outcome_->remember(*job);
      if (const std::string found = site.engine().recount(); !found.empty())
        outcome_->say("RECOUNT", "", found);
    };
    return wrong;
  }

  std::string run_at(ScenarioWords& words) {
    if (std::string wrong = make_site(); !wrong.empty()) return wrong;
    const auto at = scenario_instant(words.next());
    WatchedSite& s = site_.watched();
    if (!at) return "wants a span since the beginning, e.g. at 10m";
    if (*at < s.slurm().now())
      return fmt::format("is before {}", scenario_time_text(s.slurm().now()));
    const std::string_view verb = words.next();
    if (verb == "report") {
      s.run_until(*at, /*inclusive=*/true);
      outcome_->report();
      return "";
    }
    s.run_until(*at, /*inclusive=*/false);
    if (verb == "submit") return submit(words);
    if (verb == "controller" || verb == "telemetry" || verb == "we" || verb == "clock")
      return change_world(verb, words);
    if (verb == "drain" || verb == "undrain" || verb == "down" || verb == "up" || verb == "remove")
      return change_nodes(verb, words);
    if (verb == "reserve" || verb == "unreserve") return site_.reserve(verb, words);
    if (verb == "qos" || verb == "account") return site_.set(verb, words);
    if (verb == "nodes") return site_.set(verb, words);
    if (verb == "partition") return site_.change_partition(words);
    return change_job(verb, words);
  }

  std::string submit(ScenarioWords& words) {
    const std::string name(words.next());
    ModelSubmission s;
    s.job.name = name;
    s.job.user = "ana";
    s.job.account = "main";
    s.job.qos = "normal";
    s.job.partition = site_.default_partition();
    const SbatchContext context{.now = site_.slurm().now(),
                                .id_of = [&](std::string_view other) { return id_of(other); }};
    while (!words.empty()) {
      const std::string_view word = words.next();
      if (word == ":") break;
      if (std::string wrong = read_sbatch_option(word, context, s); !wrong.empty()) return wrong;
    }
    settle_sbatch_options(s);
    std::string_view truth = words.rest();
    while (!truth.empty()) {
      if (std::string wrong = read_truth(ScenarioWords(take_field(truth, ',')), s); !wrong.empty())
        return wrong;
    }
    site_.know(s.job);
    const std::string refusal = site_.slurm().submission_refusal(s.job);
    const auto id = site_.slurm().submit(std::move(s));
    if (!id)
      outcome_->say("refused", name, refusal.empty() ? "the controller is away" : refusal);
    else
      ids_[name] = *id;
    return "";
  }

  std::optional<uint32_t> id_of(std::string_view name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  std::string change_job(std::string_view verb, ScenarioWords& words) {
    const std::string_view name = words.next();
    const auto id = id_of(name);
    if (!id) return fmt::format("'{}' is no verb, or '{}' was not submitted", verb, name);
    SlurmModel& m = site_.slurm();
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
    if (!done) outcome_->say("refused", name, fmt::format("{} does not apply", verb));
    return "";
  }

  std::string change_nodes(std::string_view verb, ScenarioWords& words) {
    const auto names = scenario_names(words.next());
    const std::string reason(words.rest());
    if (names.empty()) return fmt::format("wants: {} HOSTLIST", verb);
    SlurmModel& m = site_.slurm();
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
      if (!done) outcome_->say("refused", name, fmt::format("{} does not apply", verb));
    }
    return "";
  }

  std::string change_world(std::string_view verb, ScenarioWords& words) {
    const std::string_view how = words.next();
    WatchedSite& s = site_.watched();
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

  const ScenarioOptions& options_;
  ScenarioSite site_;
  std::optional<ScenarioOutcome> outcome_;  // once the site is made
  std::map<std::string, uint32_t, std::less<>> ids_;
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
