#include "sim/scenario_outcome.h"

#include <fmt/format.h>

#include "base/hostlist.h"
#include "fabric/shape.h"
#include "sim/scenario_words.h"

namespace fairlead {
namespace {

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
    case DecisionKind::start_suggested:
      return "would start";
    case DecisionKind::take_back_suggested:
      return "would go";
    case DecisionKind::make_room_suggested:
      return "would move";
  }
  return "?";
}

std::string printed_name(const Job& job) {
  if (job.array.id == 0) return job.name;
  if (job.array.task >= 0) return fmt::format("{}_{}", job.name, job.array.task);
  return fmt::format("{}_[{}]", job.name, job.array.waiting);
}

// "useful 600  free 1800  ": those that are not zero.
std::string amounts_text(const ByColumn& amounts, int64_t unit) {
  std::string out;
  for (size_t c = 0; c < kColumns; ++c) {
    const auto column = static_cast<fairlead::Column>(c);
    if (amounts[column] != 0)
      out += fmt::format("{} {}  ", enum_name(column), amounts[column] / unit);
  }
  return out;
}

std::string use_text(const ByColumn& use) {
  std::string text = "  " + amounts_text(use, kMilli);
  return text.substr(0, text.size() - 2);
}

}  // namespace

void ScenarioOutcome::say(std::string_view verb, std::string_view who, std::string_view what) {
  std::string line =
      fmt::format("{:>9}  {:<11} {:<14} {}", scenario_time_text(site_.our_now()), verb, who, what);
  while (line.ends_with(' ')) line.pop_back();
  out_ += line + "\n";
}

void ScenarioOutcome::remember(const Job& job) {
  names_[job.label] = printed_name(job);
  for (const auto& [id, w] : site_.engine().state().workloads) {
    if (w.job.id == job.id) names_by_workload_[id] = printed_name(job);
  }
}

std::string ScenarioOutcome::name_of(const std::string& label) const {
  const auto found = names_.find(label);
  return found == names_.end() ? label : found->second;
}

void ScenarioOutcome::tell(const Decision& d) {
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

void ScenarioOutcome::report() {
  site_.tick();
  const State& s = site_.engine().state();
  ByColumn sum;
  s.ledger.for_each(0, floor_seconds(s.now),
                    [&](const Account& a, int64_t, int64_t ms) { sum[a.column] += ms; });
  say("columns", "",
      fmt::format("{}of {} gpu-seconds", amounts_text(sum, kMilli), sum.total() / kMilli));
  tell_devices(s);
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

void ScenarioOutcome::tell_devices(const State& s) {
  ByColumn now;
  for (DeviceIndex i = 0; i < s.fleet.devices().size(); ++i) {
    if (s.fleet.device(i).present) ++now[s.devices[i].account.column];
  }
  say("now", "", fmt::format("{}of {} gpus", amounts_text(now, 1), now.total()));
}

void ScenarioOutcome::tell_workload(const State& s, const Workload& w) {
  const std::string name = name_of(w.job.label);
  if (w.job.state == JobState::pending) {
    const std::string why = options_.why_it_waits ? options_.why_it_waits(s, w) : "";
    say("waits", name,
        fmt::format("{}  {}  {}{}{}", to_text(shape_of(w.job)), to_short_text(s.now - w.job.submit),
                    w.job.reason, why.empty() ? "" : ": ", why));
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

}  // namespace fairlead
