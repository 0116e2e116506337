#include "sim/scenario_site.h"

#include <fmt/format.h>

#include "sim/history_read.h"

namespace fairlead {
namespace {

bool is_rule(std::string_view word) {
  return word == "poll" || word == "looks" || word == "rule" || word == "model";
}

// How a real lab plays the file; nothing to the model.
std::string check_lab(ScenarioWords& words) {
  const std::string_view what = words.next();
  if (what == "never" && !words.empty()) return "";
  const auto span = what == "hour" ? parse_duration(words.next()) : std::nullopt;
  return span && span->us > 0 ? "" : "wants: lab hour SPAN, or lab never REASON";
}

}  // namespace

std::string ScenarioSite::take_line(std::string_view line) {
  ScenarioWords words(line);
  const std::string_view what = words.next();
  if (what == "lab") return check_lab(words);
  if (site_ && is_rule(what)) return "stands after the first event";
  if (site_) return set(what, words);
  if (is_rule(what)) return set_rule(what, words);
  lines_.emplace_back(line);
  return "";
}

std::string ScenarioSite::make(bool& made) {
  made = site_ == nullptr;
  if (!made) return "";
  site_ = std::make_unique<WatchedSite>(kScenarioStart, rules_, model_);
  slurm().put(Qos{.name = "normal"});
  slurm().put(Association{.id = 1, .account = "root"});
  for (const std::string& line : lines_) {
    ScenarioWords words(line);
    const std::string_view what = words.next();
    if (std::string wrong = set(what, words); !wrong.empty())
      return fmt::format("{} (in '{}')", wrong, line);
  }
  return "";
}

std::string ScenarioSite::set(std::string_view what, ScenarioWords& words) {
  if (what == "nodes") return set_nodes(words);
  if (what == "partition") return set_partition(words);
  if (what == "qos" || what == "account") return set_limit(what, words);
  if (what == "licence") {
    const std::string name(words.next());
    const auto total = whole_number(words.next());
    if (!total) return "wants: licence NAME COUNT";
    slurm().put(Licence{.name = name, .total = *total});
    return "";
  }
  return fmt::format("'{}' begins no line of a scenario", what);
}

std::string ScenarioSite::set_rule(std::string_view what, ScenarioWords& words) {
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

std::string ScenarioSite::set_nodes(ScenarioWords& words) {
  const auto names = scenario_names(words.next());
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
    slurm().put(node);
  }
  return "";
}

std::string ScenarioSite::set_partition(ScenarioWords& words) {
  Partition p{.name = std::string(words.next()), .nodes = scenario_names(words.next())};
  if (p.nodes.empty()) return "wants: partition NAME HOSTLIST [limit SPAN]";
  while (!words.empty()) {
    const std::string_view key = words.next();
    const auto limit = parse_duration(words.next());
    if (key != "limit" || !limit) return "wants: partition NAME HOSTLIST [limit SPAN]";
    p.time_max_s = whole_seconds(*limit);
  }
  if (partition_.empty()) partition_ = p.name;
  slurm().put(p);
  return "";
}

std::string ScenarioSite::set_limit(std::string_view what, ScenarioWords& words) {
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
    slurm().put(qos);
    return "";
  }
  slurm().put(account);
  return "";
}

std::string ScenarioSite::change_partition(ScenarioWords& words) {
  const std::string name(words.next());
  const std::string_view how = words.next();
  for (const auto& [key, known] : site_->engine().state().partitions) {
    if (key != name || (how != "up" && how != "down")) continue;
    Partition p = known;
    p.up = how == "up";
    p.state = p.up ? "UP" : "DOWN";
    slurm().put(p);
    return "";
  }
  return "wants: partition NAME up|down, of one that was seen";
}

std::string ScenarioSite::reserve(std::string_view verb, ScenarioWords& words) {
  const std::string name(words.next());
  SlurmModel& m = slurm();
  if (verb == "unreserve") {
    m.drop_reservation(name);
    return "";
  }
  Reservation r{.name = name, .start = m.now(), .nodes = scenario_names(words.next())};
  r.end = r.start + seconds(3600);
  while (!words.empty()) {
    const std::string_view key = words.next();
    if (key == "maint") {
      r.flags = {"MAINT"};
      continue;
    }
    const std::string_view value = words.next();
    const auto at = scenario_instant(value);
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

int64_t ScenarioSite::association_id(const std::string& account, const std::string& user) {
  return associations_.try_emplace({account, user}, static_cast<int64_t>(associations_.size()) + 2)
      .first->second;
}

void ScenarioSite::know(const Job& job) {
  if (!associations_.contains({job.account, ""})) {
    slurm().put(
        Association{.id = association_id(job.account, ""), .parent = 1, .account = job.account});
  }
  if (!associations_.contains({job.account, job.user})) {
    const int64_t id = association_id(job.account, job.user);
    slurm().put(Association{.id = id,
                            .parent = association_id(job.account, ""),
                            .account = job.account,
                            .user = job.user});
  }
}

}  // namespace fairlead
