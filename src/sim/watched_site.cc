#include "sim/watched_site.h"

#include <fmt/format.h>

#include <map>

#include "base/check.h"
#include "codec/state_json.h"

namespace fairlead {

WatchedSite::WatchedSite(Instant start, WatchRules rules, ModelRules model)
    : rules_(rules),
      slurm_(start, model),
      engine_("model", rules.engine),
      next_poll_(start),
      next_look_(start) {}

void WatchedSite::take(std::vector<What> records) {
  std::vector<Event> events;
  events.reserve(records.size());
  for (What& what : records) events.push_back({.at = our_now(), .what = std::move(what)});
  if (wire) wire(events);
  for (Event& event : events) {
    event.seq = ++seq_;
    for (const Decision& d : engine_.step(event)) {
      if (decision) decision(d);
    }
    if (stepped) stepped(event);
  }
}

void WatchedSite::poll(bool full) {
  std::vector<What> records = slurm_.poll(full || full_next_);
  if (answer_takes_.us > 0) slurm_.advance(slurm_.now() + answer_takes_);
  take(std::move(records));
  full_next_ = full_next_ && slurm_.away();
}

void WatchedSite::look() {
  const auto source = Source::telemetry;
  if (telemetry_away_) {
    take({PollBegan{.source = source},
          PollEnded{.source = source, .ok = false, .detail = "prometheus does not answer"}});
  } else {
    take({PollBegan{.source = source}, slurm_.look(), PollEnded{.source = source}});
  }
}

void WatchedSite::tick() { take({Tick{}}); }

void WatchedSite::state_organisation(OrganisationStated stated) { take({std::move(stated)}); }

void WatchedSite::run_until(Instant to, bool inclusive) {
  const bool looks = rules_.look_every.us > 0;
  for (;;) {
    const Instant next = looks ? std::min(next_poll_, next_look_) : next_poll_;
    if (next > to || (next == to && !inclusive)) break;
    slurm_.advance(std::max(next, slurm_.now()));
    if (next == next_poll_) {
      if (watching_) poll();
      next_poll_ = std::max(next_poll_ + rules_.poll_every, slurm_.now());
    }
    if (looks && next == next_look_) {
      if (watching_) look();
      next_look_ = std::max(next_look_ + rules_.look_every, slurm_.now());
    }
  }
  slurm_.advance(std::max(to, slurm_.now()));  // an answer may have taken longer
}

void WatchedSite::start_watching() {
  auto state = read_state(to_json(engine_.state()));
  CHECK(state.has_value());
  const Digest before = engine_.digest();
  engine_ = Engine(*std::move(state));
  CHECK(engine_.digest() == before);
  watching_ = true;
  full_next_ = true;
}

std::string compare_holds(const WatchedSite& site) {
  const State& s = site.engine().state();
  std::map<std::pair<std::string, int32_t>, uint32_t> want;
  for (const uint32_t id : site.slurm().listed()) {
    for (const NodeShare& share : site.slurm().find(id)->held) {
      for (const int32_t d : share.devices) want[{share.node, d}] = id;
    }
  }
  for (DeviceIndex i = 0; i < s.fleet.devices().size(); ++i) {
    const Device& device = s.fleet.device(i);
    if (!device.present) continue;
    const std::string& node = s.fleet.node(device.node).facts.name;
    const auto found = want.find({node, device.index});
    const WorkloadId holder = s.devices[i].holder;
    const uint32_t got = holder == 0 ? 0 : s.workloads.at(holder).job.id;
    const uint32_t wanted = found == want.end() ? 0 : found->second;
    if (got != wanted)
      return fmt::format("device {} of {} is held by job {} in the books and by {} in truth",
                         device.index, node, got, wanted);
    if (found != want.end()) want.erase(found);
  }
  if (!want.empty())
    return fmt::format("{} is held and not in the books", want.begin()->first.first);
  return "";
}

}  // namespace fairlead
