#include "runtime/site.h"

#include <algorithm>

#include "base/check.h"
#include "codec/event_json.h"
#include "codec/state_json.h"

namespace fairlead {

Site::Site(SiteOptions options, Journal& journal, Engine engine)
    : options_(std::move(options)), journal_(journal), engine_(std::move(engine)) {}

Result<std::unique_ptr<Site>> Site::open(SiteOptions options, Journal& journal) {
  auto snapshot = journal.load_snapshot();
  if (!snapshot) return std::unexpected(snapshot.error());
  Engine engine(options.name, options.rules);
  if (*snapshot) {
    auto state = read_state((*snapshot)->bytes);
    if (!state) return std::unexpected(state.error());
    state->rules = options.rules;
    engine = Engine(std::move(*state));
  }
  std::unique_ptr<Site> site(new Site(std::move(options), journal, std::move(engine)));
  if (auto done = site->replay(); !done) return std::unexpected(done.error());
  return site;
}

Result<void> Site::replay() {
  std::optional<Diagnostic> problem;
  const auto read = journal_.read_after(engine_.state().seq, [&](uint64_t seq, std::string_view line) {
    auto event = read_event(line);
    if (!event) {
      problem = event.error();
      return false;
    }
    event->seq = seq;
    engine_.step(*event);
    ++replayed_;
    since_snapshot_ += line.size();
    return true;
  });
  if (!read) return std::unexpected(read.error());
  if (problem) return std::unexpected(*problem);
  return {};
}

namespace {

std::optional<Source> begun_source(const Event& event) {
  if (const auto* began = std::get_if<PollBegan>(&event.what)) return began->source;
  return std::nullopt;
}

std::optional<Source> ended_source(const Event& event) {
  if (const auto* ended = std::get_if<PollEnded>(&event.what)) return ended->source;
  return std::nullopt;
}

}  // namespace

void Site::drop_half_poll(Source source) {
  std::erase_if(open_, [&](const Pending& p) { return p.source == source; });
}

void Site::take_line(std::string_view line) {
  if (line.empty()) return;
  auto event = read_event(line);
  if (!event) {
    if (!open_.empty()) ++open_.back().unreadable;
    return;
  }
  take(*event, std::string(line));
}

void Site::take_poll(const std::vector<Event>& events) {
  for (const Event& event : events) take(event, to_json(event));
}

void Site::take(const Event& event, std::string line) {
  // 1. A poll opens. Another of its source that is still open was cut: it is dropped.
  if (const auto source = begun_source(event)) {
    drop_half_poll(*source);
    open_.push_back({.source = *source, .lines = {std::move(line)}});
    return;
  }
  // 2. A record belongs to the poll that began last; outside a poll it stands for itself.
  const auto ended = ended_source(event);
  if (!ended) {
    if (open_.empty()) return commit({std::move(line)});
    open_.back().lines.push_back(std::move(line));
    return;
  }
  // 3. A poll ends, and is taken in as a whole.
  const auto poll = std::ranges::find(open_, *ended, &Pending::source);
  if (poll == open_.end()) return commit({std::move(line)});
  if (poll->unreadable > 0) {
    Event counted = event;
    std::get<PollEnded>(counted.what).unreadable += poll->unreadable;
    line = to_json(counted);
  }
  std::vector<std::string> lines = std::move(poll->lines);
  open_.erase(poll);
  lines.push_back(std::move(line));
  commit(std::move(lines));
}

void Site::commit(std::vector<std::string> lines) {
  const auto first = journal_.append(lines);
  if (!first) {
    journal_problem_ = to_text(first.error());
    wants_full_ = true;
    return;
  }
  journal_problem_.clear();
  uint64_t seq = *first;
  for (const std::string& line : lines) {
    auto event = read_event(line);
    CHECK(event.has_value());  // it was read when it came
    event->seq = seq++;
    decide(*event);
    if (const auto source = ended_source(*event)) ++polls_[static_cast<size_t>(*source)];
  }
  for (const std::string& line : lines) since_snapshot_ += line.size();
  if (since_snapshot_ >= options_.snapshot_every_bytes) {
    if (const auto saved = snapshot(); !saved) journal_problem_ = to_text(saved.error());
  }
  on_change();
}

void Site::decide(const Event& event) {
  const std::vector<Decision> decisions = engine_.step(event);
  if (!decisions.empty()) on_decisions(decisions);
}

void Site::source_failed(Source source, Instant at, const std::string& why) {
  drop_half_poll(source);
  take_poll({{.at = at, .what = PollBegan{.source = source}},
             {.at = at, .what = PollEnded{.source = source, .ok = false, .detail = why}}});
}

void Site::tick(Instant at) { take_poll({{.at = at, .what = Tick{}}}); }

Result<void> Site::snapshot() {
  since_snapshot_ = 0;
  return journal_.save_snapshot(engine_.state().seq, to_json(engine_.state()));
}

}  // namespace fairlead
